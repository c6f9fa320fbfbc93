import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitWithUsageError, parseCommand, wholeNumber } from '../scripts/command-line.ts'
import { asText, type Chapter } from './chapter.ts'
import { machine } from './machine.ts'
import { FULL, QUICK } from './scale.ts'
import type { World } from './world.ts'

/** The sections. Each is loaded when it runs, so that `--help` is printed at once. */
const SECTIONS = {
  ingest: async () => (await import('./ingest.ts')).ingest,
  sizes: async () => (await import('./sizes.ts')).sizes,
  concurrency: async () => (await import('./concurrency.ts')).concurrency,
  lists: async () => (await import('./lists.ts')).lists,
  totals: async () => (await import('./totals.ts')).totals,
  growth: async () => (await import('./growth.ts')).growth,
  memory: async () => (await import('./memory.ts')).memory,
  commissions: async () => (await import('./commissions.ts')).commissions,
  reports: async () => (await import('./reports.ts')).reports,
  console: async () => (await import('./console.ts')).consolePages,
  fraud: async () => (await import('./fraud.ts')).fraud,
  limiter: async () => (await import('./limiter.ts')).limiter,
}
type Section = keyof typeof SECTIONS

interface Options {
  quick?: true
  rounds?: number
  bulks?: number
  grown?: number
  facts?: number
}

const names = Object.keys(SECTIONS).join(', ')
const command = parseCommand(
  'npm run bench',
  'Compares the service with other designs. Without arguments it writes bench/results.',
  (command) =>
    command
      .argument('[section...]', `what to measure; everything if absent: ${names}`)
      .option('--quick', 'only shows that the benchmark works: its figures mean nothing')
      .option('--rounds <count>', 'how often each measurement is repeated', wholeNumber(1, 50))
      // A token has 1000 requests a minute.
      .option('--bulks <count>', 'requests in each round', wholeNumber(1, 60))
      .option(
        '--grown <count>',
        'growth: also measures with so many stored records',
        wholeNumber(1, 1e8),
      )
      .option(
        '--facts <count>',
        'commissions: how many records are computed',
        wholeNumber(100, 1e7),
      ),
)
const options = command.opts<Options>()
const chosen = (command.args.length > 0 ? command.args : Object.keys(SECTIONS)) as Section[]
for (const name of chosen)
  if (!Object.hasOwn(SECTIONS, name)) exitWithUsageError(`Unknown section ${name}. Use ${names}.`)
const standard = options.quick ? QUICK : FULL
const scale = {
  ...standard,
  rounds: options.rounds ?? standard.rounds,
  bulks: options.bulks ?? standard.bulks,
  facts: options.facts ?? standard.facts,
  grown: [...standard.grown, ...(options.grown ? [options.grown] : [])],
}

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

let world: World | undefined
try {
  console.log(`${machine()}\n`)
  const { openWorld } = await import('./world.ts')
  world = await openWorld(folder, scale)
  const chapters: Chapter[] = []
  for (const name of chosen) {
    const measureSection = await SECTIONS[name]()
    const chapter = await measureSection(world)
    chapters.push(chapter)
    console.log(`${asText(chapter)}\n`)
  }
  // Published figures always use the default options.
  if (process.argv.length === 2) {
    const { publish } = await import('./publish.ts')
    publish(chapters)
  }
} finally {
  await world?.end()
}
