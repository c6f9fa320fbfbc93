import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseCommand } from './command-line.ts'
import './tables.ts'
import './texts.ts'

const { all, check, diff } = parseCommand(
  'node scripts/generate.ts',
  'Writes the files derived from the code: schemas, and the tables and the OpenAPI document, which are not in git.',
  (command) =>
    command
      .option('--all', 'Also writes the types of bindings and the recorded examples, step by step')
      .option('--check', 'Writes no schemas, and fails if they would change')
      .option(
        '--diff [commit]',
        'Prints what a change does to the operations, since HEAD or a commit',
      ),
).opts<{ all?: true; check?: true; diff?: string | true }>()
/** Says what a program does, and runs it. Prints what it prints if it fails, and ends. */
function step(what: string, command: string, ...args: string[]): string {
  console.log(`${what} …`)
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status === 0) return stdout
  console.error(stdout + stderr)
  process.exit(1)
}

if (all) {
  const types = ['src/worker-configuration.d.ts', '--include-runtime=false', '--strict-vars=false']
  step('Writing the types of bindings', 'wrangler', 'types', ...types)
  const again = [process.execPath, 'scripts/generate.ts'] as const
  step('Writing the tables, the schemas and openapi.json', ...again)
  step(
    'Recording the answer of each operation, which takes the longest',
    'vitest',
    'run',
    '--mode',
    'examples',
  )
  const differences = diff ? ['--diff', ...(diff === true ? [] : [diff])] : []
  process.stdout.write(step('Writing openapi.json with these answers', ...again, ...differences))
  process.exit()
}
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
