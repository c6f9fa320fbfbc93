import type { FactStatements } from './fact-statements.ts'
import { EVERYTHING, FACT_LIMITS, type FactSelection, type StatusMembers } from './fact-tables.ts'
import * as sql from './facts-sql.ts'

/** A kind of rows. Rows of a `summed_…` kind add up several records. */
export type RowKind =
  | 'transactions'
  | 'summed_transactions'
  | 'activity'
  | 'summed_activity'
  | 'events'
  | 'summed_events'

/** A query for the rows of one kind. */
export interface FactQuery {
  readonly kind: RowKind
  readonly statements: FactStatements
  /** The values of the statements besides `:account`, `:days` and `:ids`. */
  readonly values: Readonly<Record<string, unknown>>
  /** The days whose records are read, in days since 1970. */
  readonly days: readonly number[]
}

const factQuery = (
  kind: RowKind,
  statements: FactStatements,
  days: readonly number[],
  values: Record<string, unknown> = {},
): FactQuery => ({ kind, statements, days, values })

/** The days to read from each table: `single` for records read one by one, `summed` for sums. */
export type FactDays = Readonly<
  Record<
    'transactions' | 'activity' | 'events',
    { readonly single: readonly number[]; readonly summed: readonly number[] }
  >
>

/**
 * Returns the queries of a selection for computing earnings: they leave out the columns that no plan
 * uses, such as the delivery.
 */
export function earningQueries(
  selection: FactSelection | typeof EVERYTHING,
  days: FactDays,
  members: StatusMembers,
): FactQuery[] {
  const queries = factQueries(selection, days, members)
  if (selection === EVERYTHING) return queries
  const activity = sql.earningActivity(selection.activity.fields)
  return queries.map((one) => {
    if (one.kind === 'transactions') return { ...one, statements: sql.EARNING_TRANSACTIONS }
    if (one.kind === 'events') return { ...one, statements: sql.earningEvents(hasAny(members)) }
    return one.kind === 'activity' ? { ...one, statements: activity } : one
  })
}

const hasAny = (members: StatusMembers): boolean => Object.keys(members).length > 0

/** Returns the values by which statements find the status of events. */
const statusValues = (members: StatusMembers): Record<string, string> =>
  hasAny(members) ? { status_members: JSON.stringify(members) } : {}

/**
 * Returns the queries that read a selection on some days. Leaves out queries without days.
 *
 * @param members The members with the status of events.
 */
export function factQueries(
  selection: FactSelection | typeof EVERYTHING,
  days: FactDays,
  members: StatusMembers,
): FactQuery[] {
  const { transactions, activity, events } = days
  const queries =
    selection === EVERYTHING
      ? [
          factQuery('transactions', sql.ALL_TRANSACTIONS, transactions.single),
          factQuery('activity', sql.SINGLE_ACTIVITY, activity.single),
          factQuery('events', sql.allEvents(hasAny(members)), events.single, statusValues(members)),
        ]
      : [
          ...transactionQueries(selection, days),
          ...activityQueries(selection, days),
          ...eventQueries(selection, days, members),
        ]
  return queries.filter((one) => one.days.length > 0)
}

function transactionQueries(
  { transactions, statuses }: FactSelection,
  { transactions: days }: FactDays,
): FactQuery[] {
  const { single, summed, currency, subtypes } = transactions
  const list = (types: readonly string[], words: readonly string[]) => ({
    types: JSON.stringify(types),
    statuses: JSON.stringify(words),
    currency,
  })
  const singleValues = list(single, statuses.single)
  const summedValues = list(summed, statuses.summed)
  return [
    ...(single.length > 0
      ? [factQuery('transactions', sql.SINGLE_TRANSACTIONS, days.single, singleValues)]
      : []),
    ...(summed.length > 0
      ? [
          factQuery(
            'summed_transactions',
            sql.summedTransactions(subtypes, transactions.signed),
            days.summed,
            summedValues,
          ),
        ]
      : []),
  ]
}

function activityQueries(
  { activity: { single, summed, instruments } }: FactSelection,
  { activity: days }: FactDays,
): FactQuery[] {
  if (single) return [factQuery('activity', sql.SINGLE_ACTIVITY, days.single)]
  if (summed.length === 0) return []
  // A customer has at most one record for a day, instrument and currency: there is nothing to sum.
  if (instruments) return [factQuery('activity', sql.SINGLE_ACTIVITY, days.summed)]
  return [factQuery('summed_activity', sql.summedActivity(summed), days.summed)]
}

function eventQueries(
  { events: { single, summed, kpis, outflows }, statuses }: FactSelection,
  { events: days }: FactDays,
  members: StatusMembers,
): FactQuery[] {
  const hasStatus = hasAny(members)
  const values = (names: readonly string[], words: readonly string[]) => ({
    types: JSON.stringify(names),
    ...statusValues(members),
    ...(hasStatus && { statuses: JSON.stringify(words) }),
  })
  const singleValues = values(single, statuses.single)
  const summedValues = {
    ...values(summed, statuses.summed),
    ...(outflows.length > 0 && { outflows: JSON.stringify(outflows) }),
    ...Object.fromEntries(kpis.map((name, i) => [`kpi_${i}`, name])),
  }
  const sums = () => sql.summedEvents(kpis.length, hasStatus, outflows.length > 0)
  return [
    ...(single.length > 0
      ? [factQuery('events', sql.singleEvents(hasStatus), days.single, singleValues)]
      : []),
    ...(summed.length > 0 ? [factQuery('summed_events', sums(), days.summed, summedValues)] : []),
  ]
}

/** Returns the maximum number of customers for one call of `readFactRows`. */
export function customersPerBatch(queries: readonly FactQuery[]): number {
  const days = Math.max(1, ...queries.map((one) => one.days.length))
  return Math.max(1, Math.min(FACT_LIMITS.customers, Math.floor(FACT_LIMITS.searches / days)))
}
