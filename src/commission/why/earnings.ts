import { decode, encode } from '../../db/column-types.ts'
import {
  findItem,
  type LineCorrection,
  readRecordCorrections,
} from '../../db/commission/books/stored-items.ts'
import { type FactKey, findFactPlace } from '../../db/commission/fact-keys.ts'
import { readSignups } from '../../db/commission/facts.ts'
import type { Databases } from '../../db/commission/histories.ts'
import { customers } from '../../db/schema.ts'
import { ApiError } from '../../errors.ts'
import type { ClosingsOf } from '../drafts/closings.ts'
import { lineId, statementId } from '../drafts/ids.ts'
import { openPeriod } from '../drafts/on-request.ts'
import { dayText, parsePeriod, periodOf } from '../engine/calendar.ts'
import type { Earning } from '../engine/earnings.ts'
import type { ClosedLine } from '../engine/explanation.ts'
import type { FactOutcome } from '../engine/fact-reports.ts'
import type { FactResource } from '../engine/facts.ts'
import { evaluateRecord } from './evaluate-record.ts'
import { closedLine } from './explain-adjustment.ts'
import { type AccountReader, storedLine } from './find-line.ts'

/** The key of the record whose earnings are computed. */
export type RecordKey = FactKey | { readonly resource: 'customers'; readonly id: string }

/** A line that counts a record. */
interface EarnedLine extends Earning {
  readonly line_id: string
  /** What was approved of the line, if its period is closed. */
  readonly closed?: ClosedLine
}

/** An adjustment of a line of a closed period. */
interface RecordAdjustment extends LineCorrection {
  readonly affiliate_id: string
  readonly plan: string
  readonly of: { readonly period: string; readonly line: string | null }
}

/** What a record earns, on the wire. */
export interface RecordEarnings {
  readonly resource: FactResource
  readonly id: string
  readonly customer_id: string
  readonly affiliate_id: string | null
  readonly day: string
  /** `counted`, or the reason why no line counts it. */
  readonly state: FactOutcome
  readonly lines: readonly EarnedLine[]
  /** The adjustments that name it as their cause. */
  readonly adjustments: readonly RecordAdjustment[]
  /** The outcome under each rule of its plan that names it. */
  readonly rules: readonly FactOutcome[]
}

const NO_RECORD = 'This account has no record with this key. Ids are case-sensitive.'

/** Where a record is stored. */
interface RecordPlace {
  readonly customer_id: string
  /** In days since 1970. */
  readonly day: number
  /** Whether the record waits for its customer. */
  readonly isHeld: boolean
}

/** Finds the customer and the day of a record. */
async function findPlace(
  db: Databases['db'],
  account: string,
  key: RecordKey,
): Promise<RecordPlace | null> {
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
 * Returns the lines that count a record, or the reasons why none does, by all that is known now. Lines
 * of closed periods see the rates that were known at their approval (§16.2).
 *
 * @throws ApiError `not_found`
 */
export async function recordEarnings(
  env: Env,
  reader: AccountReader,
  key: RecordKey,
): Promise<RecordEarnings> {
  const { grant, session } = reader
  const place = await findPlace(session, grant.account, key)
  if (!place) throw new ApiError('not_found', { detail: NO_RECORD })
  const { customer_id, day } = place
  const record = { resource: key.resource, id: factId(key), customer_id, day: dayText(day) }
  if (place.isHeld) {
    const state: FactOutcome = {
      reason: 'held',
      plan: null,
      version: null,
      rule: null,
      condition: null,
    }
    return { ...record, affiliate_id: null, state, lines: [], adjustments: [], rules: [] }
  }
  const computation = await openPeriod(env, grant, session, periodOf(day, 'month'))
  const found = await evaluateRecord(computation, record, day)
  if (!found) throw new ApiError('not_found', { detail: NO_RECORD })
  const { report, earnings, affiliates, closingsOf } = found
  const { affiliate_id, state, rules } = report
  const [lines, adjustments] = await Promise.all([
    Promise.all(earnings.map((one) => presentEarning(reader, one, closingsOf))),
    adjustmentsOf(reader, record, affiliates, periodOf(day, 'month').id),
  ])
  return { ...record, affiliate_id, state, lines, adjustments, rules }
}

/** Returns a line with what was approved of it, if its period is closed. */
async function presentEarning(
  reader: AccountReader,
  earning: Earning,
  closingsOf: ClosingsOf,
): Promise<EarnedLine> {
  const { affiliate_id, plan, period: text, ...line } = earning
  const statement = await statementId(affiliate_id, plan, text)
  const id = await lineId(statement, line, 0)
  const period = parsePeriod(text)
  const isClosed = closingsOf(affiliate_id, plan).some(({ last }) => last >= (period?.last ?? 0))
  if (!period || !isClosed) return { line_id: id, ...earning }
  const item = await findItem(reader.session, reader.grant.account, statement, id)
  const stored = item && storedLine(item)
  const computed_at = item?.computed_at ?? null
  const place = { id, statement, affiliate_id, plan, period, computed_at, stored }
  return { line_id: id, ...earning, closed: await closedLine(reader, place) }
}

/** Returns the adjustments that name a record as their cause. */
async function adjustmentsOf(
  { grant, session }: AccountReader,
  { resource, id }: Pick<RecordEarnings, 'resource' | 'id'>,
  affiliates: readonly string[],
  period: string,
): Promise<RecordAdjustment[]> {
  const corrected = { affiliates, resource, id, period }
  const found = await readRecordCorrections(session, grant.account, corrected)
  return found.map(({ of_period, of_line, ...one }) => ({
    ...one,
    of: { period: of_period, line: of_line },
  }))
}
