import { decode, encode } from '../../db/column-types.ts'
import { readRecordCorrections } from '../../db/commission/books/stored-items.ts'
import { type FactKey, findFactPlace } from '../../db/commission/fact-keys.ts'
import { readSignups } from '../../db/commission/facts.ts'
import type { Databases } from '../../db/commission/histories.ts'
import { customers } from '../../db/schema.ts'
import { ApiError } from '../../errors.ts'
import { dayText, type Period, parsePeriod, periodOf } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import { add, type Decimal, decimal, plainText } from '../engine/decimal.ts'
import { type Earning, earningsOf } from '../engine/earnings.ts'
import {
  asOf,
  type EvaluatedCustomer,
  evaluateCustomer,
  factEvaluator,
} from '../engine/evaluate.ts'
import { type FactOutcome, type FactReport, reportFacts } from '../engine/fact-reports.ts'
import { compareText, type FactResource } from '../engine/facts.ts'
import { type ClosingsOf, readClosingsOf } from '../statements/books.ts'
import { type Computation, type RateView, rateViews } from '../statements/compute.ts'
import { lineId, statementId } from '../statements/ids.ts'
import { openPeriod } from '../statements/on-request.ts'
import type { CustomerLine, RecordEarnings } from './answers.ts'
import { type AccountReader, closedLine } from './explain.ts'
import { recordQueries } from './record-queries.ts'
import { evaluatedCustomers } from './unearned.ts'

/** What a record comes to, and when the periods of the affiliates concerned were closed. */
interface EvaluatedRecord {
  readonly report: FactReport
  readonly earnings: readonly Earning[]
  readonly affiliates: readonly string[]
  readonly closingsOf: ClosingsOf
}

/** A record, by the key that facts have. */
interface RecordOfCustomer {
  readonly resource: FactResource
  readonly id: string
  readonly customer_id: string
}

/** Evaluates a record by all that is known now; returns null if it is not a fact. */
async function evaluateRecord(
  computation: Computation,
  { resource, id, customer_id }: RecordOfCustomer,
  day: number,
): Promise<EvaluatedRecord | null> {
  const queries = recordQueries(computation, { first: day, last: day })
  const onDay = { ...periodOf(day, 'month'), first: day, last: Number.POSITIVE_INFINITY }
  const isRecord = ({ fact }: FactReport): boolean => fact.resource === resource && fact.id === id
  const reportIn = (context: Context, evaluated: EvaluatedCustomer): FactReport | undefined =>
    reportFacts(context, factEvaluator(context), evaluated, onDay).find(isRecord)
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    const report = reportIn(computation.context, evaluated)
    if (report) return evaluateClosed(computation, evaluated, report, reportIn)
  }
  return null
}

/**
 * Evaluates a record again for affiliates and plans whose closed periods see other rates than those of
 * now.
 */
async function evaluateClosed(
  computation: Computation,
  evaluated: EvaluatedCustomer,
  report: FactReport,
  reportIn: (context: Context, evaluated: EvaluatedCustomer) => FactReport | undefined,
): Promise<EvaluatedRecord> {
  const { source, context } = computation
  const { fact, affiliate_id } = report
  const now = earningsOf(context, evaluated, fact)
  const own = affiliate_id === null ? [] : [affiliate_id]
  const affiliates = [...new Set([...own, ...now.map((one) => one.affiliate_id)])]
  const closingsOf = await readClosingsOf(source, affiliates)
  const views = await rateViews(computation, { closingsOf }, affiliates)
  const covers = (view: RateView, affiliate: string, name: string | null): boolean => {
    const plan = source.inForce.plans.get(name ?? '')
    return plan !== undefined && view.covers({ affiliate, plan })
  }
  const seen = views.map((view) => {
    const again =
      view.context === context ? evaluated : evaluateCustomer(view.context, evaluated.customer)
    const isOwn = covers(view, affiliate_id ?? '', report.state.plan)
    return {
      report: isOwn ? reportIn(view.context, again) : undefined,
      earnings: earningsOf(view.context, again, fact).filter((one) =>
        covers(view, one.affiliate_id, one.plan),
      ),
    }
  })
  return {
    report: seen.find((one) => one.report)?.report ?? report,
    earnings: seen.flatMap(({ earnings }) => earnings),
    affiliates,
    closingsOf,
  }
}

/** The key of the record whose earnings are computed. */
export type RecordKey = FactKey | { readonly resource: 'customers'; readonly id: string }

type EarnedLine = RecordEarnings['lines'][number]
type RecordAdjustment = RecordEarnings['adjustments'][number]

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
export async function readEarnings(
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
  const place = { affiliate_id, plan, period: text, line: id }
  return { line_id: id, ...earning, closed: await closedLine(reader, statement, place) }
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

/** What the customer's records add to a line. */
interface Added {
  readonly earning: Earning
  records: number
  base: Decimal | null
  units: Decimal | null
}

/**
 * Returns the lines that count records of a customer of a period, by all that is known now, in the order
 * of affiliate, plan, period, rule and version.
 */
export async function linesOfCustomer(
  computation: Computation,
  period: Period,
  customer_id: string,
): Promise<CustomerLine[]> {
  const { context } = computation
  const lines = new Map<string, Added>()
  const queries = recordQueries(computation, period)
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    const known = asOf(evaluated, period.last)
    for (const fact of known.customer.facts) {
      if (fact.day < period.first || fact.day > period.last) continue
      for (const earning of earningsOf(context, known, fact)) addEarning(lines, earning)
    }
  }
  const presented = await Promise.all([...lines.values()].map(presentLine))
  return presented.sort(
    (a, b) =>
      compareText(a.affiliate_id, b.affiliate_id) ||
      compareText(a.plan, b.plan) ||
      compareText(a.period, b.period) ||
      compareText(a.rule, b.rule) ||
      a.version - b.version,
  )
}

function addEarning(lines: Map<string, Added>, earning: Earning): void {
  const { affiliate_id, plan, version, rule, period, scope, base, units } = earning
  const key = JSON.stringify([affiliate_id, plan, version, rule, period, scope])
  const line = lines.get(key) ?? { earning, records: 0, base: null, units: null }
  line.records += 1
  line.base = plus(line.base, base)
  line.units = plus(line.units, units)
  lines.set(key, line)
}

const plus = (sum: Decimal | null, text: string | null): Decimal | null =>
  text === null ? sum : add(sum ?? decimal('0'), decimal(text))

async function presentLine({ earning, records, base, units }: Added): Promise<CustomerLine> {
  const { as: _, ...line } = earning
  const { affiliate_id, plan, period } = line
  const statement_id = await statementId(affiliate_id, plan, period)
  return {
    statement_id,
    line_id: await lineId(statement_id, line, 0),
    ...line,
    records,
    base: base && plainText(base),
    units: units && plainText(units),
  }
}
