import { type ArchivePlace, archiveStep } from '../archive/archive-month.ts'
import { addMonths, dayNumber } from '../commission/engine/calendar.ts'
import { hasRecordsBefore, isExported } from '../db/archive/candidates.ts'
import { dayText } from '../db/column-types.ts'
import { jurisdictionOf, resolveDatabase } from '../db/database.ts'
import { findAccount } from '../db/directory/accounts.ts'
import type { RecordView } from '../db/records/list.ts'
import { findWork } from '../db/records/moving.ts'
import { formOf, readTotals } from '../db/records/totals.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { resolveBucket } from '../parquet/bucket.ts'
import { todayOf } from '../zone.ts'
import { type OldMonthsJob, sendJobs } from './jobs.ts'
import { judgeMonths, type OldMonth, readKeptDays } from './judge-months.ts'

/** The limits of what begins to leave a database. */
const START_LIMITS = {
  /** The months of resources that an account begins in a day: the cron of each minute finishes them. */
  months: 4,
  /** How often a message looks again whether the control totals of a month are old enough, and after how long. */
  rounds: 12,
  waitSeconds: 360,
  /** The seconds after the start of an account's runs: they and the export are done then, as a rule. */
  delaySeconds: 2 * 3600,
}

/** Has old months of an account looked for, after its morning's runs, if it may have some. */
export async function queueOldMonths(env: Env, account: Account, at: number): Promise<void> {
  const { id, binding, archive_after } = account
  if (archive_after === null) return
  const before = addMonths(dayNumber(todayOf(account)), -archive_after)
  if (!(await hasRecordsBefore(resolveDatabase(env, binding), id, before))) return
  const job: OldMonthsJob = { job: 'old-months', account: id, at, round: 1 }
  await sendJobs(env, [job], () => START_LIMITS.delaySeconds)
}

/**
 * Begins to archive old months of an account, the first ones first. A month begins once the control totals of all its
 * days are kept, so this keeps them; another message follows then.
 */
export async function startOldMonths(
  env: Env,
  job: OldMonthsJob,
  viewsOf: (vertical: string) => readonly RecordView[],
): Promise<void> {
  const account = await findAccount(env.DB, job.account)
  const kept = account && (await readKeptDays(env, account))
  if (!account || !kept) return
  const db = resolveDatabase(env, account.binding)
  const work = await findWork(db, account.id)
  const isBusy = work !== null && work !== 'archive'
  const found = isBusy
    ? []
    : await judgeMonths(env, account, kept.from, { isAsked: job.first_day !== undefined })
  const months = found
    .filter((one) => one.obstacle === null)
    .filter((one) => job.first_day === undefined || one.first_day === job.first_day)
    .slice(0, START_LIMITS.months)
  const bucket = resolveBucket(env, jurisdictionOf(account.binding))
  let isDone = !isBusy
  for (const month of months) {
    const view = viewsOf(account.vertical).find(({ name }) => name === month.resource)
    if (!view || (account.exports !== 'off' && !(await isExported(db, month)))) continue
    if (await begin({ db, bucket }, month, view)) continue
    if (isDone) await keepTotals(db, month, view)
    isDone = false
  }
  if (isDone || job.round >= START_LIMITS.rounds) return
  await sendJobs(env, [{ ...job, round: job.round + 1 }], () => START_LIMITS.waitSeconds)
}

/** Returns whether a month begins to be archived. The cron of each minute goes on. */
const begin = (place: ArchivePlace, month: OldMonth, view: RecordView): Promise<boolean> =>
  archiveStep(place, { month, form: formOf(view) }, Date.now())

/** Keeps the control totals of a month, or of a part of its days. */
async function keepTotals(
  db: D1Database,
  { account, first_day, last_day }: OldMonth,
  view: RecordView,
): Promise<void> {
  const session = db.withSession('first-primary')
  // A cron job sends no response, so it needs no lease of memory.
  const noMemory = () => Promise.resolve()
  try {
    await readTotals(session, [view], account, dayText(first_day), dayText(last_day), noMemory)
  } catch (error) {
    // Another computation of the account runs, or this one has done its part.
    if (!(error instanceof ApiError)) throw error
  }
}
