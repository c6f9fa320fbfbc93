import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { readCheckOption } from './command-line.ts'

const isCheck = readCheckOption(
  'node scripts/codes.ts',
  'Writes the currencies and countries of src/validation from the lists in data/.',
)

const rowsOf = (path: string): Record<string, string>[] =>
  parse(readFileSync(path, 'utf8'), { columns: true })
const wrap = (words: readonly string[], size: number) =>
  words.join(' ').replace(new RegExp(`(?:\\S+ ?){1,${size}}`, 'g'), (line) => `  ${line.trim()}\n`)
const headOf = (path: string) =>
  `// Written by scripts/codes.ts from ${path}: edit that, then \`npm run generate\`.\n`

const CURRENCIES = 'data/iso-4217.csv'
const currencies = rowsOf(CURRENCIES)
const inUse = currencies.filter(({ withdrawn }) => !withdrawn)
const withdrawn = currencies.filter(({ withdrawn }) => withdrawn)

const COUNTRIES = 'data/iso-3166-1.csv'
const countries = rowsOf(COUNTRIES)
const pairs = countries.map(({ alpha_2, alpha_3 }) => `${alpha_2}-${alpha_3}`)
const namesOf = ({ alpha_2, other_names: names = '' }: Record<string, string>) =>
  names === '' ? '' : `  ${alpha_2}: ${JSON.stringify(names.split(' | '))},\n`

const FILES = {
  'src/platform/validation/iso-4217.ts': `${headOf(CURRENCIES)}
/** The ISO 4217 codes in use, as published in 2026-02. */
export const CURRENCIES: ReadonlySet<string> = new Set(
  \`
${wrap(
  inUse.map(({ code = '' }) => code),
  22,
)}\`
    .trim()
    .split(/\\s+/),
)

/** The ISO 4217 codes withdrawn since 2015, each with its month. */
export const WITHDRAWN: ReadonlyMap<string, string> = new Map([
${withdrawn.map(({ code, withdrawn }) => `  ['${code}', '${withdrawn}'],\n`).join('')}])
`,
  'src/platform/validation/iso-3166.ts': `${headOf(COUNTRIES)}
/** The alpha-2 codes of ISO 3166-1, each with its alpha-3 code; and \`XK\`, in common use for Kosovo. */
export const COUNTRIES: ReadonlyMap<string, string> = new Map(
  \`
${wrap(pairs, 13)}\`
    .trim()
    .split(/\\s+/)
    .map((pair) => [pair.slice(0, 2), pair.slice(3)]),
)

/** English names in use besides those of the runtime (Unicode CLDR), by alpha-2 codes. */
export const OTHER_NAMES: Record<string, readonly string[]> = {
${countries.map(namesOf).join('')}}
`,
}

for (const [path, source] of Object.entries(FILES)) {
  const args = ['format', '--stdin-file-path', path]
  const text = execFileSync('node_modules/.bin/biome', args, { input: source, encoding: 'utf8' })
  if (!isCheck) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is out of date. Run \`npm run generate\`.`)
    process.exitCode = 1
  }
}
