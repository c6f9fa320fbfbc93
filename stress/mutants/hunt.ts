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
import { printToTerminal, takePrinted } from '../../test/secrecy.ts'
import { emptyWorld } from '../../test/world.ts'
import {
  COVERAGE_PREFIX,
  type CoverageReport,
  type HuntResult,
  LOADED_PREFIX,
  type Plan,
  RESULT_PREFIX,
  STARTED_PREFIX,
} from './plan.ts'

// This setup file runs inside workerd, beside the tests of one file. First the tests that the plan
// names run as usual. Then each mutant is switched on, and its tests run again until one fails.

interface KnownTest {
  id: string
  name: string
  task: RunnerTestCase
  /** How often the test runs each mutant. */
  hits: Record<string, number>
  /** How many iterations its loops make. */
  iterations: number
  ms: number
}

/** The global state that the instrumented source reads and writes. */
interface MutantSwitch {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?:
    | { static: KnownTest['hits']; perTest: Record<string, KnownTest['hits']> }
    | undefined
}

const world = globalThis as {
  __stryker__?: MutantSwitch
  __moduleCaches__?: { clear: () => void }[]
  __countIteration__?: () => void
  __reloadImports__?: (() => Promise<void>)[]
  /** The modules that the pool imports for requests: see test/setup.ts. */
  imported?: Map<string, Promise<unknown>>
}
world.__stryker__ ??= {}
const mutantSwitch = world.__stryker__

/** Empties the caches that modules keep, so that each test runs the code that fills them. */
function emptyCaches() {
  for (const cache of world.__moduleCaches__ ?? []) cache.clear()
}

/** The iterations of loops since the test began, and how many it may make. */
let iterations = 0
let maxIterations = Number.POSITIVE_INFINITY

world.__countIteration__ = () => {
  iterations += 1
  if (iterations > maxIterations) throw new Error('Hit count limit: a loop does not end.')
}

const plan: Plan = inject('plan')
/** The real clock: tests set another one. */
const { now } = Date

const tests: KnownTest[] = []
let file: RunnerTestCase['file'] | undefined
let startedAt = 0

/** How long a test may run with a mutant before the mutant counts as timed out, in milliseconds. */
const TEST_TIMEOUT_MS = 30_000

// A failure is enough: a smaller counterexample would only take time, as more examples would.
fc.configureGlobal({ endOnFailure: true, interruptAfterTimeLimit: 3000 })

// All modules load before the first test: mutants that run meanwhile affect module state.
beforeAll(async () => {
  await import('../../src/index.ts')
})

/** The name of a test with those of the suites around it. */
function fullName({ name, suite }: { name: string; suite?: RunnerTestCase['suite'] }): string {
  return suite ? `${fullName(suite)} > ${name}` : name
}

/** The names of the tests that hunt a mutant of this file. */
function namesIn(path: string): ReadonlySet<string> {
  wanted ??= new Set(Object.values(plan.hunts[path] ?? {}).flat())
  return wanted
}
let wanted: Set<string> | undefined

let isHunting = false

beforeEach(({ task, skip }) => {
  if (isHunting) return
  file = task.file
  if (!plan.isMapping && !namesIn(file.filepath).has(fullName(task))) skip()
  emptyCaches()
  mutantSwitch.currentTestId = task.id
  iterations = 0
  startedAt = now()
})

afterEach(({ task }) => {
  if (isHunting || task.result?.state === 'fail') return
  const { id } = task
  const ms = now() - startedAt
  const hits = mutantSwitch.mutantCoverage?.perTest[id] ?? {}
  tests.push({ id, name: fullName(task), task, hits, iterations, ms })
  if (!plan.isMapping) return
  const mutants = Object.keys(hits)
  const report: CoverageReport = { file: task.file.filepath, test: fullName(task), mutants, ms }
  printToTerminal(COVERAGE_PREFIX + JSON.stringify(report))
})

/** Reports whether a mutant changes module state: modules must load again with it. */
const isStatic = (mutant: string) => mutantSwitch.mutantCoverage?.static[mutant] !== undefined

/** The mutant that changed module state when the modules were loaded. */
let loadedWith: string | undefined

/** Rejects after the time limit of a test. */
const timeout = () =>
  new Promise((_, reject) =>
    setTimeout(() => reject(new Error('The test timed out.')), TEST_TIMEOUT_MS),
  )

/** Loads all modules again, also those that the test file imports. */
async function reloadModules(): Promise<void> {
  vi.resetModules()
  world.imported?.clear()
  for (const reload of world.__reloadImports__ ?? []) await reload()
}

/**
 * Runs a test in an empty world with a mutant, or with none. Returns its failure, or null. It fails, too,
 * if the modules do not load with the mutant.
 */
async function failureOf(test: KnownTest, mutant: string | undefined): Promise<string | null> {
  await emptyWorld()
  takePrinted()
  emptyCaches()
  mutantSwitch.currentTestId = test.id
  mutantSwitch.activeMutant = mutant
  mutantSwitch.hitCount = 0
  iterations = 0
  // Both end loops that the mutant makes infinite.
  mutantSwitch.hitLimit = 10_000 + 100 * (test.hits[mutant ?? ''] ?? 0)
  maxIterations = 1_000_000 + 10 * test.iterations
  const state = mutant !== undefined && isStatic(mutant) ? mutant : undefined
  try {
    if (state !== loadedWith) {
      loadedWith = state
      await reloadModules()
    }
    await Promise.race([run(test.task), timeout()])
    return null
  } catch (error) {
    return String(error)
  } finally {
    mutantSwitch.activeMutant = undefined
    maxIterations = Number.POSITIVE_INFINITY
    vi.restoreAllMocks()
    vi.useRealTimers()
  }
}

/** Runs a test between the hooks of the suites around it. */
async function run(task: RunnerTestCase): Promise<void> {
  const suites: NonNullable<RunnerTestCase['suite']>[] = []
  for (let suite = task.suite; suite; suite = suite.suite) {
    suites.unshift(suite)
  }
  if (suites[0] !== task.file) suites.unshift(task.file)
  try {
    for (const suite of suites) {
      for (const hook of TestRunner.getSuiteHooks(suite).beforeEach) await hook(task.context, suite)
    }
    await TestRunner.getTestFn(task)()
  } finally {
    for (const suite of suites.toReversed()) {
      const { afterEach: hooks } = TestRunner.getSuiteHooks(suite)
      for (const hook of hooks.toReversed()) await hook(task.context, suite)
    }
  }
}

/** Looks for a test that fails with the mutant and passes without it. */
async function hunt(mutant: string, candidates: KnownTest[]): Promise<HuntResult> {
  for (const test of candidates) {
    const failure = await failureOf(test, mutant)
    if (failure === null) continue
    const [killer] = tests.splice(tests.indexOf(test), 1)
    // A test that also fails without the mutant proves nothing, now or later.
    if ((await failureOf(test, undefined)) !== null) continue
    // The same test often kills neighbouring mutants: it goes first.
    tests.unshift(killer!)
    return { mutant, killedBy: test.name, timedOut: /timed out|Hit count limit/.test(failure) }
  }
  return { mutant, killedBy: null, timedOut: false }
}

afterAll(async () => {
  if (!file) return
  if (plan.isMapping) {
    const loaded = Object.keys(mutantSwitch.mutantCoverage?.static ?? {})
    printToTerminal(LOADED_PREFIX + JSON.stringify(loaded))
  }
  isHunting = true
  tests.sort((a, b) => a.ms - b.ms)
  for (const [mutant, names] of Object.entries(plan.hunts[file.filepath] ?? {})) {
    const candidates = tests.filter(
      ({ name, hits }) => names.includes(name) && (hits[mutant] || isStatic(mutant)),
    )
    if (candidates.length === 0) continue
    printToTerminal(STARTED_PREFIX + mutant)
    printToTerminal(RESULT_PREFIX + JSON.stringify(await hunt(mutant, candidates)))
  }
}, 3_600_000)
