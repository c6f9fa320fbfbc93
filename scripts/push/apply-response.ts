import type { ReadDelivery } from './bulks.ts'
import type { ApiResponse } from './exchange.ts'
import { dryRunOutcome } from './ids.ts'
import { type Issue, type ProblemIssue, problemOf } from './problem.ts'
import type { Hints } from './reader.ts'
import {
  addRejected,
  countIssue,
  type FileResult,
  OUTCOMES,
  type Outcome,
  type RejectedRecord,
  type RunResult,
} from './result.ts'

/** A response to a bulk of which at least a part is stored; it lists only notable results. */
interface AcceptedBody {
  summary: Record<(typeof OUTCOMES)[number], number>
  results: { index: number; outcome: Outcome; warnings?: Issue[]; errors?: ProblemIssue[] }[]
}

/** A response lists at most 1000 errors. */
const NOT_LISTED = 'the response does not list all errors'

/** Adds a bulk of which all records, or all valid records, are stored. */
export function applyAccepted(
  { first, texts, hints, lines, ids }: ReadDelivery,
  { body }: ApiResponse,
  result: RunResult,
  file: FileResult,
): Issue | null {
  const { summary, results } = body as AcceptedBody
  for (const outcome of OUTCOMES) {
    if (outcome !== 'rejected') file.counts[outcome] += summary[outcome]
  }
  for (const { index, outcome, warnings = [] } of results) {
    if (result.dryRun && outcome !== 'rejected') {
      file.counts[outcome] -= 1
      file.counts[dryRunOutcome(file.ids, ids[index], texts[index]!, outcome)] += 1
    }
    const place = { file: file.file, line: lines[index]! }
    for (const warning of warnings) countIssue(result.warnings, withinRecord(warning), place)
  }
  const rejected = results
    .filter(({ outcome }) => outcome === 'rejected')
    .map(({ index, errors = [] }) => {
      const issues = toIssues(errors, hints[index])
      return toRejected(texts[index]!, first + index, lines[index]!, issues, NOT_LISTED)
    })
  addRejected(result, file, rejected)
  return rejected.length === texts.length ? commonIssue(rejected.map(({ errors }) => errors)) : null
}

/** Adds a bulk of which no record is stored: each record, with its errors if it has any. */
export function applyRefused(
  { first, texts, hints, lines }: ReadDelivery,
  response: ApiResponse,
  result: RunResult,
  file: FileResult,
): Issue | null {
  const { title, detail, errors = [], errors_total = 0 } = problemOf(response.body)
  const byIndex = Map.groupBy(errors, ({ index }) => index)
  const [ofBulk] = byIndex.get(undefined) ?? []
  const message = response.status === 413 ? (detail ?? title) : ofBulk?.message
  const refused = message ?? 'its bulk was refused'
  const lastListed = errors_total > errors.length ? (errors.at(-1)?.index ?? -1) : texts.length
  const rejected = texts.map((text, i) => {
    const own = byIndex.get(i) ?? []
    const isComplete = i < lastListed
    if (own.length === 0 && isComplete && message === undefined) result.refusedWithBulk += 1
    const reason = `not stored: ${isComplete ? refused : `${refused}; ${NOT_LISTED}`}`
    return toRejected(text, first + i, lines[i]!, toIssues(own, hints[i]), reason)
  })
  addRejected(result, file, rejected)
  if (ofBulk) return withinRecord(ofBulk)
  // Errors of records behind the last listed one are unknown: they do not count as different.
  const known = rejected.filter(({ errors }, i) => i <= lastListed || errors.length > 0)
  return commonIssue(known.map(({ errors }) => errors))
}

/** The least number of records for which a common error is more than a coincidence. */
const MIN_RECORDS = 2

/** Returns an error that every record has at the same place, or null. */
function commonIssue(records: Issue[][]): Issue | null {
  if (records.length < MIN_RECORDS) return null
  const [first = [], ...others] = records
  const isSame = (a: Issue) => (b: Issue) => a.code === b.code && a.pointer === b.pointer
  return first.find((issue) => others.every((errors) => errors.some(isSame(issue)))) ?? null
}

function toRejected(
  text: string,
  index: number,
  line: number,
  errors: Issue[],
  reason: string,
): RejectedRecord {
  return { index, line, text, errors, ...(errors.length === 0 && { reason }) }
}

/** Returns the errors of a record. For a value of a wrong type, the hint of the reader applies. */
const toIssues = (issues: ProblemIssue[], hints: Hints = {}): Issue[] =>
  issues.map(withinRecord).map((issue) => {
    const hint = issue.code === 'type' ? hints[issue.pointer] : undefined
    return hint === undefined ? issue : { ...issue, hint }
  })

/** Removes the place in the bulk, which users do not see: the pointer is into the record. */
const withinRecord = ({ index: _, key: __, pointer, ...issue }: ProblemIssue) => ({
  pointer: pointer.replace(/^\/\d+/, ''),
  ...issue,
})
