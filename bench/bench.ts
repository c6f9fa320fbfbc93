import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Argument } from 'commander'
import { parseCommand, wholeNumber } from '../scripts/command-line.ts'
import { bulk, type Scale, single } from './compete.ts'
import { cost } from './cost.ts'
import { months } from './months.ts'
import { asMarkdown } from './print.ts'
import { run } from './run.ts'

const BENCHES = { bulk, single, run, months, cost }
type Name = keyof typeof BENCHES

/** The scale of the figures in documents, and one that only shows that the benches work. */
const FULL: Scale = {
  rounds: 5,
  bulks: 8,
  singles: 100,
  facts: 300_000,
  factsOfMonth: 10_000,
  records: 10_000,
}
const QUICK: Scale = { rounds: 1, bulks: 1, singles: 5, facts: 500, factsOfMonth: 200, records: 20 }

const command = parseCommand(
  'npm run bench',
  'Compares the service with other designs, and counts what it costs. Compare ratios: times depend on the machine.',
  (command) =>
    command
      .addArgument(new Argument('[bench...]', 'all if absent').choices(Object.keys(BENCHES)))
      .option('--rounds <count>', 'how often each measurement is repeated', wholeNumber(1, 50))
      .option('--quick', 'only shows that the benches work: their figures mean nothing'),
)
const { rounds, quick } = command.opts<{ rounds?: number; quick?: true }>()
const chosen = (command.args.length > 0 ? command.args : Object.keys(BENCHES)) as Name[]
const standard = quick ? QUICK : FULL

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const { version } = JSON.parse(readFileSync('node_modules/workerd/package.json', 'utf8'))
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, workerd ${version}`
console.log(`# Results\n\nMeasured: ${chosen.join(', ')} on ${machine}.`)
for (const name of chosen) {
  const scale = { ...standard, rounds: rounds ?? standard.rounds }
  console.log(`\n${asMarkdown(await BENCHES[name](join(folder, name), scale))}`)
}
