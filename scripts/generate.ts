import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readCheckOption } from './command-line.ts'

const isCheck = readCheckOption(
  'node scripts/generate.ts',
  'Writes the files derived from the code: schemas and OpenAPI document.',
)
// Loaded after `--help` has been answered.
const { openapi } = await import('./docs/openapi/document.ts')
const { schemas } = await import('./docs/schemas.ts')

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const files = new Map([
  ...Object.entries(schemas()).map(
    ([name, schema]) => [`schemas/v1/${name}.json`, json(schema)] as const,
  ),
  ['openapi.json', json(openapi())],
])

const stale = [...files].filter(
  ([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text,
)
if (isCheck) {
  for (const [path] of stale) console.error(`${path} is out of date. Run \`npm run generate\`.`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const [path, text] of stale) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
