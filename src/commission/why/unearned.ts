import { decode } from '../../db/column-types.ts'
import { readHeldFacts } from '../../db/commission/fact-keys.ts'
import type { RowKind } from '../../db/commission/fact-readings.ts'
import type { FACT_TABLES } from '../../db/commission/fact-tables.ts'
import { customers } from '../../db/schema.ts'
import type { Computation } from '../drafts/computation.ts'
import { TooManyFacts } from '../drafts/compute.ts'
import { MAX_FRESH_FACTS } from '../drafts/limits.ts'
import type { Period } from '../engine/calendar.ts'
import { compareText } from '../engine/facts.ts'
import { asOf } from '../engine/judge.ts'
import { factJudge } from '../engine/judge-uplines.ts'
import type { Reason } from '../engine/reasons.ts'
import {
  addToGroups,
  type Cause,
  type FactReport,
  type Groups,
  listGroups,
  reportFacts,
  type UnearnedRecord,
  unearnedRecord,
} from '../engine/unearned.ts'
import { toFact } from '../facts/to-facts.ts'
import { judgedCustomers, recordReadings, type Whose } from './open.ts'

/** Which facts are asked for. */
export interface UnearnedQuery extends Whose {
  readonly reason?: Reason | undefined
}

/** Yields the facts of a period with what became of them, those that wait for their customer last. */
async function* factReports(
  computation: Computation,
  period: Period,
  query: UnearnedQuery,
): AsyncGenerator<FactReport> {
  const judge = factJudge(computation.context)
  const readings = recordReadings(computation, period)
  const { affiliate_id } = query
  for await (const judged of judgedCustomers(computation, query, readings)) {
    const known = asOf(judged, period.last)
    for (const report of reportFacts(computation.context, judge, known, period)) {
      if (affiliate_id === undefined || report.affiliate_id === affiliate_id) yield report
    }
  }
  // Whose customer is not known has no affiliate yet.
  if (affiliate_id === undefined) yield* heldReports(computation, period, query)
}

type Table = keyof typeof FACT_TABLES

const KINDS: Readonly<Record<Table, RowKind>> = {
  transactions: 'transactions',
  activity: 'activity',
  events: 'events',
}

async function* heldReports(
  { source }: Computation,
  period: Period,
  { customer_id }: Whose,
): AsyncGenerator<FactReport> {
  const { db, account, settings } = source
  const tables: Table[] = account.vertical === 'igaming' ? ['events'] : ['transactions', 'activity']
  const found = await readHeldFacts(db, account.id, tables, period, MAX_FRESH_FACTS + 1)
  for (const [index, table] of tables.entries()) {
    const rows = found[index] ?? []
    if (rows.length > MAX_FRESH_FACTS) throw new TooManyFacts()
    for (const row of rows) {
      const id = String(decode(customers.customer_id, row.customer_id))
      if (customer_id !== undefined && id !== customer_id) continue
      const fact = toFact(KINDS[table], row, id, settings)
      yield { fact, customer_id: id, affiliate_id: null, state: HELD, rules: [] }
    }
  }
}

const HELD: Cause = { reason: 'held', plan: null, version: null, rule: null, condition: null }

/** Returns the groups of facts that no line counts, those by rule, and what is counted. */
export async function groupUnearned(
  computation: Computation,
  period: Period,
  query: UnearnedQuery,
) {
  const unearned: Groups = new Map()
  const byRule: Groups = new Map()
  const counted: Groups = new Map()
  for await (const { fact, state, rules } of factReports(computation, period, query)) {
    if (state.reason === 'counted') addToGroups(counted, { ...HELD, reason: 'counted' }, fact)
    else if (isAsked(state, query)) addToGroups(unearned, state, fact)
    for (const cause of rules) {
      if (cause.reason !== 'counted' && isAsked(cause, query)) addToGroups(byRule, cause, fact)
    }
  }
  return {
    period: period.id,
    data: listGroups(unearned),
    rules: listGroups(byRule),
    counted: listGroups(counted).map(({ resource, currency, count, sums }) => ({
      ...{ resource, currency, count, sums },
    })),
  }
}

const isAsked = ({ reason }: Cause, query: UnearnedQuery): boolean =>
  query.reason === undefined || reason === query.reason

/**
 * Returns the records that earned nothing, in order of resource and id. With a reason also those that
 * one rule counts and another one, for this reason, does not.
 */
export async function listUnearned(
  computation: Computation,
  period: Period,
  query: UnearnedQuery,
): Promise<UnearnedRecord[]> {
  const records: UnearnedRecord[] = []
  for await (const report of factReports(computation, period, query)) {
    const { state, rules } = report
    const isUnearned = state.reason !== 'counted' && isAsked(state, query)
    const isOfRule = query.reason !== undefined && rules.some((cause) => isAsked(cause, query))
    if (isUnearned || isOfRule) records.push(unearnedRecord(report))
  }
  return records.sort((a, b) => compareText(a.resource, b.resource) || compareText(a.id, b.id))
}
