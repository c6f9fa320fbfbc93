import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { readCheckOption } from './command-line.ts'

const isCheck = readCheckOption(
  'node scripts/currencies.ts',
  'Writes src/validation/iso-4217.ts from data/iso-4217.csv.',
)

const rows: { code: string; withdrawn: string }[] = parse(
  readFileSync('data/iso-4217.csv', 'utf8'),
  { columns: true },
)
const codes = (of: typeof rows) => of.map(({ code }) => code).join(' ')
const wrap = (text: string) => text.replace(/(?:\S+ ?){1,22}/g, (line) => `  ${line.trim()}\n`)

const source = `// Written by scripts/currencies.ts from data/iso-4217.csv: edit that, then \`npm run generate\`.

/** The ISO 4217 codes in use, as published in 2026-02. */
export const CURRENCIES: ReadonlySet<string> = new Set(
  \`
${wrap(codes(rows.filter(({ withdrawn }) => !withdrawn)))}\`
    .trim()
    .split(/\\s+/),
)

/** The ISO 4217 codes withdrawn since 2015, each with its month. */
export const WITHDRAWN: ReadonlyMap<string, string> = new Map([
${rows
  .filter(({ withdrawn }) => withdrawn)
  .map(({ code, withdrawn }) => `  ['${code}', '${withdrawn}'],\n`)
  .join('')}])
`
const path = 'src/validation/iso-4217.ts'
if (!isCheck) writeFileSync(path, source)
else if (readFileSync(path, 'utf8') !== source) {
  console.error(`${path} is out of date. Run \`npm run generate\`.`)
  process.exitCode = 1
}
