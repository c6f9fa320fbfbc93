import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The files from which the site is built, and the code that builds it. What it knows of `src` is in openapi.json. */
const INPUTS = [
  'docs/**',
  'examples/plans/**',
  'public/**',
  'schemas/**',
  'scripts/docs/**',
  'scripts/site.ts',
  'scripts/texts.ts',
  'src/catalogues/**',
  'src/platform/documents/origin.ts',
  'openapi.json',
  'package-lock.json',
]

/** Returns a digest of the paths and the contents of these files. */
export function inputsDigest(root: string): string {
  const hash = createHash('sha256')
  const files = globSync(INPUTS, { cwd: root, withFileTypes: true }).filter((one) => one.isFile())
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    const content = readFileSync(path)
    hash.update(`${relative(root, path)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
