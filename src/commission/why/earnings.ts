import { decode, encode } from '../../db/column-types.ts'
import { type FactKey, findFactPlace } from '../../db/commission/fact-keys.ts'
import { readSignups } from '../../db/commission/facts.ts'
import type { Databases } from '../../db/commission/histories.ts'
import { customers } from '../../db/schema.ts'
import { ApiError } from '../../errors.ts'
import { lineId, statementId } from '../drafts/ids.ts'
import { openPeriod } from '../drafts/on-request.ts'
import { dayText, periodOf } from '../engine/calendar.ts'
import { type Earning, earningsOf } from '../engine/earnings.ts'
import type { FactResource } from '../engine/facts.ts'
import { factJudge } from '../engine/judge-uplines.ts'
import { type Cause, type FactReport, reportFacts } from '../engine/unearned.ts'
import { judgedCustomers, recordReadings } from './open.ts'

/** The record whose earnings are asked for. */
export type RecordKey = FactKey | { readonly resource: 'customers'; readonly id: string }

/** What a record earns, on the wire. */
export interface RecordEarnings {
  readonly resource: FactResource
  readonly id: string
  readonly customer_id: string
  readonly affiliate_id: string | null
  readonly day: string
  /** `counted`, or the reason why no line counts it. */
  readonly state: Cause
  readonly lines: readonly (Earning & { readonly line_id: string })[]
  /** What each rule of its plan that names it makes of it. */
  readonly rules: readonly Cause[]
}

const NO_RECORD = 'This account has no record with this key. Ids are case-sensitive.'

interface Place {
  readonly customer_id: string
  readonly day: number
  readonly isHeld: boolean
}

/** Finds the customer and the day of a record. */
async function findPlace(
  db: Databases['db'],
  account: string,
  key: RecordKey,
): Promise<Place | null> {
  if (key.resource === 'customers') {
    const [signup] = await readSignups(db, account, [String(encode(customers.customer_id, key.id))])
    return signup ? { customer_id: key.id, day: signup.day, isHeld: false } : null
  }
  const found = await findFactPlace(db, account, key)
  return (
    found && {
      customer_id: String(decode(customers.customer_id, found.customer_id)),
      day: found.day,
      isHeld: found.held === 1,
    }
  )
}

/** The id of a record as facts have it. */
const factId = (key: RecordKey): string =>
  key.resource === 'trading-activity'
    ? `${dayText(key.date)}|${key.customer_id}|${key.instrument}|${key.currency}`
    : key.id

/**
 * Returns the lines that count a record, or the reasons why none does, by all that is known now.
 *
 * @throws ApiError `not_found`
 */
export async function recordEarnings(
  env: Env,
  account: string,
  session: Databases['db'],
  key: RecordKey,
): Promise<RecordEarnings> {
  const place = await findPlace(session, account, key)
  if (!place) throw new ApiError('not_found', { detail: NO_RECORD })
  const { customer_id, day } = place
  const record = { resource: key.resource, id: factId(key), customer_id, day: dayText(day) }
  if (place.isHeld) {
    const state: Cause = { reason: 'held', plan: null, version: null, rule: null, condition: null }
    return { ...record, affiliate_id: null, state, lines: [], rules: [] }
  }
  const found = await judgeRecord(env, account, session, record, day)
  if (!found) throw new ApiError('not_found', { detail: NO_RECORD })
  const { report, earnings } = found
  const lines = await Promise.all(
    earnings.map(async (one) => ({ line_id: await lineIdOf(one), ...one })),
  )
  const { affiliate_id, state, rules } = report
  return { ...record, affiliate_id, state, lines, rules }
}

const lineIdOf = async ({ affiliate_id, plan, period, ...line }: Earning): Promise<string> =>
  lineId(await statementId(affiliate_id, plan, period), line, 0)

async function judgeRecord(
  env: Env,
  account: string,
  session: Databases['db'],
  { resource, id, customer_id }: { resource: FactResource; id: string; customer_id: string },
  day: number,
): Promise<{ report: FactReport; earnings: Earning[] } | null> {
  const computation = await openPeriod(env, account, session, periodOf(day, 'month'))
  const { context } = computation
  const readings = recordReadings(computation, { first: day, last: day })
  const onDay = { ...periodOf(day, 'month'), first: day, last: Number.POSITIVE_INFINITY }
  for await (const judged of judgedCustomers(computation, { customer_id }, readings)) {
    const isRecord = ({ fact }: FactReport): boolean => fact.resource === resource && fact.id === id
    const report = reportFacts(context, factJudge(context), judged, onDay).find(isRecord)
    if (report) return { report, earnings: earningsOf(context, judged, report.fact) }
  }
  return null
}
