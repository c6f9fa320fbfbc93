import { decode } from '../../db/column-types.ts'
import { readHeldFacts } from '../../db/commission/fact-keys.ts'
import type { FACT_TABLES } from '../../db/commission/fact-tables.ts'
import { customers } from '../../db/schema.ts'
import type { Computation } from '../drafts/computation.ts'
import { TooManyFacts } from '../drafts/compute.ts'
import { FRESH_LIMITS } from '../drafts/limits.ts'
import type { Period } from '../engine/calendar.ts'
import { asOf } from '../engine/evaluate.ts'
import { factEvaluator } from '../engine/evaluate-uplines.ts'
import { type FactOutcome, type FactReport, reportFacts } from '../engine/fact-reports.ts'
import { compareText } from '../engine/facts.ts'
import type { Reason } from '../engine/reasons.ts'
import {
  addToGroups,
  type Groups,
  listGroups,
  type UnearnedRecord,
  unearnedRecord,
} from '../engine/unearned.ts'
import { toFact } from '../facts/to-facts.ts'
import { type CustomerFilter, evaluatedCustomers } from './evaluated-customers.ts'
import { recordQueries } from './record-queries.ts'

/** Whose facts are listed, and with which reason. */
export interface UnearnedFilter extends CustomerFilter {
  readonly reason?: Reason | undefined
}

/**
 * Yields the facts of a period with what the plans made of them; last, those that wait for a
 * customer.
 */
async function* factReports(
  computation: Computation,
  period: Period,
  filter: UnearnedFilter,
): AsyncGenerator<FactReport> {
  const evaluator = factEvaluator(computation.context)
  const { affiliate_id } = filter
  const queries = recordQueries(computation, period)
  for await (const evaluated of evaluatedCustomers(computation, filter, queries)) {
    const known = asOf(evaluated, period.last)
    for (const report of reportFacts(computation.context, evaluator, known, period)) {
      if (affiliate_id === undefined || report.affiliate_id === affiliate_id) yield report
    }
  }
  // A record whose customer is not stored yet has no affiliate.
  if (affiliate_id === undefined) yield* heldReports(computation, period, filter)
}

type Table = keyof typeof FACT_TABLES

/** Yields the facts of a period whose customer is not stored yet. */
async function* heldReports(
  { source }: Computation,
  period: Period,
  { customer_id }: CustomerFilter,
): AsyncGenerator<FactReport> {
  const { db, account, settings } = source
  const tables: Table[] = account.vertical === 'igaming' ? ['events'] : ['transactions', 'activity']
  const found = await readHeldFacts(db, account.id, tables, period, FRESH_LIMITS.facts + 1)
  for (const [index, table] of tables.entries()) {
    const rows = found[index] ?? []
    if (rows.length > FRESH_LIMITS.facts) throw new TooManyFacts()
    for (const row of rows) {
      const id = String(decode(customers.customer_id, row.customer_id))
      if (customer_id !== undefined && id !== customer_id) continue
      const fact = toFact(table, row, id, settings)
      yield { fact, customer_id: id, affiliate_id: null, state: HELD, rules: [] }
    }
  }
}

const NO_RULE = { plan: null, version: null, rule: null, condition: null }

const COUNTED: FactOutcome = { ...NO_RULE, reason: 'counted' }

const HELD: FactOutcome = { ...NO_RULE, reason: 'held' }

/**
 * Returns facts of a period in groups: `data`, those that no line counts; `rules`, those that a rule does
 * not count; `counted`, those that a line counts.
 */
export async function groupUnearned(
  computation: Computation,
  period: Period,
  filter: UnearnedFilter,
) {
  const unearned: Groups = new Map()
  const byRule: Groups = new Map()
  const counted: Groups = new Map()
  for await (const { fact, state, rules } of factReports(computation, period, filter)) {
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
  filter.reason === undefined || reason === filter.reason

/**
 * Returns the records that earned nothing, in order of resource and id. If the filter has a reason, also
 * returns the records that some rule does not count for this reason although another rule counts them.
 */
export async function listUnearned(
  computation: Computation,
  period: Period,
  filter: UnearnedFilter,
): Promise<UnearnedRecord[]> {
  const records: UnearnedRecord[] = []
  for await (const report of factReports(computation, period, filter)) {
    const { state, rules } = report
    const isUnearned = state.reason !== 'counted' && matchesReason(state, filter)
    const isUncountedByRule =
      filter.reason !== undefined && rules.some((outcome) => matchesReason(outcome, filter))
    if (isUnearned || isUncountedByRule) records.push(unearnedRecord(report))
  }
  return records.sort((a, b) => compareText(a.resource, b.resource) || compareText(a.id, b.id))
}
