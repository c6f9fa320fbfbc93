import type { Period } from '../../platform/money/calendar.ts'
import { EVERYTHING, mapFactTables } from '../db/fact-tables.ts'
import { type FactDays, type FactQuery, factQueries } from '../db/facts.ts'
import type { OpenAccount } from '../run/account.ts'
import type { StoredAccount } from '../run/stored-account.ts'

/** Days since 1970, from the first to the last. */
type Days = Pick<Period, 'first' | 'last'>

/** Returns days, as those on which records are read one by one, that meet a condition. */
const singleDays = (days: FactDays, isRead: (day: number) => boolean): FactDays =>
  mapFactTables(days, ({ single }) => ({ single: single.filter(isRead), summed: [] }))

/**
 * Returns queries of all records of some days, and of the records that `once` rules use on other
 * days.
 */
export function recordQueries(account: OpenAccount, { first, last }: Days): FactQuery[] {
  const { days } = account.range
  const isInside = (day: number): boolean => day >= first && day <= last
  return [
    ...factQueries(EVERYTHING, singleDays(days, isInside), account.settings.statusMembers),
    ...onceQueries(account, days, (day) => !isInside(day)),
  ]
}

/** Returns queries of the records that `once` rules use. */
export function onceQueries(
  { selection, settings }: StoredAccount,
  all: FactDays,
  isRead: (day: number) => boolean = () => true,
): FactQuery[] {
  const days = singleDays(all, isRead)
  const { transactions, activity, events, statuses } = selection
  const single = {
    transactions: { ...transactions, summed: [] },
    activity: { ...activity, summed: [] },
    events: { ...events, summed: [] },
    statuses,
  }
  return factQueries(single, days, settings.statusMembers)
}
