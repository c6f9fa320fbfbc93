import { toDay } from '../db/records/activity-days.ts'
import type { RecordView } from '../db/records/record-view.ts'
import { readTotals } from '../db/records/totals.ts'
import { ApiError } from '../errors.ts'
import { completenessSpan } from '../reading/completeness.ts'

/** A cron job sends no response, so it needs no lease of memory. */
const noMemory = () => Promise.resolve()

/**
 * Counts the records of the days that the completeness of feeds depends on, and keeps their control totals,
 * so that reading a feed counts nothing. An account with many changed days is counted by several runs.
 */
export async function countDays(
  db: D1Database,
  account: string,
  views: readonly RecordView[],
  now: number,
): Promise<void> {
  const { countedFrom, to } = completenessSpan(now)
  const session = db.withSession('first-primary')
  try {
    await readTotals(session, views, account, toDay(countedFrom), toDay(to), noMemory)
  } catch (error) {
    // Another computation of the account runs, or this one has done its part.
    if (!(error instanceof ApiError)) throw error
  }
}
