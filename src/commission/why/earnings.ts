import type { Databases } from '../../ingest/db/histories.ts'
import { ApiError } from '../../platform/errors.ts'
import { type FactKey, findFactPlace } from '../db/fact-keys.ts'
import { readSignups } from '../db/facts.ts'
import { dayText, type Period, periodOf } from '../engine/calendar.ts'
import { add, type Decimal, decimal, plainText } from '../engine/decimal.ts'
import { type Earning, earningsOf } from '../engine/earnings.ts'
import { asOf, factEvaluator } from '../engine/evaluate.ts'
import { type FactOutcome, type FactReport, reportFacts } from '../engine/fact-reports.ts'
import { compareText, type FactResource } from '../engine/facts.ts'
import type { Computation } from '../statements/compute.ts'
import { lineId, statementId } from '../statements/ids.ts'
import { openPeriod } from '../statements/on-request.ts'
import type { CustomerLine, RecordEarnings } from './answers.ts'
import type { AccountReader } from './explain.ts'
import { recordQueries } from './record-queries.ts'
import { evaluatedCustomers } from './unearned.ts'

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
): Promise<{ readonly report: FactReport; readonly earnings: readonly Earning[] } | null> {
  const { context } = computation
  const queries = recordQueries(computation, { first: day, last: day })
  const onDay = { ...periodOf(day, 'month'), first: day, last: Number.POSITIVE_INFINITY }
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    const report = reportFacts(context, factEvaluator(context), evaluated, onDay).find(
      ({ fact }) => fact.resource === resource && fact.id === id,
    )
    if (report) return { report, earnings: earningsOf(context, evaluated, report.fact) }
  }
  return null
}

/** The key of the record whose earnings are computed. */
export type RecordKey = FactKey | { readonly resource: 'customers'; readonly id: string }

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
    const [signup] = await readSignups(db, account, [key.id])
    return signup ? { customer_id: key.id, day: signup.day, isHeld: false } : null
  }
  const found = await findFactPlace(db, account, key)
  return (
    found && {
      customer_id: found.customer_id,
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
    return { ...record, affiliate_id: null, state, lines: [], rules: [] }
  }
  const computation = await openPeriod(env, grant, session, periodOf(day, 'month'))
  const found = await evaluateRecord(computation, record, day)
  if (!found) throw new ApiError('not_found', { detail: NO_RECORD })
  const { report, earnings } = found
  const { affiliate_id, state, rules } = report
  const lines = await Promise.all(
    earnings.map(async (one) => ({ line_id: (await idsOf(one)).line_id, ...one })),
  )
  return { ...record, affiliate_id, state, lines, rules }
}

/** Returns the ids of the line that counts a record and of its statement. */
async function idsOf(
  earning: Pick<Earning, 'affiliate_id' | 'plan' | 'period' | 'rule' | 'version' | 'scope'>,
) {
  const statement_id = await statementId(earning.affiliate_id, earning.plan, earning.period)
  return { statement_id, line_id: await lineId(statement_id, earning, 0) }
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
  return {
    ...(await idsOf(line)),
    ...line,
    records,
    base: base && plainText(base),
    units: units && plainText(units),
  }
}
