import fc from 'fast-check'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  inject,
  type RunnerTestCase,
  TestRunner,
  vi,
} from 'vitest'
import { aloud, forgetPrinted } from '../test/secrecy.ts'
import { emptyWorld } from '../test/setup.ts'
import { CAUGHT, type Catch, type Plan } from './plan.ts'

// Inside workerd, beside the tests of one file. They run as always, and it is seen which mutants
// each of them meets; then each mutant is switched on, and the tests that meet it run once more,
// until one fails.

interface Known {
  id: string
  fn: () => unknown
  /** How often it meets each mutant. */
  met: Record<string, number>
  ms: number
}

/** What the instrumented source looks at. */
interface Switch {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { static: Known['met']; perTest: Record<string, Known['met']> } | undefined
}

const world = globalThis as { __stryker__?: Switch }
world.__stryker__ ??= {}
const space = world.__stryker__

const plan: Plan = inject('plan')
const known: Known[] = []
let file: RunnerTestCase['file']
let began = 0

// A failure is enough: nobody reads the smallest counterexample.
fc.configureGlobal({ endOnFailure: true })

// All modules load before the first test: what is met meanwhile lives in all that they made.
beforeAll(async () => {
  await import('../src/index.ts')
})

beforeEach(({ task }) => {
  space.currentTestId = task.id
  file = task.file
  began = Date.now()
})

afterEach(({ task }) => {
  const met = space.mutantCoverage?.perTest[task.id] ?? {}
  known.push({ id: task.id, fn: TestRunner.getTestFn(task), met, ms: Date.now() - began })
})

/** Whether what the mutant changes is made once, and kept: modules must load with it, then. */
const isKept = (mutant: string) => space.mutantCoverage?.static[mutant] !== undefined

let isStale = false

/** What the test says in an empty world while the mutant lives there; null: it passes. */
async function failure({ fn, id, met }: Known, mutant: string | undefined): Promise<string | null> {
  await emptyWorld()
  forgetPrinted()
  space.currentTestId = id
  space.activeMutant = mutant
  const isFresh = mutant !== undefined && isKept(mutant)
  if (isFresh || isStale) vi.resetModules()
  isStale = isFresh
  space.hitCount = 0
  // What never ends by itself is ended by the count.
  space.hitLimit = 10_000 + 100 * (met[mutant ?? ''] ?? 0)
  try {
    await fn()
    return null
  } catch (error) {
    return String(error)
  } finally {
    space.activeMutant = undefined
  }
}

/** Looks for a test that fails of the mutant, and passes again without it. */
async function hunt(mutant: string, tests: Known[]): Promise<Catch> {
  for (const test of tests) {
    const said = await failure(test, mutant)
    if (said === null) continue
    const [suspect] = known.splice(known.indexOf(test), 1)
    // What fails without the mutant, too, has caught nothing, and never will.
    if ((await failure(test, undefined)) !== null) continue
    // Mutants that are neighbours are often caught by the same test.
    known.unshift(suspect!)
    return { mutant, by: test.id, timedOut: /timed out|Hit count limit/.test(said) }
  }
  return { mutant, by: null, timedOut: false }
}

afterAll(async () => {
  known.sort((a, b) => a.ms - b.ms)
  for (const mutant of plan.files[file.filepath] ?? []) {
    const meets = known.filter(({ met }) => met[mutant] || isKept(mutant))
    if (meets.length > 0) aloud(CAUGHT + JSON.stringify(await hunt(mutant, meets)))
  }
}, 3_600_000)
