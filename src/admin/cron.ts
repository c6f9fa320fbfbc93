import { resumeRuns } from '../commission/drafts/resume-runs.ts'
import { startRuns } from '../commission/drafts/start-runs.ts'
import { fetchRates } from '../commission/rates/fetch-rates.ts'
import { resolveDatabase } from '../db/database.ts'
import { accountPages, listBindings } from '../db/directory/accounts.ts'
import { checkTotals } from '../db/records/check-totals.ts'
import type { RecordView } from '../db/records/record-view.ts'
import { finishReleases, recountHeld } from '../db/records/release.ts'
import { finishResets } from '../db/records/reset.ts'
import { deleteExpired } from '../db/records/retention.ts'
import type { Account } from '../db/schema.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { DELIVERY_LOG_MS, firstIdAt } from '../ingest/delivery-id.ts'
import { noteExpiring, noteLateFeeds, noteUnattributed, sweepAll } from '../webhooks/causes.ts'
import { oldestOfWebhooks } from '../webhooks/oldest.ts'
import { today } from './account-day.ts'
import { countDays } from './count-days.ts'
import { CRON_SCHEDULES } from './crons.ts'
import { continueErasures } from './erased-activities.ts'
import { type ResourceNames, readFeeds } from './feeds.ts'
import { logFailure } from './log-failure.ts'
import { propagatePending } from './propagate.ts'
import { maintainStorage } from './storage.ts'

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

/** Corrects the counts of held records, and logs each count that was wrong. */
async function correctHeld(db: D1Database, accounts: readonly Account[]): Promise<void> {
  const ids = accounts.map(({ id }) => id)
  for (const { account, resource } of await recountHeld(db, ids)) {
    console.warn(JSON.stringify({ held_recounted: resource, account }))
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
      await logFailure(binding, () => correctHeld(resolveDatabase(env, binding), accounts))
    }
  }
}

function logLateFeeds({ account, feeds }: Awaited<ReturnType<typeof readFeeds>>[number]): void {
  for (const { resource, yesterday, last_delivery_at } of feeds) {
    if (yesterday !== 'late' && yesterday !== 'missing') continue
    console.warn(JSON.stringify({ late_feed: resource, account, yesterday, last_delivery_at }))
  }
}
