import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { readOptions } from './said.ts'

const { check } = readOptions({ check: { type: 'boolean' } })

/** Writes src/validation/iso-4217.ts from the published list; `--check` only compares. */
const rows: { code: string; withdrawn: string }[] = parse(
  readFileSync('data/iso-4217.csv', 'utf8'),
  { columns: true },
)
const codes = (of: typeof rows) => of.map(({ code }) => code).join(' ')
const wrap = (text: string) => text.replace(/(?:\S+ ?){1,22}/g, (line) => `  ${line.trim()}\n`)

const source = `// Written by scripts/currencies.ts from data/iso-4217.csv: edit that, then \`npm run generate\`.

/** The currency codes of ISO 4217, as published in 2026-02. */
export const CURRENCIES: ReadonlySet<string> = new Set(
  \`
${wrap(codes(rows.filter(({ withdrawn }) => !withdrawn)))}\`
    .trim()
    .split(/\\s+/),
)

/** The currency codes withdrawn since 2015, each with its month. */
export const WITHDRAWN: ReadonlyMap<string, string> = new Map([
${rows
  .filter(({ withdrawn }) => withdrawn)
  .map(({ code, withdrawn }) => `  ['${code}', '${withdrawn}'],\n`)
  .join('')}])
`
const path = 'src/validation/iso-4217.ts'
if (!check) writeFileSync(path, source)
else if (readFileSync(path, 'utf8') !== source) {
  console.error(`${path} is stale: npm run generate`)
  process.exitCode = 1
}
