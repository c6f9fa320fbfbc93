import { compareText } from '../../platform/compare-text.ts'
import type { Period } from '../../platform/money/calendar.ts'
import { readHeldFacts } from '../db/fact-keys.ts'
import type { FACT_TABLES } from '../db/fact-tables.ts'
import type { FactQuery } from '../db/facts.ts'
import { asOf, evaluateCustomer } from '../engine/customer.ts'
import { type EvaluatedCustomer, payingEntries } from '../engine/judge.ts'
import { type QualificationReport, reportOnce } from '../engine/once-report.ts'
import { type FactOutcome, type FactReport, reportFacts } from '../engine/records.ts'
import {
  addToGroups,
  type Groups,
  listGroups,
  type UnearnedRecord,
  unearnedRecord,
} from '../engine/unearned.ts'
import { REQUEST_LIMITS } from '../limits.ts'
import type { OpenAccount } from '../run/account.ts'
import { customersOf, readCustomers, TooManyFacts, yieldAfterFacts } from '../run/customers.ts'
import { toFact } from '../run/to-facts.ts'
import type { Reason } from '../shapes/reasons.ts'
import { onceQueries, recordQueries } from './record-queries.ts'

/** Whose facts are read: one customer's, those of an affiliate's customers, or everyone's. */
export interface CustomerFilter {
  readonly customer_id?: string | undefined
  readonly affiliate_id?: string | undefined
}

/**
 * Reads the customers that match a filter, applies the rules of their plans, and yields them one by one.
 *
 * @throws TooManyFacts if they have more than `REQUEST_LIMITS.facts` facts.
 */
export async function* evaluatedCustomers(
  account: OpenAccount,
  { customer_id, affiliate_id }: CustomerFilter,
  queries: readonly FactQuery[],
): AsyncGenerator<EvaluatedCustomer> {
  const batches =
    customer_id === undefined
      ? customersOf(account, affiliate_id === undefined ? null : [affiliate_id], queries)
      : [await readCustomers(account, queries, { ids: [customer_id], share: 0 })]
  let facts = 0
  const yieldAfter = yieldAfterFacts()
  for await (const customers of batches) {
    for (const customer of customers) {
      for (const { count } of customer.facts) facts += count
      if (facts > REQUEST_LIMITS.facts) throw new TooManyFacts()
      const pause = yieldAfter(customer.facts.length)
      if (pause) await pause
      yield evaluateCustomer(account, customer)
    }
  }
}

/** A reason, or the two of facts without a rate: the first becomes the second once later rates are published. */
export type ReasonFilter = Reason | typeof NO_RATE

/** The value of `reason` that both reasons of facts without a rate match. */
export const NO_RATE = 'no_rate'

/** Whose facts are listed, and with which reason. */
interface UnearnedFilter extends CustomerFilter {
  readonly reason?: ReasonFilter | undefined
}

/**
 * Yields the facts of a period with what the plans made of them; last, those that wait for a
 * customer.
 */
async function* factReports(
  account: OpenAccount,
  period: Period,
  filter: UnearnedFilter,
): AsyncGenerator<FactReport> {
  const entriesOf = payingEntries(account)
  const { affiliate_id } = filter
  const queries = recordQueries(account, period)
  for await (const evaluated of evaluatedCustomers(account, filter, queries)) {
    const known = asOf(evaluated, period.last)
    for (const report of reportFacts(account, entriesOf, known, period)) {
      if (affiliate_id === undefined || report.affiliate_id === affiliate_id) yield report
    }
  }
  // A record whose customer is not stored yet has no affiliate.
  if (affiliate_id === undefined) yield* heldReports(account, period, filter)
}

type Table = keyof typeof FACT_TABLES

/** Yields the facts of a period whose customer is not stored yet. */
async function* heldReports(
  { db, row, settings }: OpenAccount,
  period: Period,
  { customer_id }: CustomerFilter,
): AsyncGenerator<FactReport> {
  const tables: Table[] = row.vertical === 'igaming' ? ['events'] : ['transactions', 'activity']
  const found = await readHeldFacts(db, row.id, tables, period, REQUEST_LIMITS.facts + 1)
  for (const [index, table] of tables.entries()) {
    const rows = found[index] ?? []
    if (rows.length > REQUEST_LIMITS.facts) throw new TooManyFacts()
    for (const held of rows) {
      const id = String(held.customer_id)
      if (customer_id !== undefined && id !== customer_id) continue
      const fact = toFact(table, held, id, settings)
      yield { fact, customer_id: id, affiliate_id: null, state: HELD, rules: [] }
    }
  }
}

const NO_RULE = { plan: null, version: null, rule: null, condition: null }

const COUNTED: FactOutcome = { ...NO_RULE, reason: 'counted' }

/** The outcome of a record that waits for its customer. */
export const HELD: FactOutcome = { ...NO_RULE, reason: 'held' }

/**
 * Returns facts of a period in groups: `data`, those that no line counts; `rules`, those that a rule does
 * not count; `counted`, those that a line counts.
 */
export async function groupUnearned(account: OpenAccount, period: Period, filter: UnearnedFilter) {
  const unearned: Groups = new Map()
  const byRule: Groups = new Map()
  const counted: Groups = new Map()
  for await (const { fact, state, rules } of factReports(account, period, filter)) {
    if (state.reason === 'counted') addToGroups(counted, COUNTED, fact)
    else if (matchesReason(state, filter)) addToGroups(unearned, state, fact)
    for (const outcome of rules) {
      if (outcome.reason !== 'counted' && matchesReason(outcome, filter))
        addToGroups(byRule, outcome, fact)
    }
  }
  return {
    period: period.id,
    data: listGroups(unearned),
    rules: listGroups(byRule),
    counted: listGroups(counted).map(
      ({ resource, transaction_type, eventname, currency, count, sums }) => ({
        resource,
        transaction_type,
        eventname,
        currency,
        count,
        sums,
      }),
    ),
  }
}

const matchesReason = ({ reason }: FactOutcome, filter: UnearnedFilter): boolean =>
  filter.reason === undefined ||
  reason === filter.reason ||
  (filter.reason === NO_RATE && (reason === 'fx_pending' || reason === 'fx_missing'))

/**
 * Returns the records that earned nothing, in order of resource and id. If the filter has a reason, also
 * returns the records that some rule does not count for this reason although another rule counts them.
 */
export async function listUnearned(
  account: OpenAccount,
  period: Period,
  filter: UnearnedFilter,
): Promise<UnearnedRecord[]> {
  const records: UnearnedRecord[] = []
  for await (const report of factReports(account, period, filter)) {
    const { state, rules } = report
    const isUnearned = state.reason !== 'counted' && matchesReason(state, filter)
    const isUncountedByRule =
      filter.reason !== undefined && rules.some((outcome) => matchesReason(outcome, filter))
    if (isUnearned || isUncountedByRule) records.push(unearnedRecord(report))
  }
  return records.sort((a, b) => compareText(a.resource, b.resource) || compareText(a.id, b.id))
}

/** Which customers, rules and statuses are listed. */
interface QualificationFilter extends CustomerFilter {
  readonly plan?: string | undefined
  readonly rule?: string | undefined
  readonly status?: QualificationReport['status'] | undefined
}

/** Returns customers under `once` rules as of the end of a period, by customer, plan and rule. */
export async function listQualifications(
  account: OpenAccount,
  { last }: Period,
  filter: QualificationFilter,
): Promise<QualificationReport[]> {
  const { affiliate_id, plan, rule, status } = filter
  const found: QualificationReport[] = []
  const queries = onceQueries(account, account.range.days)
  for await (const evaluated of evaluatedCustomers(account, filter, queries)) {
    if (evaluated.customer.signupDay > last) continue
    for (const report of reportOnce(account, evaluated, last)) {
      const isWanted =
        (affiliate_id === undefined || report.affiliate_id === affiliate_id) &&
        (plan === undefined || report.plan === plan) &&
        (rule === undefined || report.rule === rule) &&
        (status === undefined || report.status === status)
      if (isWanted) found.push(report)
    }
  }
  return found.sort(
    (a, b) =>
      compareText(a.customer_id, b.customer_id) ||
      compareText(a.plan, b.plan) ||
      compareText(a.rule, b.rule) ||
      a.version - b.version,
  )
}
