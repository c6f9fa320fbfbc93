import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Argument } from 'commander'
import { parseCommand } from '../scripts/command-line.ts'
import { against } from './against.ts'
import { bulk, hundred, type Scale, single } from './compete.ts'
import { cost } from './cost.ts'
import { large } from './large.ts'
import { months } from './months.ts'
import { asMarkdown, type Figure, markdownTable } from './print.ts'
import { run } from './run.ts'
import { startUp } from './start.ts'

const BENCHES = { bulk, hundred, single, run, large, months, cost, start: startUp }

/** Where the results of all benches stand that documents quote. */
const RESULTS = 'docs/performance.md'
type Name = keyof typeof BENCHES

/** The scale of the figures in documents, and one that only shows that the benches work. */
const FULL: Scale = {
  rounds: 5,
  bulks: 8,
  singles: 100,
  facts: 300_000,
  mostFacts: 1_000_000,
  factsOfMonth: 10_000,
  records: 10_000,
}
const QUICK: Scale = {
  ...{ rounds: 1, bulks: 1, singles: 5, facts: 500, mostFacts: 1000, factsOfMonth: 200 },
  records: 20,
}

const command = parseCommand(
  'npm run bench',
  'Compares the service with other designs, and counts what it costs. Compare ratios: times depend on the machine.',
  (command) =>
    command
      .addArgument(new Argument('[bench...]', 'all if absent').choices(Object.keys(BENCHES)))
      .option('--write', `writes the results of all benches to ${RESULTS}`)
      .option(
        '--against <commit>',
        'compares CPU with another commit, and fails above 5 % more: nothing else is measured',
      )
      .option('--quick', 'only shows that the benches work: their figures mean nothing'),
)
const {
  quick,
  write,
  against: commit,
} = command.opts<{
  quick?: true
  write?: true
  against?: string
}>()
const chosen = (command.args.length > 0 ? command.args : Object.keys(BENCHES)) as Name[]
const scale = quick ? QUICK : FULL

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const { version } = JSON.parse(readFileSync('node_modules/workerd/package.json', 'utf8'))
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, workerd ${version}`
const printed: string[] = []
const print = (text: string) => {
  printed.push(text)
  console.log(`${text}\n`)
}
print(
  `# Performance\n\nMeasured: ${commit ? `against ${commit}` : chosen.join(', ')} on ${machine}.`,
)
if (commit) {
  print(asMarkdown(await against(commit, folder, scale)))
} else {
  const figures: Figure[] = []
  for (const name of chosen) {
    const chapter = await BENCHES[name](join(folder, name), scale)
    figures.push(...chapter.figures)
    print(asMarkdown(chapter))
  }
  const rows = figures.map(({ name, value, aim }) => [name, value, aim])
  print(
    `## Figures beside their aims\n\n${markdownTable([['figure', 'measured', 'aim'], ...rows])}`,
  )
}
if (write) writeFileSync(RESULTS, `${printed.join('\n\n')}\n`)
