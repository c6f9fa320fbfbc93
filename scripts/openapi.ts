import { existsSync, globSync, statSync, writeFileSync } from 'node:fs'
import './tables.ts'
import './texts.ts'

// Builds openapi.json, unless it is newer than all files that it is made of.

const FILE = 'openapi.json'
const INPUTS = [
  'src/**',
  'scripts/docs/**',
  'scripts/*.ts',
  'test/recorded/examples.json',
  'package.json',
]

const changed = (path: string) => statSync(path).mtimeMs

if (!existsSync(FILE) || globSync(INPUTS).some((path) => changed(path) > changed(FILE))) {
  const { openapi } = await import('./docs/openapi/document.ts')
  writeFileSync(FILE, `${JSON.stringify(openapi(), null, 2)}\n`)
}
