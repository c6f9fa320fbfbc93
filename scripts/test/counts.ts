import { existsSync, readFileSync } from 'node:fs'

/** One line of the report that a runner writes: the end of one test. */
export interface Ended {
  state: 'passed' | 'failed' | 'skipped'
  test: string
  /** Why the test was skipped, where it says so. */
  reason?: string
}

/** The number of tests that passed and failed, and those that were skipped. */
export interface Counts {
  passed: number
  failed: number
  skipped: Ended[]
}

/** Counts the lines of a report. A runner that failed without a failed test counts as one failure. */
export function countTests(report: string, status: number): Counts {
  const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : []
  const ended = lines.map((line): Ended => JSON.parse(line))
  const failed = ended.filter(({ state }) => state === 'failed').length
  return {
    passed: ended.filter(({ state }) => state === 'passed').length,
    failed: failed || Number(status !== 0),
    skipped: ended.filter(({ state }) => state === 'skipped'),
  }
}

/** Returns the lines that name each skipped test under its reason. */
export function skippedLines(skipped: readonly Ended[]): string[] {
  const byReason = Map.groupBy(skipped, ({ reason }) => reason ?? 'no reason given')
  return [...byReason].flatMap(([reason, tests]) => [
    `Skipped, ${reason}:`,
    ...tests.map(({ test }) => `  ${test}`),
  ])
}

/** Returns the closing line: `12 passed, 0 failed`, and `, 3 skipped` if any test was skipped. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  const counts = `${passed} passed, ${failed} failed`
  return skipped.length > 0 ? `${counts}, ${skipped.length} skipped` : counts
}
