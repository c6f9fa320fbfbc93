import type { Context } from 'hono'
import type { Parcel, Receipt } from '../db/deliver.ts'
import { ApiError } from '../errors.ts'
import { type Intake, UNKNOWN } from './intake.ts'
import { type Judged, keyOf, pointerOf, type Warning } from './judge.ts'
import { outcomeOf, statusOf, summaryOf } from './outcome.ts'
import { type Issue, type Said, say } from './words.ts'

/** The contract: all errors are counted, the first 1000 are written out. */
const MAX_ERRORS = 1000

/** What an answer is made of. */
interface Handled {
  judged: Judged
  intake: Intake
  parcel: Parcel
  receipt: Receipt
  minimal: boolean
}

/** Answers a delivery: its outcomes, or why it is refused. */
export function answer(c: Context, { judged, intake, parcel, receipt, minimal }: Handled) {
  const { delivery } = receipt
  const unknown = indexesOf(delivery.unknown)
  const referring = unknown.map((index) => reference(judged, intake, index))
  const issues = parcel.unknown === 'reject' ? merged(judged.issues, referring) : judged.issues

  const status = statusOf(delivery)
  if (status === 422) throw refusal(parcel, delivery.errors_total, delivery.rejected, issues)

  const results = resultsOf(judged, intake, parcel, receipt, issues, referring)
  const shown = minimal ? results.filter(({ warnings, errors }) => warnings || errors) : results
  const body = {
    delivery_id: parcel.id,
    dry_run: parcel.dryRun,
    summary: summaryOf(delivery),
    results: shown,
  }
  return c.json(body, status)
}

function refusal(parcel: Parcel, total: number, rejected: number, issues: readonly Issue[]) {
  const { received, id } = parcel
  const are = rejected === 1 ? 'is' : 'are'
  return new ApiError('validation_failed', {
    detail:
      received === rejected && issues[0]?.index === undefined
        ? 'The body is wrong as a whole; nothing was stored.'
        : `${rejected} of ${received} records ${are} wrong; nothing was stored.`,
    delivery_id: id,
    errors: issues.slice(0, MAX_ERRORS).map(say),
    errors_total: total,
  })
}

interface Result {
  index: number
  key?: Record<string, string>
  outcome: string
  warnings?: Warning[]
  errors?: Omit<Said, 'index' | 'key'>[]
}

function resultsOf(
  judged: Judged,
  intake: Intake,
  parcel: Parcel,
  { delivery, revisions }: Receipt,
  issues: readonly Issue[],
  referring: readonly Issue[],
): Result[] {
  const errors = Map.groupBy(issues.slice(0, MAX_ERRORS), ({ index }) => index)
  const stale = new Set(indexesOf(delivery.stale_at))
  const held = new Set(parcel.unknown === 'hold' ? indexesOf(delivery.unknown) : [])
  const rejected = new Set(issues.map(({ index }) => index))
  const warnings = new Map(judged.good.map(({ index, warnings }) => [index, warnings]))
  if (parcel.unknown === 'warn') {
    for (const issue of referring) {
      const { pointer, message } = say(issue)
      warnings.get(issue.index!)!.push({ code: issue.code, pointer, message })
    }
  }
  return judged.sent.map((record, index) => {
    const key = keyOf(record, intake.key)
    const named = { index, ...(key && { key }) }
    if (rejected.has(index)) {
      const said = (errors.get(index) ?? []).map(say)
      return {
        ...named,
        outcome: 'rejected',
        errors: said.map(({ index: _, key: __, ...error }) => error),
      }
    }
    const outcome = outcomeOf(revisions.get(index), held.has(index), stale.has(index))
    const told = warnings.get(index) ?? []
    return { ...named, outcome, ...(told.length > 0 && { warnings: told }) }
  })
}

/** The issue of a record that refers to what is not known. */
function reference({ form, sent }: Judged, intake: Intake, index: number): Issue {
  const { column, table } = intake.shelf.refers
  const record = sent[index] as Record<string, unknown>
  const key = keyOf(record, intake.key)
  return {
    index,
    ...(key && { key }),
    pointer: `${pointerOf(form, index)}/${column}`,
    code: UNKNOWN[table],
    value: record[column],
  }
}

const merged = (some: readonly Issue[], others: readonly Issue[]) =>
  others.length === 0 ? some : [...some, ...others].sort((a, b) => a.index! - b.index!)

const indexesOf = (json: string | null): number[] => (json === null ? [] : JSON.parse(json))
