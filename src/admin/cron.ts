import { fetchRates } from '../commission/rates/import-rates.ts'
import { resumeRuns, startRuns } from '../commission/statements/run.ts'
import { resolveDatabase } from '../db/database.ts'
import { accountPages, listBindings } from '../db/directory/accounts.ts'
import { toDay } from '../db/records/arrivals.ts'
import { checkTotals } from '../db/records/check-totals.ts'
import type { RecordView } from '../db/records/list.ts'
import { finishReleases } from '../db/records/release.ts'
import { finishResets } from '../db/records/reset.ts'
import { deleteExpired } from '../db/records/retention.ts'
import { measureUsage, readUsages, rollUpUsages, type Usage } from '../db/records/storage.ts'
import { ALARM_SHARE, MAX_DATABASE_BYTES } from '../db/records/storage-limits.ts'
import { readTotals } from '../db/records/totals.ts'
import type { Account } from '../db/schema.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import { DELIVERY_LOG_MS, firstIdAt } from '../ingest/delivery-id.ts'
import { completenessSpan } from '../ingest/feed.ts'
import { noteExpiring, noteLateFeeds, noteUnattributed, sweepAll } from '../webhooks/causes.ts'
import { oldestOfWebhooks } from '../webhooks/oldest.ts'
import { today } from './account-day.ts'
import { CRON_SCHEDULES } from './crons.ts'
import { continueErasures } from './erasures.ts'
import { type ResourceNames, readFeeds } from './feeds.ts'
import { logFailure } from './log-failure.ts'
import { propagatePending } from './propagate.ts'

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

const MEASURED_PAGE = 100

/** An account is measured from this share of its quota on: counts alone err upward. */
const MEASURED_SHARE = 0.5

/** A measurement is repeated when the counts grow by this share of the quota, and every day. */
const GROWN_SHARE = 0.05

/** The statements of one run, and those for one account; the next run goes on. */
const STEPS_PER_RUN = 600
const STEPS_PER_ACCOUNT = 200

interface StoredAccount extends Usage {
  binding: string
  quota: number
}

/**
 * Tracks storage per account: adds what it wrote in past hours, measures accounts that
 * may be near their quota, and logs accounts and databases that fill up.
 */
async function maintainStorage(env: Env, now: number): Promise<void> {
  const candidates: StoredAccount[] = []
  const sizes = new Map<string, number>()
  for await (const page of accountPages(env.DB, MEASURED_PAGE)) {
    for (const [binding, accounts] of Map.groupBy(page, (account) => account.binding)) {
      await logFailure(binding, async () => {
        const { stored, size } = await rollUp(env, binding, accounts, now)
        sizes.set(binding, size)
        for (const account of stored) {
          if (needsMeasurement(account, now)) candidates.push(account)
          else logFullAccount(account)
        }
      })
    }
  }
  for (const [binding, bytes] of sizes) logFullDatabase(binding, bytes)
  await measure(env, candidates, now)
}

async function rollUp(env: Env, binding: string, accounts: readonly Account[], now: number) {
  const ids = accounts.map(({ id }) => id)
  const { usages, size } = await rollUpUsages(resolveDatabase(env, binding), ids, now)
  const quotas = new Map(accounts.map(({ id, storage_quota }) => [id, storage_quota]))
  const stored = usages.map((usage) => ({
    ...usage,
    binding,
    quota: quotas.get(usage.account) ?? 0,
  }))
  return { stored, size }
}

/** Returns whether a measurement is due, or one that was begun is not complete. */
function needsMeasurement(stored: StoredAccount, now: number): boolean {
  const { bytes, quota, measured_at, measured_bytes, measuring } = stored
  if (measuring !== null) return true
  if (bytes < quota * MEASURED_SHARE) return false
  if (measured_at === null || now - measured_at >= DAY_MS) return true
  return bytes - (measured_bytes ?? 0) >= quota * GROWN_SHARE
}

/** Measures accounts in bounded steps, those first that were never measured or a long time ago. */
async function measure(env: Env, candidates: StoredAccount[], now: number): Promise<void> {
  let steps = STEPS_PER_RUN
  const inOrder = candidates.toSorted((a, b) => (a.measured_at ?? 0) - (b.measured_at ?? 0))
  for (const account of inOrder) {
    if (steps <= 0) return
    await logFailure(account.binding, async () => {
      const db = resolveDatabase(env, account.binding)
      steps -= await measureUsage(db, account, now, Math.min(steps, STEPS_PER_ACCOUNT))
      const [usage] = await readUsages(db, [account.account])
      logFullAccount({ ...account, ...usage })
    })
  }
}

/** Logs an account that stores much of its quota; an alarm can watch for these lines. */
function logFullAccount({ account, binding, bytes, quota }: StoredAccount): void {
  if (bytes < quota * ALARM_SHARE) return
  console.warn(JSON.stringify({ storage_alarm: 'account', account, binding, bytes, quota }))
}

function logFullDatabase(binding: string, bytes: number): void {
  if (bytes < MAX_DATABASE_BYTES * ALARM_SHARE) return
  const limit = MAX_DATABASE_BYTES
  console.warn(JSON.stringify({ storage_alarm: 'database', binding, bytes, limit }))
}

const PAGE = 100

/** How long a run releases held records and resets accounts in one database, in milliseconds. */
const STEPS_MS = 30_000

/** How long a run counts the days of feeds, in milliseconds. */
const COUNTING_MS = 30_000

/** The resources that jobs read: their names by vertical, those of all verticals, and those of one. */
interface Resources {
  readonly namesOf: ResourceNames
  readonly all: readonly RecordView[]
  readonly viewsOf: (vertical: string) => readonly RecordView[]
}

/**
 * Runs the jobs of a cron schedule:
 * - `propagate`: propagates settings, continues work that is done in steps, and sends webhook events.
 * - `expire`: deletes expired rows and checks kept totals.
 * - `storage`: reports credentials that end soon and measures what accounts store.
 * - `rates`: fetches exchange rates.
 * - `report`: reports late feeds and customers without an affiliate, counts the days of feeds, corrects the
 *   counts of held records, and starts statement runs.
 */
export async function scheduled(
  cron: string,
  env: Env,
  { namesOf, all, viewsOf }: Resources,
  now: number,
): Promise<void> {
  if (cron === CRON_SCHEDULES.propagate) {
    // A failing job does not stop the others.
    await logFailure('DB', () => propagatePending(env))
    await logFailure('DB', () => finishSteps(env, now))
    return sweepAll(env, now, logFailure)
  }
  if (cron === CRON_SCHEDULES.expire) return maintainDatabases(env, all, now)
  if (cron === CRON_SCHEDULES.storage) {
    await logFailure('DB', () => noteExpiring(env, now))
    return maintainStorage(env, now)
  }
  if (cron === CRON_SCHEDULES.rates) return fetchRates(env, now)
  await logFailure('DB', () => reportLateFeeds(env, { namesOf, viewsOf }, now))
  // Feeds are due by now.
  return startRuns(env, now, logFailure)
}

/** Erases activities, releases held records, resets test accounts and resumes runs, where some are left. */
async function finishSteps(env: Env, now: number): Promise<void> {
  for (const binding of await listBindings(env.DB)) {
    await logFailure(binding, () => continueErasures(env, binding))
    await logFailure(binding, async () => {
      const db = resolveDatabase(env, binding)
      const deadline = Date.now() + STEPS_MS
      await finishResets(db, deadline)
      await finishReleases(db, null, deadline)
    })
    await logFailure(binding, () =>
      resumeRuns(env, resolveDatabase(env, binding), now, (resume) => logFailure(binding, resume)),
    )
  }
}

/** Deletes expired rows of each database, and checks its kept totals. */
async function maintainDatabases(
  env: Env,
  views: readonly RecordView[],
  now: number,
): Promise<void> {
  const oldest = now - DELIVERY_LOG_MS
  const limits = {
    deliveries: firstIdAt(oldest),
    delivery_terms: Math.floor(oldest / DAY_MS),
    // Only a retry of the same request reads them.
    clicks: Math.floor(oldest / DAY_MS),
    arrivals: Math.floor(oldest / HOUR_MS),
    ...oldestOfWebhooks(now),
  }
  for (const binding of await listBindings(env.DB)) {
    await logFailure(binding, () => deleteExpired(resolveDatabase(env, binding), limits))
    await logFailure(binding, () => reportWrongTotals(resolveDatabase(env, binding), views, now))
  }
}

/** Logs each day whose kept totals differed from its records; an alarm can watch for these lines. */
async function reportWrongTotals(
  db: D1Database,
  views: readonly RecordView[],
  now: number,
): Promise<void> {
  for (const { account, resource, day } of await checkTotals(db, views, now)) {
    console.error(JSON.stringify({ fault: 'totals_differ', account, resource, day }))
  }
}

/**
 * Logs each feed whose activity of yesterday is late or missing; an alarm can watch for these lines. Then
 * counts the days that the completeness of feeds depends on.
 */
async function reportLateFeeds(
  env: Env,
  { namesOf, viewsOf }: Pick<Resources, 'namesOf' | 'viewsOf'>,
  now: number,
): Promise<void> {
  const deadline = Date.now() + COUNTING_MS
  for await (const page of accountPages(env.DB, PAGE)) {
    for (const [binding, accounts] of Map.groupBy(page, (account) => account.binding)) {
      await logFailure(binding, async () => {
        const read = await readFeeds(env, accounts, namesOf, now)
        await noteLateFeeds(env, binding, read, now)
        for (const feeds of read) {
          logLateFeeds(feeds)
          const isCounted = feeds.feeds.every(({ days_not_counted }) => days_not_counted === 0)
          if (isCounted || Date.now() > deadline) continue
          const db = resolveDatabase(env, binding)
          await logFailure(binding, () =>
            countDays(db, feeds.account, viewsOf(feeds.vertical), now),
          )
        }
      })
      await logFailure(binding, () => noteUnattributed(env, binding, accounts, today))
    }
  }
}

function logLateFeeds({ account, feeds }: Awaited<ReturnType<typeof readFeeds>>[number]): void {
  for (const { resource, yesterday, last_delivery_at } of feeds) {
    if (yesterday !== 'late' && yesterday !== 'missing') continue
    console.warn(JSON.stringify({ late_feed: resource, account, yesterday, last_delivery_at }))
  }
}
