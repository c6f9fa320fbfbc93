import type { FactDays } from '../../db/commission/fact-readings.ts'
import { FACT_TABLES } from '../../db/commission/fact-tables.ts'
import { readFactDays } from '../../db/commission/facts.ts'
import type { AccountSource } from './source.ts'

/** Before and after all stored days. */
const ALL_DAYS = { first: -719_528, last: 2_932_896 }

/** Finds the days with records of an account. */
export async function daysWithFacts({
  db,
  account,
}: AccountSource): Promise<Record<keyof typeof FACT_TABLES, number[]>> {
  const isBrand = account.vertical === 'igaming'
  const read = (table: keyof typeof FACT_TABLES, isUsed: boolean) =>
    isUsed ? readFactDays(db, FACT_TABLES[table], account.id, ALL_DAYS) : Promise.resolve([])
  const [transactions, activity, events] = await Promise.all([
    read('transactions', !isBrand),
    read('activity', !isBrand),
    read('events', isBrand),
  ])
  return { transactions, activity, events }
}

/**
 * Returns the days of a reading: records that are looked at one by one are all read, since a
 * customer qualifies by the first and a trigger is void by later ones; those that are summed, from the
 * first day that is computed.
 */
export function factDaysBetween(
  days: Awaited<ReturnType<typeof daysWithFacts>>,
  firstSummed: number,
  lastSummed: number,
): FactDays {
  const split = (all: readonly number[]) => ({
    single: all,
    summed: all.filter((day) => day >= firstSummed && day <= lastSummed),
  })
  return {
    transactions: split(days.transactions),
    activity: split(days.activity),
    events: split(days.events),
  }
}
