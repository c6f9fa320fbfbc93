import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseCommand } from './command-line.ts'
import './tables.ts'

const { check, diff } = parseCommand(
  'node scripts/generate.ts',
  'Writes the files derived from the code: schemas, and the tables and the OpenAPI document, which are not in git.',
  (command) =>
    command
      .option('--check', 'Writes no schemas, and fails if they would change')
      .option(
        '--diff [commit]',
        'Prints what a change does to the operations, since HEAD or a commit',
      ),
).opts<{ check?: true; diff?: string | true }>()
// Loaded after `--help` has been answered.
const { openapi } = await import('./docs/openapi/document.ts')
const { schemas } = await import('./docs/schemas.ts')

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

function write(path: string, text: string) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

// Always, so that it is newer than what it is made of: see openapi.ts.
writeFileSync('openapi.json', json(openapi()))
for (const [name, schema] of Object.entries(schemas())) {
  const path = `schemas/v1/${name}.json`
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === json(schema)
  if (!check) write(path, json(schema))
  else if (!isCurrent) {
    console.error(`${path} is out of date. Run \`npm run generate\`.`)
    process.exitCode = 1
  }
}
if (diff) {
  const { printDifferences } = await import('./docs/openapi/differences.ts')
  printDifferences(diff === true ? 'HEAD' : diff)
}
