import type { FactStatements } from './fact-statements.ts'
import { EVERYTHING, FACT_LIMITS, type FactSelection } from './fact-tables.ts'
import * as sql from './facts-sql.ts'

/** Which kind of rows were read. */
export type RowKind =
  | 'transactions'
  | 'summed_transactions'
  | 'activity'
  | 'summed_activity'
  | 'events'
  | 'summed_events'

/** The statements of a reading, with the days that it is for. */
export interface FactReading {
  readonly kind: RowKind
  readonly statements: FactStatements
  readonly values: Readonly<Record<string, unknown>>
  readonly days: readonly number[]
}

const reading = (
  kind: RowKind,
  statements: FactStatements,
  days: readonly number[],
  values: Record<string, unknown> = {},
): FactReading => ({ kind, statements, days, values })

/** The days with records by table: of records that are read one by one, and of those summed. */
export type FactDays = Readonly<
  Record<
    'transactions' | 'activity' | 'events',
    { readonly single: readonly number[]; readonly summed: readonly number[] }
  >
>

/**
 * Returns the readings of what earns: those of a selection without deliveries and without amounts that
 * no plan names.
 */
export function earningReadings(
  selection: FactSelection | typeof EVERYTHING,
  days: FactDays,
): FactReading[] {
  const readings = factReadings(selection, days)
  if (selection === EVERYTHING) return readings
  const activity = sql.earningActivity(selection.activity.fields)
  return readings.map((one) => {
    if (one.kind === 'transactions') return { ...one, statements: sql.EARNING_TRANSACTIONS }
    if (one.kind === 'events') return { ...one, statements: sql.EARNING_EVENTS }
    return one.kind === 'activity' ? { ...one, statements: activity } : one
  })
}

/** Returns the readings of a selection; those that would find nothing are left out. */
export function factReadings(
  selection: FactSelection | typeof EVERYTHING,
  days: FactDays,
): FactReading[] {
  const { transactions, activity, events } = days
  const readings =
    selection === EVERYTHING
      ? [
          reading('transactions', sql.ALL_TRANSACTIONS, transactions.single),
          reading('activity', sql.SINGLE_ACTIVITY, activity.single),
          reading('events', sql.ALL_EVENTS, events.single),
        ]
      : [
          ...transactionReadings(selection, days),
          ...activityReadings(selection, days),
          ...eventReadings(selection, days),
        ]
  return readings.filter((one) => one.days.length > 0)
}

function transactionReadings(
  { transactions, statuses }: FactSelection,
  { transactions: days }: FactDays,
): FactReading[] {
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
      ? [reading('transactions', sql.SINGLE_TRANSACTIONS, days.single, singleValues)]
      : []),
    ...(summed.length > 0
      ? [
          reading(
            'summed_transactions',
            sql.summedTransactions(subtypes),
            days.summed,
            summedValues,
          ),
        ]
      : []),
  ]
}

function activityReadings(
  { activity: { single, summed, instruments } }: FactSelection,
  { activity: days }: FactDays,
): FactReading[] {
  if (single) return [reading('activity', sql.SINGLE_ACTIVITY, days.single)]
  if (summed.length === 0) return []
  // A customer has one record of a day, instrument and currency: there is nothing to sum.
  if (instruments) return [reading('activity', sql.SINGLE_ACTIVITY, days.summed)]
  return [reading('summed_activity', sql.summedActivity(summed), days.summed)]
}

function eventReadings(
  { events: { single, summed, kpis } }: FactSelection,
  { events: days }: FactDays,
): FactReading[] {
  const types = (names: readonly string[]) => ({ types: JSON.stringify(names) })
  const values = {
    ...types(summed),
    ...Object.fromEntries(kpis.map((name, i) => [`kpi_${i}`, name])),
  }
  return [
    ...(single.length > 0
      ? [reading('events', sql.SINGLE_EVENTS, days.single, types(single))]
      : []),
    ...(summed.length > 0
      ? [reading('summed_events', sql.summedEvents(kpis.length), days.summed, values)]
      : []),
  ]
}

/** Returns how many customers one call of `readFactRows` may have. */
export function customersPerReading(readings: readonly FactReading[]): number {
  const days = Math.max(1, ...readings.map((one) => one.days.length))
  return Math.max(1, Math.min(FACT_LIMITS.customers, Math.floor(FACT_LIMITS.searches / days)))
}
