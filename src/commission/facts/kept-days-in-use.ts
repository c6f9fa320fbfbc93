import { digest } from '../../auth/secret.ts'
import { earningQueries, type FactQuery } from '../../db/commission/fact-queries.ts'
import { EVERYTHING } from '../../db/commission/fact-tables.ts'
import { type KeptDays, readKeptDays } from '../../db/commission/kept-days.ts'
import type { AccountSource } from './source.ts'

// Runs keep the facts of past days, so that a computation reads only the records of open days. For each
// customer a run keeps the rows that SQL returned for the records of some days, before the status map,
// rates, plans, affiliates or histories were applied: computations always read these as they are now.
// When a record changes afterwards, a trigger stores its day as changed, and computations read the
// records of that day again. A computation therefore has the same result with and without kept facts.

/** The days of which a computation reads facts. Days are since 1970. */
export interface ReadRange {
  /** The first day of which facts are summed. */
  readonly firstSummed: number
  /** The last day of which facts are read. */
  readonly lastDay: number
}

/** The kept days that one computation uses. */
export interface KeptDaysInUse {
  /** The days whose kept rows the computation reads. */
  readonly usable: readonly KeptDays[]
  /** The days for which a run keeps the rows of customers that have none. */
  readonly filled: readonly KeptDays[]
  /** The queries of all kinds; their days are placeholders. */
  readonly queries: readonly FactQuery[]
  /** Identifies what the queries read: rows with equal digests are comparable. */
  readonly rowsDigest: string
  readonly range: ReadRange
  /** The run that keeps rows; null: no run. */
  readonly run: string | null
}

/** Placeholder days, for queries of which only the SQL and the other values are used. */
const ANY_DAY = { single: [0], summed: [0] }

/** Returns the queries of all kinds of rows that an account reads; their days have no meaning. */
export const queriesOfAllKinds = ({
  selection,
  settings,
}: Pick<AccountSource, 'selection' | 'settings'>): FactQuery[] =>
  earningQueries(
    selection,
    { transactions: ANY_DAY, activity: ANY_DAY, events: ANY_DAY },
    settings.statusMembers,
  )

/** The version of kept rows. Increment it when their JSON changes, so that older rows are not read. */
const ROWS_VERSION = 1

/** Returns the digest of the version of kept rows and of the SQL and values of some queries. */
export const rowsDigestOf = (queries: readonly FactQuery[]): Promise<string> => {
  const parts = queries.map(({ kind, statements, values }) => [kind, statements.rows.sql, values])
  return digest(JSON.stringify([ROWS_VERSION, ...parts]))
}

/** The first and the last day that are kept together. */
export type DayBounds = Pick<KeptDays, 'first_day' | 'last_day'>

/** Returns the first day in the range that needs sums; `last_day + 1` if none does. */
export const firstNeededSum = (
  { firstSummed }: ReadRange,
  { first_day, last_day }: DayBounds,
): number => Math.min(Math.max(firstSummed, first_day), last_day + 1)

/** Whether what is kept for some days includes every row that a computation needs. */
export const includesNeededRows = (days: KeptDays, rowsDigest: string, range: ReadRange): boolean =>
  days.form === rowsDigest && days.summed_from <= firstNeededSum(range, days)

/**
 * Reads which days an account keeps, and returns those that a computation uses; null if the account
 * keeps none, or the computation reads every record one by one.
 *
 * @param run The run that keeps rows; null: no run.
 */
export async function readKeptDaysInUse(
  source: AccountSource,
  { firstSummed, lastDay }: ReadRange,
  run: string | null,
): Promise<KeptDaysInUse | null> {
  const { db, account, selection } = source
  if (selection === EVERYTHING) return null
  const kept = await readKeptDays(db, account.id)
  if (kept.length === 0) return null
  const range = { firstSummed, lastDay }
  const queries = queriesOfAllKinds(source)
  return chooseKeptDays({ queries, rowsDigest: await rowsDigestOf(queries), range, run }, kept)
}

/** Returns which of the days that an account keeps now are usable and filled. */
export function chooseKeptDays(
  computation: Omit<KeptDaysInUse, 'usable' | 'filled'>,
  kept: readonly KeptDays[],
): KeptDaysInUse {
  const { rowsDigest, range, run } = computation
  const comparable = kept.filter((days) => includesNeededRows(days, rowsDigest, range))
  const usable = comparable.filter(({ ready }) => ready === 1)
  // A run may fill only days of which it reads all rows that any computation may need.
  const readsAllOf = (days: KeptDays) =>
    days.last_day <= range.lastDay && firstNeededSum(range, days) <= days.summed_from
  const filled =
    run === null
      ? []
      : comparable.filter(
          (days) => (days.ready === 1 || days.generation === run) && readsAllOf(days),
        )
  return { ...computation, usable, filled }
}

/**
 * Returns whether the records of a day must be read: no usable days include it, or a record of it has
 * changed.
 */
export function openDays(usable: readonly KeptDays[]): (day: number) => boolean {
  const changed = new Set(usable.flatMap((days): number[] => JSON.parse(days.changed)))
  return (day) =>
    changed.has(day) ||
    !usable.some(({ first_day, last_day }) => first_day <= day && day <= last_day)
}
