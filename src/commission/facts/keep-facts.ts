import type { FactDays } from '../../db/commission/fact-queries.ts'
import { EVERYTHING } from '../../db/commission/fact-tables.ts'
import {
  beginKeeping,
  type KeptDays,
  type NewDays,
  readKeptDays,
} from '../../db/commission/kept-days.ts'
import { DAY_MS } from '../../durations.ts'
import { dayNumber, dayText, firstDayOf } from '../engine/calendar.ts'
import {
  type DayBounds,
  firstNeededSum,
  includesNeededRows,
  queriesOfAllKinds,
  type ReadRange,
  rowsDigestOf,
} from './kept-days-in-use.ts'
import type { AccountSource } from './source.ts'

/** When runs keep the facts of a year, and when they keep them again. */
export const KEEPING = {
  /** A month is kept this many days after its end: until then its records still arrive. */
  settledDays: 3,
  /** A year is kept once this many of its days have records: for fewer, reading records is cheaper. */
  leastDays: 40,
  /** A year is kept again once more than this many of its days have changed. */
  changedDays: 60,
  /** An account that uses more than this share of its storage quota keeps no more facts. */
  shareOfQuota: 0.6,
  /** The share of a run's reads after which one customer's kept rows are compared with the records. */
  checkedShare: 0.05,
  /** A run that has not ended after this time, in milliseconds, is replaced. */
  lostAfterMs: DAY_MS / 2,
}

/** A run that keeps facts. */
export interface KeepingRun {
  readonly run: string
  /** When it began, in milliseconds. */
  readonly now: number
}

/** Starts to keep each year that has no usable kept facts. */
export async function keepFacts(
  source: AccountSource,
  range: ReadRange & { readonly days: FactDays },
  { run, now }: KeepingRun,
): Promise<void> {
  const { db, account, selection } = source
  if (selection === EVERYTHING) return
  const rowsDigest = await rowsDigestOf(queriesOfAllKinds(source))
  const kept = await readKeptDays(db, account.id)
  const isKept = (year: DayBounds): boolean => {
    const found = kept.find(({ first_day }) => first_day === year.first_day)
    if (found?.ready === 0) return now - found.begun_at < KEEPING.lostAfterMs
    return found !== undefined && isUsable(found, year, rowsDigest, range)
  }
  const last = Math.min(lastSettledDay(Math.floor(now / DAY_MS)), range.lastDay)
  const factDays = Object.values(range.days).flatMap(({ single }) => single)
  const years = yearsWithRecords(factDays, last)
    .filter((year) => !isKept(year))
    .map((year): NewDays => ({ ...year, summed_from: firstNeededSum(range, year) }))
  if (years.length === 0) return
  const maxBytes = Math.floor(account.storage_quota * KEEPING.shareOfQuota)
  const keeping = { generation: run, form: rowsDigest, begun_at: now }
  await beginKeeping(db, account.id, keeping, years, maxBytes)
}

/** Whether kept days include all needed rows of a year, and few of them have changed. */
const isUsable = (kept: KeptDays, year: DayBounds, rowsDigest: string, range: ReadRange): boolean =>
  includesNeededRows(kept, rowsDigest, range) &&
  kept.last_day >= year.last_day &&
  JSON.parse(kept.changed).length <= KEEPING.changedDays

/** Returns the last day of the last month whose records have arrived. */
const lastSettledDay = (today: number): number =>
  firstDayOf(today - KEEPING.settledDays, 'month') - 1

/** Returns the years up to a last day in which at least `KEEPING.leastDays` days have records. */
function yearsWithRecords(factDays: readonly number[], last: number): DayBounds[] {
  const past = [...new Set(factDays)].filter((day) => day <= last)
  const byYear = Map.groupBy(past, (day) => dayText(day).slice(0, 4))
  return [...byYear]
    .filter(([, days]) => days.length >= KEEPING.leastDays)
    .map(([year]) => ({
      first_day: dayNumber(`${year}-01-01`),
      last_day: Math.min(dayNumber(`${year}-12-31`), last),
    }))
}
