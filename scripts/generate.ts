import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { openapi, operations } from './docs/openapi/document.ts'
import { collection } from './docs/postman.ts'
import { schemas } from './docs/schemas.ts'
import { readOptions } from './said.ts'

// Writes the files that are derived from the code: JSON Schemas, OpenAPI and the Postman collection.
// With `--check`, it reports stale files instead.

const { check } = readOptions({ check: { type: 'boolean' } })
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const files = new Map([
  ...Object.entries(schemas()).map(
    ([name, schema]) => [`schemas/v1/${name}.json`, json(schema)] as const,
  ),
  ['openapi.json', json(openapi())],
  ['examples/tributary.postman_collection.json', json(collection(operations()))],
])

const stale = [...files].filter(
  ([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text,
)
if (check) {
  for (const [path] of stale) console.error(`${path} is stale: npm run generate`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const [path, text] of stale) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
