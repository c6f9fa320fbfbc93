import { digest } from '../../auth/secret.ts'
import {
  earningReadings,
  type FactDays,
  type FactReading,
} from '../../db/commission/fact-readings.ts'
import { EVERYTHING } from '../../db/commission/fact-tables.ts'
import {
  beginKeeping,
  type KeptDays,
  type NewDays,
  readKeptDays,
} from '../../db/commission/kept-days.ts'
import { DAY_MS } from '../../durations.ts'
import { dayNumber, dayText, firstDayOf } from '../engine/calendar.ts'
import type { AccountSource } from './source.ts'

// Runs keep the facts of past days, so that a computation reads the records of open days alone. What is
// kept of a customer are the rows that SQL returned for its records of some days, before anything else
// entered: status map, rates, plans, affiliates and histories are always read as they are now. Triggers
// note each day of which a record changes afterwards, and computations read the records of these days.
// So a computation with kept facts comes to the same bytes as one without.

/** When runs keep facts, and when they keep them anew. */
export const KEEPING = {
  /** A month is kept from so many days after its end on: until then its records still arrive. */
  settledDays: 3,
  /** The days with records from which on a year is kept: of fewer it is cheaper to read the records. */
  leastDays: 40,
  /** The changed days of a year with which it is kept anew. */
  changedDays: 60,
  /** Above this share of its storage quota, an account keeps no more facts. */
  shareOfQuota: 0.6,
  /** How many of a run's readings compare one of their customers with its records. */
  checkedShare: 0.05,
  /** A run that has not ended after this time is given up, in milliseconds. */
  lostAfterMs: DAY_MS / 2,
}

/** The days of which a computation reads facts. */
export interface ReadRange {
  /** The first and the last day of which facts are summed. */
  readonly firstSummed: number
  readonly lastDay: number
}

/** What is kept, as one reading of facts uses it. */
export interface KeptReading {
  /** The days whose kept facts are read. */
  readonly usable: readonly KeptDays[]
  /** The days of which a run keeps the facts of customers who are not kept yet. */
  readonly filled: readonly KeptDays[]
  /** The readings of all kinds, those without any days included. */
  readonly kinds: readonly FactReading[]
  readonly form: string
  readonly range: ReadRange
  /** The run that keeps facts; null: none. */
  readonly run: string | null
}

const ANY_DAY = { single: [0], summed: [0] }

/** Returns the readings of all kinds, whatever days there are. */
const readingsOf = (selection: AccountSource['selection']): FactReading[] =>
  earningReadings(selection, { transactions: ANY_DAY, activity: ANY_DAY, events: ANY_DAY })

/** The format of kept rows. A change of it needs another number, so that older rows are not read. */
const FORMAT = 1

/** Returns what identifies the rows of some readings: rows of equal forms are comparable. */
const formOf = (kinds: readonly FactReading[]): Promise<string> => {
  const parts = kinds.map(({ kind, statements, values }) => [kind, statements.rows.sql, values])
  return digest(JSON.stringify([FORMAT, ...parts]))
}

/** Returns the first day of which a computation needs sums of a year. */
const summedFrom = ({ firstSummed }: ReadRange, { first_day, last_day }: Days): number =>
  Math.min(Math.max(firstSummed, first_day), last_day + 1)

type Days = Pick<KeptDays, 'first_day' | 'last_day'>

const isOf = (days: KeptDays, form: string, range: ReadRange): boolean =>
  days.form === form && days.summed_from <= summedFrom(range, days)

/**
 * Reads which days an account keeps, and returns what a computation uses of them; null if it uses nothing.
 *
 * @param run The run that keeps facts; null: none.
 */
export async function keptReading(
  { db, account, selection }: AccountSource,
  { firstSummed, lastDay }: ReadRange,
  run: string | null,
): Promise<KeptReading | null> {
  if (selection === EVERYTHING) return null
  const kept = await readKeptDays(db, account.id)
  if (kept.length === 0) return null
  const range = { firstSummed, lastDay }
  const kinds = readingsOf(selection)
  const reading = { kinds, form: await formOf(kinds), range, run }
  return usedOf(reading, kept)
}

/** Returns the reading with the days that an account keeps now. */
export function usedOf(
  reading: Pick<KeptReading, 'kinds' | 'form' | 'range' | 'run'>,
  kept: readonly KeptDays[],
): KeptReading {
  const { form, range, run } = reading
  const own = kept.filter((days) => isOf(days, form, range))
  const usable = own.filter(({ ready }) => ready === 1)
  // What a run reads must cover all that others may need of these days.
  const isRead = (days: KeptDays) =>
    days.last_day <= range.lastDay && summedFrom(range, days) <= days.summed_from
  const filled =
    run === null
      ? []
      : own.filter((days) => (days.ready === 1 || days.generation === run) && isRead(days))
  return { ...reading, usable, filled }
}

/** Returns whether the records of a day are read: nothing is kept of it, or a record has changed. */
export function openDays(usable: readonly KeptDays[]): (day: number) => boolean {
  const changed = new Set(usable.flatMap((one): number[] => JSON.parse(one.changed)))
  return (day) =>
    changed.has(day) ||
    !usable.some(({ first_day, last_day }) => first_day <= day && day <= last_day)
}

/** A run that keeps facts. */
export interface Keeper {
  readonly run: string
  /** When it began, in milliseconds. */
  readonly now: number
}

/** Begins to keep the years of which nothing is kept, or not enough any more. */
export async function keepFacts(
  { db, account, selection }: AccountSource,
  range: ReadRange & { readonly days: FactDays },
  { run, now }: Keeper,
): Promise<void> {
  if (selection === EVERYTHING) return
  const last = Math.min(lastSettledDay(Math.floor(now / DAY_MS)), range.lastDay)
  const form = await formOf(readingsOf(selection))
  const kept = await readKeptDays(db, account.id)
  const isMissing = (days: Days): boolean => {
    const found = kept.find(({ first_day }) => first_day === days.first_day)
    if (found === undefined) return true
    if (found.ready === 0) return now - found.begun_at >= KEEPING.lostAfterMs
    return (
      !isOf(found, form, range) ||
      found.last_day < days.last_day ||
      JSON.parse(found.changed).length > KEEPING.changedDays
    )
  }
  const factDays = Object.values(range.days).flatMap(({ single }) => single)
  const days = yearsWith(factDays, last)
    .filter(isMissing)
    .map((one): NewDays => ({ ...one, summed_from: summedFrom(range, one) }))
  if (days.length === 0) return
  const most = Math.floor(account.storage_quota * KEEPING.shareOfQuota)
  await beginKeeping(db, account.id, { generation: run, form, begun_at: now }, days, most)
}

/** Returns the last day of the last month whose records have arrived. */
const lastSettledDay = (today: number): number =>
  firstDayOf(today - KEEPING.settledDays, 'month') - 1

/** Returns the years up to a day in which enough days have records. */
function yearsWith(factDays: readonly number[], last: number): Days[] {
  const past = [...new Set(factDays)].filter((day) => day <= last)
  const byYear = Map.groupBy(past, (day) => dayText(day).slice(0, 4))
  return [...byYear]
    .filter(([, days]) => days.length >= KEEPING.leastDays)
    .map(([year]) => ({
      first_day: dayNumber(`${year}-01-01`),
      last_day: Math.min(dayNumber(`${year}-12-31`), last),
    }))
}
