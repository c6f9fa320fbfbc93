import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { readCheckOption } from './command-line.ts'

const isCheck = readCheckOption(
  'node scripts/countries.ts',
  'Writes src/validation/iso-3166.ts from data/iso-3166-1.csv.',
)

const rows: { alpha_2: string; alpha_3: string; names: string }[] = parse(
  readFileSync('data/iso-3166-1.csv', 'utf8'),
  { columns: true },
)
const wrap = (text: string) => text.replace(/(?:\S+ ?){1,13}/g, (line) => `  ${line.trim()}\n`)

const source = `// Written by scripts/countries.ts from data/iso-3166-1.csv: edit that, then \`npm run generate\`.

/** The alpha-2 codes of ISO 3166-1, each with its alpha-3 code; and \`XK\`, in common use for Kosovo. */
export const COUNTRIES: ReadonlyMap<string, string> = new Map(
  \`
${wrap(rows.map(({ alpha_2, alpha_3 }) => `${alpha_2}-${alpha_3}`).join(' '))}\`
    .trim()
    .split(/\\s+/)
    .map((pair) => [pair.slice(0, 2), pair.slice(3)]),
)

/** The English names of the countries, by their alpha-2 codes. */
export const COUNTRY_NAMES: Record<string, readonly string[]> = {
${rows.map(({ alpha_2, names }) => `  ${alpha_2}: ${JSON.stringify(names.split(' | '))},\n`).join('')}}
`
const path = 'src/validation/iso-3166.ts'
const formatted = execFileSync('node_modules/.bin/biome', ['format', '--stdin-file-path', path], {
  input: source,
  encoding: 'utf8',
})
if (!isCheck) writeFileSync(path, formatted)
else if (readFileSync(path, 'utf8') !== formatted) {
  console.error(`${path} is out of date. Run \`npm run generate\`.`)
  process.exitCode = 1
}
