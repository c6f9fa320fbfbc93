import { existsSync, globSync, readFileSync } from 'node:fs'
import { parseCommand } from './command-line.ts'

// Lists the sections of the public contract that no test names. The title of a test that holds a section begins
// with its number: `§18.1 without drafts, …`.

const DESCRIPTION = `Lists the sections of the contract that the title of no test begins with. Does nothing
if the folder of the contract does not exist.`

const [folder = '../shared'] = parseCommand('node scripts/clauses.ts', DESCRIPTION, (command) =>
  command.argument('[folder]', 'the folder with the contract; ../shared if left out'),
).args

/** The numbers of the headings, such as `4` of `## 4. Writing` and `18.1` of `## 18.1 Who they are`. */
const sections = globSync(`${folder}/{contract,commissions,fraud,affiliates,scale,payees}.md`)
  .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/^## (\d[\d.]*)\.? (.+)$/gm)])
  .map(([, number = '', title]) => ({ number: number.replace(/\.$/, ''), title }))

const named = globSync('{test,test-node}/**/*.{ts,tsx}')
  .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/['"`]§(\d+(?:\.\d+)*)/g)])
  .map(([, number = '']) => number)

const missing = existsSync(folder)
  ? sections.filter(({ number }) => !named.some((one) => `${one}.`.startsWith(`${number}.`)))
  : []
for (const { number, title } of missing) console.log(`§${number} ${title}`)
