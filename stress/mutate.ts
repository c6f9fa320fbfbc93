import { exitWithUsageError, readOptions, wholeNumber } from '../scripts/command-line.ts'
import { fractions } from '../scripts/dev/fractions.ts'
import type { Mutant } from './mutants/catalog.ts'
import { readCoverage, testFiles, testsFor, writeCoverage } from './mutants/coverage.ts'
import { isCritical, missingCritical } from './mutants/critical.ts'
import { huntEngine, isOfEngine } from './mutants/engine/hunt.ts'
import { isEquivalent, missingEquivalents } from './mutants/equivalents.ts'
import type { Hunt, HuntResult } from './mutants/plan.ts'
import { report } from './mutants/report.ts'
import { folderOf, sourceFiles } from './mutants/source-files.ts'

// Changes the source in small ways and runs the tests that cover each change. A change that no test
// notices survives.
//
// Stryker's own runner for Vitest runs tests in Node, but ours need workerd. So Stryker makes the
// mutants (sql.ts those of SQL), each behind a switch, and hunt.ts turns them on inside workerd. The
// commission engine is pure: engine/hunt.ts hunts its mutants in Node.

interface Options {
  sample: number
  seed: number
  /** Folders of src, separated by commas. */
  folder?: string
  critical?: true
  engine?: true
  measure?: true
}

const options = readOptions<Options>(
  'npm run mutate',
  'Makes small changes to the source, one at a time, and checks that a test fails for each.',
  (command) =>
    command
      .option('--sample <count>', 'how many changes to try', wholeNumber(1, 100_000), 150)
      .option(
        '--seed <number>',
        'draws the same sample again; random if absent',
        wholeNumber(0, 2 ** 31),
        Date.now() % 1_000_000,
      )
      .option('--folder <folders>', 'changes only these folders of src, such as auth,db')
      .option('--critical', 'changes only the rate limit, field rules, outcomes and their SQL')
      .option('--engine', 'tries every change of the commission engine, on Node')
      .option('--measure', 'first measures anew which lines each test covers'),
)
const { sample: size, seed } = options

const folders = [...new Set(sourceFiles().map(folderOf))]
const isIn = (folder: string, name: string) => folder === name || folder.startsWith(`${name}/`)
const chosenFolders = options.folder?.split(',') ?? null
for (const name of chosenFolders ?? []) {
  if (folders.some((folder) => isIn(folder, name))) continue
  exitWithUsageError(`Unknown folder ${name} of --folder. Use ${folders.join(', ')}.`)
}

// Stryker and Vitest are loaded once the arguments are known to be right.
const { catalogMutants } = await import('./mutants/catalog.ts')
const { startRunner } = await import('./mutants/runner.ts')
const { indexSource } = await import('./mutants/source-index.ts')

const { source, mutants } = await catalogMutants()
const isSelected = (mutant: Mutant) =>
  (!options.critical || isCritical(mutant)) &&
  (!options.engine || isOfEngine(mutant)) &&
  (chosenFolders?.some((name) => isIn(mutant.folder, name)) ?? true) &&
  !isEquivalent(mutant)

/** Draws mutants at random, the same for the same seed, in the order of the source. */
function draw(all: readonly Mutant[], count: number): Mutant[] {
  const random = fractions(seed)
  const ranked = all.map((mutant) => ({ mutant, rank: random() }))
  const drawn = new Set(ranked.toSorted((a, b) => a.rank - b.rank).slice(0, count))
  return ranked.filter((one) => drawn.has(one)).map(({ mutant }) => mutant)
}

const selected = mutants.filter(isSelected)
const sample = draw(selected, options.engine ? selected.length : size)
console.log(`${sample.length} of ${mutants.length} mutants. --seed ${seed} repeats this sample.`)

/** How many tests may fail without a mutant: instrumented source is slow, and some tests have a clock. */
const MOST_FAILURES = 20

const results = new Map<string, HuntResult>()
const isAlive = ({ id }: Mutant) => !results.get(id)?.killedBy

/** Prints the result and exits, with 1 if a score is too low or if a list is out of date. */
function finish(isCutShort: boolean): never {
  const missing = [...missingCritical(mutants), ...missingEquivalents(mutants)]
  for (const name of missing) console.log(`A list names what is no longer in the source: ${name}`)
  const isTooLow = report(sample, results, (line) => console.log(line))
  process.exit(isTooLow || isCutShort || missing.length > 0 ? 1 : 0)
}
process.on('SIGINT', () => finish(true))

await huntEngine(source, sample.filter(isOfEngine), results)
const others = sample.filter((mutant) => !isOfEngine(mutant))
if (others.length === 0) finish(false)

const runner = await startRunner(source, results)
const { coverageReports, loaded } = runner.reports
let coverage = options.measure ? null : readCoverage(mutants)
if (!coverage) {
  console.log('Measuring which lines each test covers …')
  const failed = await runner.map(testFiles())
  if (failed > MOST_FAILURES) {
    console.log(`${failed} tests fail without a mutant, so too few tests would hunt.`)
    process.exit(1)
  }
  coverage = writeCoverage(coverageReports, loaded, mutants)
}

const startedAt = Date.now()
const clock = setInterval(() => {
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  const left = others.filter(isAlive).length
  console.log(`${seconds} s: ${others.length - left} of ${others.length} killed`)
  const [hanging] = runner.hanging()
  if (hanging === undefined) return
  const { file, line, is } = mutants.find(({ id }) => id === hanging)!
  console.log(`A mutant hangs the runtime, list it in equivalents.ts: ${file}:${line} ${is}`)
  finish(true)
}, 30_000)

const index = indexSource(sourceFiles())
const testsOf = new Map(others.map((mutant) => [mutant, testsFor(mutant, coverage, index)]))
const withTests = (mutant: Mutant) => ({ id: mutant.id, tests: testsOf.get(mutant)! })
const groups = Math.max(...[...testsOf.values()].map((tests) => tests.length))
// The first test files kill most mutants, so each round takes twice as many files as the one before. The
// files of a round run side by side and start only once.
for (let from = 0, count = 1; from < groups; from += count, count *= 2) {
  const hunts = new Map<string, Hunt>()
  for (const { id, tests } of others.filter(isAlive).map(withTests)) {
    for (const [file, names] of tests.slice(from, from + count)) {
      const hunt = hunts.get(file) ?? {}
      hunts.set(file, { ...hunt, [id]: [...(hunt[id] ?? []), ...names] })
    }
  }
  if (hunts.size > 0) await runner.hunt(hunts)
}
clearInterval(clock)
await runner.close()
finish(false)
