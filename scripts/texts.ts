import { existsSync, readFileSync, writeFileSync } from 'node:fs'

// Writes the English texts of the portal and of notices, which are in the script. The other languages are a file of the
// site, which the Worker loads.

type Catalogue = Record<string, Record<string, string>>

const catalogue = Object.assign(
  {},
  ...['portal', 'passkeys', 'notices'].map((name) =>
    JSON.parse(readFileSync(`src/catalogues/${name}.json`, 'utf8')),
  ),
) as Catalogue

const textsIn = (language: string) =>
  Object.fromEntries(Object.entries(catalogue).map(([name, texts]) => [name, texts[language]]))

/** Returns the texts by language, without English. */
export const translations = () =>
  Object.fromEntries(['de', 'es', 'fr', 'pt'].map((language) => [language, textsIn(language)]))

const ENGLISH = 'src/catalogues/english.json'
const english = `${JSON.stringify(textsIn('en'), null, 2)}\n`
// An unchanged file keeps its time: see openapi.ts.
if (!existsSync(ENGLISH) || readFileSync(ENGLISH, 'utf8') !== english)
  writeFileSync(ENGLISH, english)
