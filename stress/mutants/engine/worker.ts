import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import { Script } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { evaluate as evaluateByOracle } from '../../../test/commission/oracle/evaluate.ts'
import { shuffleWorld } from '../../../test/commission/shuffle-world.ts'
import type { World } from '../../../test/commission/world.ts'
import { periodsOf, randomWorld } from '../../../test/commission/worlds.ts'
import type { HuntResult } from '../plan.ts'
import type * as Entry from './entry.ts'

// Runs in a thread: the tests of the engine, in turn with each mutant that the main thread sends.

/** What a thread starts with. */
export interface WorkerInput {
  /** The script of bundle.ts. */
  script: string
  /** The seeds of the random worlds. */
  seeds: readonly number[]
  /** The seeds of the random worlds whose books are kept, if they are short. */
  bookSeeds: readonly number[]
}

/** The global state that the instrumented source reads and writes. */
interface MutantSwitch {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { static: Hits; perTest: Record<string, Hits> }
}
type Hits = Record<string, number>

interface KnownTest {
  name: string
  /** Whether the test passes with an instance of the engine. */
  passes: (engine: typeof Entry) => boolean
  ms: number
  iterations: number
}

const { script, seeds, bookSeeds } = workerData as WorkerInput
const world = globalThis as { __stryker__?: MutantSwitch; __countIteration__?: () => void }
world.__stryker__ = {}
const mutantSwitch = world.__stryker__

let iterations = 0
let maxIterations = Number.POSITIVE_INFINITY
world.__countIteration__ = () => {
  iterations += 1
  if (iterations > maxIterations) throw new Error('A loop does not end.')
}

const require = createRequire(import.meta.url)

/** Returns a function that runs a script anew each time, so that mutants of module state take effect. */
function loader(text: string): () => typeof Entry {
  const run = new Script(`(function (module, require) {${text}\n})`).runInThisContext()
  return () => {
    const module = { exports: {} }
    run(module, require)
    return module.exports as typeof Entry
  }
}

/** Stryker's calls that count how often a test runs a mutant. They cost most of the time. */
const COUNTING = /stryCov_\w+\((?:"\d+"(?:, )?)+\)/g

const load = loader(script.replace(COUNTING, '0'))
const whole = load()

/** Every so many worlds, the records of one stand in another order: the result must be the same. */
const SHUFFLED = 4

/** Compares the engine with the oracle in a random world. */
function worldTest(engine: typeof Entry, seed: number): KnownTest['passes'] | null {
  const given = randomWorld(seed)
  const periods = periodsOf(given)
  // Nothing is shared in the copy, as if it had been sent.
  const copy = (): World => JSON.parse(JSON.stringify(given))
  const found = engine.evaluate(copy(), periods)
  // The tests of random worlds report a difference. Here such a world proves nothing.
  if (!isDeepStrictEqual(found, evaluateByOracle(copy(), periods))) return null
  const expected = JSON.stringify(found)
  const sent = seed % SHUFFLED === 0 ? () => shuffleWorld(copy(), seed) : copy
  return ({ evaluate }) => JSON.stringify(evaluate(sent(), periods)) === expected
}

/** The days of the worlds whose books are kept, in turn, and the most periods that such a world has. */
const BOOK_DAYS = [20, 95] as const
const MAX_BOOK_PERIODS = 10

/** Keeps the books of a random world, and checks their laws. */
function booksTest(seed: number): KnownTest['passes'] | null {
  const days = BOOK_DAYS[seed % BOOK_DAYS.length]!
  if (periodsOf(randomWorld(seed, days)).length > MAX_BOOK_PERIODS) return null
  return ({ compareBooks }) =>
    compareBooks(seed, days).every(({ actual, expected }) => isDeepStrictEqual(actual, expected))
}

const counting = loader(script)()
const tests: KnownTest[] = []

/** Runs a test without a mutant, and counts the mutants that it runs. */
function add(name: string, passes: KnownTest['passes'] | null): void {
  if (passes === null) return
  mutantSwitch.currentTestId = name
  iterations = 0
  const started = performance.now()
  if (!passes(counting)) throw new Error(`"${name}" fails without a mutant.`)
  tests.push({ name, passes, ms: performance.now() - started, iterations })
}
counting.CASES.forEach(({ name }, index) => {
  add(name, ({ CASES }) => {
    const { actual, expected } = CASES[index]!
    return isDeepStrictEqual(actual(), expected)
  })
})
for (const seed of seeds) add(`the world of seed ${seed}`, worldTest(whole, seed))
for (const seed of bookSeeds) add(`the books of seed ${seed}`, booksTest(seed))
tests.sort((a, b) => a.ms - b.ms)

const coverage = mutantSwitch.mutantCoverage ?? { static: {}, perTest: {} }
const isStatic = (mutant: string) => coverage.static[mutant] !== undefined
const hitsOf = ({ name }: KnownTest, mutant: string) => coverage.perTest[name]?.[mutant] ?? 0

/** The test that kills a mutant often kills its neighbours, too: it goes first. */
function moveToFront(test: KnownTest): void {
  tests.splice(tests.indexOf(test), 1)
  tests.unshift(test)
}

/** Runs the tests that cover a mutant until one fails. */
function hunt(mutant: string): HuntResult | null {
  const covering = tests.filter((test) => isStatic(mutant) || hitsOf(test, mutant) > 0)
  if (covering.length === 0) return null
  mutantSwitch.currentTestId = undefined
  for (const test of covering) {
    mutantSwitch.activeMutant = mutant
    mutantSwitch.hitCount = 0
    mutantSwitch.hitLimit = 10_000 + 100 * hitsOf(test, mutant)
    iterations = 0
    maxIterations = 100_000 + 100 * test.iterations
    try {
      if (test.passes(isStatic(mutant) ? load() : whole)) continue
      moveToFront(test)
      return { mutant, killedBy: test.name, timedOut: false }
    } catch (error) {
      const timedOut = /does not end|Hit count limit/.test(String(error))
      return { mutant, killedBy: test.name, timedOut }
    } finally {
      mutantSwitch.activeMutant = undefined
      mutantSwitch.hitLimit = undefined
      maxIterations = Number.POSITIVE_INFINITY
    }
  }
  return { mutant, killedBy: null, timedOut: false }
}

parentPort!.on('message', (mutant: string) => parentPort!.postMessage(hunt(mutant)))
parentPort!.postMessage('ready')
