import { EVERYTHING, mapFactTables } from '../db/fact-tables.ts'
import { type FactDays, type FactQuery, factQueries } from '../db/facts.ts'
import type { Period } from '../engine/calendar.ts'
import type { Computation } from '../statements/compute.ts'

/** Days since 1970, from the first to the last. */
type Days = Pick<Period, 'first' | 'last'>

/** Returns days, as those on which records are read one by one, that meet a condition. */
const singleDays = (days: FactDays, isRead: (day: number) => boolean): FactDays =>
  mapFactTables(days, ({ single }) => ({ single: single.filter(isRead), summed: [] }))

/**
 * Returns queries of all records of some days, and of the records that `once` rules use on other
 * days.
 */
export function recordQueries({ source, range }: Computation, { first, last }: Days): FactQuery[] {
  const isInside = (day: number): boolean => day >= first && day <= last
  return [
    ...factQueries(EVERYTHING, singleDays(range.days, isInside), source.settings.statusMembers),
    ...onceQueries({ source, range }, (day) => !isInside(day)),
  ]
}

/** Returns queries of the records that `once` rules use. */
export function onceQueries(
  {
    source: { selection, settings },
    range,
  }: Pick<Computation, 'source'> & { readonly range: Pick<Computation['range'], 'days'> },
  isRead: (day: number) => boolean = () => true,
): FactQuery[] {
  const days = singleDays(range.days, isRead)
  const { transactions, activity, events, statuses } = selection
  const single = {
    transactions: { ...transactions, summed: [] },
    activity: { ...activity, summed: [] },
    events: { ...events, summed: [] },
    statuses,
  }
  return factQueries(single, days, settings.statusMembers)
}
