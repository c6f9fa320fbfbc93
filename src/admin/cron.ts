import { resolveDatabase } from '../db/database.ts'
import { accountPages, listBindings } from '../db/directory/accounts.ts'
import { finishReleases, recountHeld } from '../db/records/release.ts'
import { finishResets } from '../db/records/reset.ts'
import { deleteExpired } from '../db/records/retention.ts'
import type { Account } from '../db/schema.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { DELIVERY_LOG_MS, firstIdAt } from '../ingest/delivery-id.ts'
import { CRON_SCHEDULES } from './crons.ts'
import { continueErasures } from './erased-activities.ts'
import { type ResourceNames, readFeeds } from './feeds.ts'
import { logFailure } from './log-failure.ts'
import { propagatePending } from './propagate.ts'
import { maintainStorage } from './storage.ts'

const PAGE = 100

/** The time for which a run releases held records and resets accounts in one database. */
const STEPS_MS = 30_000

/**
 * Runs the job of a cron schedule: propagates settings and goes on with what is done in steps, deletes
 * expired rows, measures what accounts store, or reports late feeds and corrects the counts of held
 * records.
 */
export async function scheduled(cron: string, env: Env, namesOf: ResourceNames, now: number) {
  if (cron === CRON_SCHEDULES.propagate) {
    await propagatePending(env)
    return finishSteps(env)
  }
  if (cron === CRON_SCHEDULES.expire) return deleteExpiredRows(env, now)
  if (cron === CRON_SCHEDULES.storage) return maintainStorage(env, now)
  return reportLateFeeds(env, namesOf, now)
}

/** Erases activities, releases held records and resets test accounts, where requests have left some. */
async function finishSteps(env: Env): Promise<void> {
  for (const binding of await listBindings(env.DB)) {
    await logFailure(binding, () => continueErasures(env, binding))
    await logFailure(binding, async () => {
      const db = resolveDatabase(env, binding)
      const deadline = Date.now() + STEPS_MS
      await finishResets(db, deadline)
      await finishReleases(db, null, deadline)
    })
  }
}

async function deleteExpiredRows(env: Env, now: number): Promise<void> {
  const oldest = now - DELIVERY_LOG_MS
  const limits = {
    deliveries: firstIdAt(oldest),
    // Only a retry of the same request reads them.
    overwritten_writes: firstIdAt(now - HOUR_MS),
    clicks: Math.floor(oldest / DAY_MS),
    arrivals: Math.floor(oldest / HOUR_MS),
  }
  for (const binding of await listBindings(env.DB)) {
    await logFailure(binding, () => deleteExpired(resolveDatabase(env, binding), limits))
  }
}

/** Corrects the counts of held records, and logs each count that was wrong. */
async function correctHeld(db: D1Database, accounts: readonly Account[]): Promise<void> {
  const ids = accounts.map(({ id }) => id)
  for (const { account, resource } of await recountHeld(db, ids)) {
    console.warn(JSON.stringify({ held_recounted: resource, account }))
  }
}

/** Logs each feed whose activity of yesterday is late or missing; an alarm can watch for these lines. */
async function reportLateFeeds(env: Env, namesOf: ResourceNames, now: number): Promise<void> {
  for await (const page of accountPages(env.DB, PAGE)) {
    for (const [binding, accounts] of Map.groupBy(page, (account) => account.binding)) {
      await logFailure(binding, async () => {
        for (const feeds of await readFeeds(env, accounts, namesOf, now)) logLateFeeds(feeds)
      })
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
