import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { Mutant } from './catalog.ts'
import type { CoverageReport } from './plan.ts'
import type { LineRange, SourceIndex } from './source-index.ts'

/** Where the coverage of each test is kept between runs. */
const COVERAGE_FILE = 'node_modules/.cache/mutants/coverage.json'

/**
 * Tests that take minutes once the source is instrumented, or that read the source instead of running
 * it. They hunt no mutants. engine/hunt.ts compares the engine with the oracle in Node instead.
 */
const LEFT_OUT =
  /\/(?:sweep|heavy|gone\.|messages|disconnect|contract|architecture|commission\/worlds)/

/** The test files that hunt mutants. */
export const testFiles = () =>
  globSync('test/**/*.test.ts').filter((file) => !LEFT_OUT.test(`/${file}`))

/** What one test runs. */
interface CoveringTest {
  file: string
  test: string
  ms: number
  /** The lines of each source file that have mutants which it runs. */
  lines: Record<string, number[]>
  /** The mutants that it runs: bit `i` of the bytes, in base64, stands for the mutant at `i`. */
  mutants: string
}

interface StoredCoverage {
  /** The mutants that run while modules load, as in `CoveringTest`. */
  loaded: string
  /** The digest of the mutants: their places change with the source. */
  digest: string
  tests: readonly CoveringTest[]
}

export interface Coverage {
  tests: readonly CoveringTest[]
  /** Returns the tests that run a mutant; none if the source has changed since they were measured. */
  testsRunning: (mutant: Mutant) => readonly CoveringTest[]
  /** Whether a mutant runs while modules load, so that it can change what every test of them does. */
  isLoaded: (mutant: Mutant) => boolean
}

const digestOf = (mutants: readonly Mutant[]) =>
  createHash('sha256').update(JSON.stringify(mutants)).digest('hex')

/** Indexes coverage by mutant, unless the mutants are no longer those that were measured. */
function coverageOf(stored: StoredCoverage, mutants: readonly Mutant[]): Coverage {
  const { digest, tests } = stored
  const places = new Map(mutants.map(({ id }, place) => [id, place]))
  const bits = tests.map((test) => Buffer.from(test.mutants, 'base64'))
  const runs = (bytes: Buffer, place: number) => ((bytes[place >> 3] ?? 0) >> (place & 7)) & 1
  const isCurrent = digest === digestOf(mutants)
  const loaded = Buffer.from(stored.loaded ?? '', 'base64')
  return {
    tests,
    isLoaded: ({ id }) => isCurrent && runs(loaded, places.get(id)!) === 1,
    testsRunning: ({ id }) =>
      isCurrent ? tests.filter((_, i) => runs(bits[i]!, places.get(id)!) === 1) : [],
  }
}

/** The coverage of an earlier run; null if there is none or a file has come or gone since. */
export function readCoverage(mutants: readonly Mutant[]): Coverage | null {
  let stored: StoredCoverage
  try {
    stored = JSON.parse(readFileSync(COVERAGE_FILE, 'utf8'))
  } catch {
    return null
  }
  const sources = new Set(mutants.map(({ file }) => file))
  const isCurrent = stored.tests?.every(({ lines }) =>
    Object.keys(lines).every((source) => sources.has(source)),
  )
  const measured = new Set(stored.tests?.map(({ file }) => file))
  const isWhole = isCurrent && testFiles().every((file) => measured.has(file))
  return isWhole ? coverageOf(stored, mutants) : null
}

/** Stores the coverage that each test reports, and returns it. */
export function writeCoverage(
  reports: readonly CoverageReport[],
  loaded: ReadonlySet<string>,
  mutants: readonly Mutant[],
): Coverage {
  const places = new Map(mutants.map(({ id }, place) => [id, place]))
  const bitsOf = (found: readonly number[]) => {
    const bytes = Buffer.alloc(Math.ceil(mutants.length / 8))
    for (const place of found) bytes[place >> 3]! |= 1 << (place & 7)
    return bytes.toString('base64')
  }
  const placesOf = (ids: Iterable<string>) => [...ids].flatMap((id) => places.get(id) ?? [])
  const tests = reports.map(({ file, test, mutants: ids, ms }): CoveringTest => {
    const found = placesOf(ids)
    const bySource = Map.groupBy(
      found.map((place) => mutants[place]!),
      (mutant) => mutant.file,
    )
    const lines = [...bySource].map(([source, list]) => [
      source,
      [...new Set(list.map(({ line }) => line))],
    ])
    return {
      file: relative('.', file),
      test,
      ms,
      lines: Object.fromEntries(lines),
      mutants: bitsOf(found),
    }
  })
  const digest = digestOf(mutants)
  const stored: StoredCoverage = { digest, loaded: bitsOf(placesOf(loaded)), tests }
  mkdirSync(dirname(COVERAGE_FILE), { recursive: true })
  writeFileSync(COVERAGE_FILE, JSON.stringify(stored))
  return coverageOf(stored, mutants)
}

/** How many tests hunt a mutant first, and how many more if it survives. */
const QUICK_TESTS = 60
const MORE_TESTS = 300

/** A test that takes longer hunts no mutants, in milliseconds. */
const MAX_TEST_MS = 20_000

/** The tests of one file that hunt a mutant. */
export type TestGroup = [file: string, tests: string[]]

/**
 * Returns the tests that hunt a mutant: those that run it, or else its lines, or else its declaration,
 * or else declarations that use that one, or else those of its file. A mutant that runs while modules
 * load is hunted by the tests that run it and also by the next closest.
 */
export function testsFor(mutant: Mutant, coverage: Coverage, index: SourceIndex): TestGroup[] {
  const covers = ({ lines }: CoveringTest, { file, from, to }: LineRange) =>
    lines[file]?.some((line) => line >= from && line <= to) ?? false
  const running = coverage.testsRunning(mutant)
  if (running.length > 0 && !coverage.isLoaded(mutant)) return inRounds(mutant, running)
  for (const ranges of index.rangesFor(mutant)) {
    const covering = coverage.tests.filter((test) => ranges.some((range) => covers(test, range)))
    const isNew = covering.some((test) => !running.includes(test))
    if (isNew) return inRounds(mutant, [...new Set([...running, ...covering])])
  }
  return inRounds(mutant, running)
}

/** Groups the first tests by file, and then the ones that run if these kill nothing. */
function inRounds(mutant: Mutant, tests: readonly CoveringTest[]): TestGroup[] {
  const quick = tests.filter(({ ms }) => ms <= MAX_TEST_MS)
  const named = byWords(mutant, quick)
  const others = inTurns(quick)
  // Half of each round has what the mutant is called in its title; the others are the most specific.
  const ordered = new Set<CoveringTest>()
  for (let i = 0; i < quick.length; i++) {
    for (const next of [named[i], others[i]]) if (next) ordered.add(next)
  }
  const all = [...ordered]
  const more = all.slice(QUICK_TESTS, QUICK_TESTS + MORE_TESTS)
  return [...byFile(all.slice(0, QUICK_TESTS)), ...byFile(more)]
}

/** A word of fewer letters says little, and the letters after these are endings. */
const LEAST_LETTERS = 4
const STEM_LETTERS = 5

/** Returns the beginnings of the words of names and titles, without `test`. */
function stemsOf(text: string): Set<string> {
  const words =
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  const long = words.filter((word) => word.length >= LEAST_LETTERS && word !== 'test')
  return new Set(long.map((word) => word.slice(0, STEM_LETTERS)))
}

/** Returns the tests whose title or file has words of a mutant, those with the rarest words first. */
function byWords({ file, declaration }: Mutant, tests: readonly CoveringTest[]): CoveringTest[] {
  const wanted = stemsOf(`${file} ${declaration}`)
  const stems = tests.map(({ file: own, test }) => stemsOf(`${own} ${test}`))
  const weights = new Map(
    [...wanted].map((stem) => {
      const count = stems.filter((one) => one.has(stem)).length
      return [stem, Math.log((tests.length + 1) / (count + 1))]
    }),
  )
  const scoreOf = (own: ReadonlySet<string>) =>
    [...weights].reduce((sum, [stem, weight]) => sum + (own.has(stem) ? weight : 0), 0)
  return tests
    .map((test, i) => ({ test, score: scoreOf(stems[i]!) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.test.ms - b.test.ms)
    .map(({ test }) => test)
}

/** How many tests a file gives in each turn. */
const TESTS_PER_TURN = 15

/** How many lines of source a test covers. */
const linesOf = ({ lines }: CoveringTest) =>
  Object.values(lines).reduce((sum, list) => sum + list.length, 0)

/**
 * Orders tests so that the most specific come first, and each file gives some in turn. A test that
 * covers few lines is more likely to be about one of them.
 */
function inTurns(tests: readonly CoveringTest[]): CoveringTest[] {
  const sorted = tests
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
