import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { Mutant } from './catalog.ts'
import type { CoverageReport } from './plan.ts'
import type { LineRange, SourceIndex } from './source-index.ts'

/** Where the coverage of each test is kept between runs. */
const COVERAGE_FILE = 'node_modules/.cache/mutants/coverage.json'

/** Tests that take minutes, or that read the source instead of running it. They hunt no mutants. */
const LEFT_OUT =
  /\/(?:sweep|fuzz|zones|model|heavy|gone|messages|disconnect|contract|architecture|worlds|laws|oracle)\b/

/** The test files that hunt mutants. */
export const testFiles = () =>
  globSync(['test/*.test.ts', 'test/commission/*.test.ts']).filter(
    (file) => !LEFT_OUT.test(`/${file}`),
  )

/** The lines that one test covers, by source file, and how long it takes in milliseconds. */
interface CoveringTest {
  file: string
  test: string
  ms: number
  lines: Record<string, number[]>
}

export type Coverage = readonly CoveringTest[]

/** The coverage of an earlier run; null if there is none or a file has come or gone since. */
export function readCoverage(mutants: readonly Mutant[]): Coverage | null {
  let coverage: CoveringTest[]
  try {
    coverage = JSON.parse(readFileSync(COVERAGE_FILE, 'utf8'))
  } catch {
    return null
  }
  const sources = new Set(mutants.map(({ file }) => file))
  const isCurrent = coverage.every(({ lines }) => Object.keys(lines).every((s) => sources.has(s)))
  const tests = new Set(coverage.map(({ file }) => file))
  return isCurrent && testFiles().every((file) => tests.has(file)) ? coverage : null
}

/** Stores the coverage that each test reports, and returns it by source file and line. */
export function writeCoverage(
  reports: readonly CoverageReport[],
  mutants: readonly Mutant[],
): Coverage {
  const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]))
  const coverage = reports.map(({ file, test, mutants: ids, ms }): CoveringTest => {
    const found = ids.flatMap((id) => byId.get(id) ?? [])
    const bySource = Object.entries(Object.groupBy(found, (mutant) => mutant.file))
    const lines = bySource.map(([source, list = []]) => [
      source,
      [...new Set(list.map(({ line }) => line))],
    ])
    return { file: relative('.', file), test, ms, lines: Object.fromEntries(lines) }
  })
  mkdirSync(dirname(COVERAGE_FILE), { recursive: true })
  writeFileSync(COVERAGE_FILE, JSON.stringify(coverage))
  return coverage
}

/** How many tests hunt a mutant first, and how many more if it survives. */
const QUICK_TESTS = 60
const MORE_TESTS = 300

/** A test that takes longer hunts no mutants, in milliseconds. */
const MAX_TEST_MS = 20_000

/** The tests of one file that hunt a mutant. */
export type TestGroup = [file: string, tests: string[]]

/**
 * Returns the tests that hunt a mutant: those that run its lines, or else its declaration, or else
 * declarations that use that one.
 */
export function testsFor(mutant: Mutant, coverage: Coverage, index: SourceIndex): TestGroup[] {
  const covers = ({ lines }: CoveringTest, { file, from, to }: LineRange) =>
    lines[file]?.some((line) => line >= from && line <= to) ?? false
  for (const ranges of index.rangesFor(mutant)) {
    const covering = inTurns(coverage.filter((test) => ranges.some((range) => covers(test, range))))
    if (covering.length === 0) continue
    const quick = covering.slice(0, QUICK_TESTS)
    const more = covering.slice(QUICK_TESTS, QUICK_TESTS + MORE_TESTS)
    return [...byFile(quick), ...byFile(more)]
  }
  return []
}

/** How many tests a file gives in each turn. */
const TESTS_PER_TURN = 15

/** How many lines of source a test covers. */
const linesOf = ({ lines }: CoveringTest) =>
  Object.values(lines).reduce((sum, list) => sum + list.length, 0)

/**
 * Orders tests so that the most specific come first, and each file gives some in turn; leaves out
 * slow ones. A test that covers few lines is more likely to be about one of them.
 */
function inTurns(tests: readonly CoveringTest[]): CoveringTest[] {
  const sorted = tests
    .filter(({ ms }) => ms <= MAX_TEST_MS)
    .map((test) => ({ test, size: linesOf(test) }))
    .toSorted((a, b) => a.size - b.size || a.test.ms - b.test.ms)
  const ranks = [...Map.groupBy(sorted, ({ test }) => test.file).values()].flatMap((list) =>
    list.map(({ test }, i) => ({ test, rank: Math.floor(i / TESTS_PER_TURN) })),
  )
  return ranks.toSorted((a, b) => a.rank - b.rank).map(({ test }) => test)
}

/** Groups tests by file, in the order of the first test of each. */
const byFile = (tests: readonly CoveringTest[]): TestGroup[] =>
  [...Map.groupBy(tests, ({ file }) => file)].map(
    ([file, list]): TestGroup => [file, list.map(({ test }) => test)],
  )
