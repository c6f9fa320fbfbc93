import { mapFactTables } from '../db/fact-tables.ts'
import type { AccountBeginnings, FactDays } from '../db/facts.ts'

/** The id of an account, and its vertical, which determines the tables of its records. */
export interface AccountKey {
  readonly id: string
  readonly vertical: string
}

/**
 * Returns the days whose facts a computation reads. Records that are read one by one are read on all
 * days, since a customer qualifies by the first of them and later ones can void a trigger. Records that
 * are summed are read from `firstSummed` to `lastSummed`.
 */
export function factDaysBetween(
  days: AccountBeginnings['days'],
  firstSummed: number,
  lastSummed: number,
): FactDays {
  return mapFactTables(days, (all) => ({
    single: all,
    summed: all.filter((day) => day >= firstSummed && day <= lastSummed),
  }))
}
