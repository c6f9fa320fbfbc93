import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readCheckOption } from './command-line.ts'

const FOLDER = 'docs/sql'

const isCheck = readCheckOption(
  'node scripts/sql.ts',
  'Writes docs/sql: every statement of the ingestion path as D1 runs it, with its query plan.',
)
// Loaded after `--help` has been answered.
const { documentedSql } = await import('./sql/files.ts')
const files = documentedSql()
const extra = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => !files.has(name)) : []
const stale = [...files].filter(([name, text]) => {
  const path = `${FOLDER}/${name}`
  return !existsSync(path) || readFileSync(path, 'utf8') !== text
})

if (isCheck) {
  for (const name of [...stale.map(([name]) => name), ...extra]) {
    console.error(`${FOLDER}/${name} is out of date. Run \`npm run generate\`.`)
    process.exitCode = 1
  }
} else {
  mkdirSync(FOLDER, { recursive: true })
  for (const name of extra) rmSync(`${FOLDER}/${name}`)
  for (const [name, text] of stale) writeFileSync(`${FOLDER}/${name}`, text)
}
