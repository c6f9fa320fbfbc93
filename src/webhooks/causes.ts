import { resolveDatabase } from '../db/database.ts'
import { listBindings } from '../db/directory/accounts.ts'
import {
  type ExpiringCredential,
  expiringCredentials,
} from '../db/directory/expiring-credentials.ts'
import type { Account } from '../db/schema.ts'
import {
  type LateFeed,
  storeExpiring,
  storeLateFeeds,
  storeRecovered,
  storeUnattributed,
} from '../db/webhooks/causes.ts'
import { dropDisabled } from '../db/webhooks/endpoints.ts'
import { DAY_MS } from '../durations.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { queueDue } from './queue-due.ts'

// Events that are caused by time. Cron jobs write them.

/** A feed as `readFeeds` returns it. */
interface Feed {
  readonly resource: string
  readonly last_delivery_at: string | null
  readonly yesterday?: string
}

/** Writes `feed.late` for the feeds of accounts that lack yesterday's activity at `now` (milliseconds). */
export async function noteLateFeeds(
  env: Env,
  binding: string,
  accounts: readonly { readonly account: string; readonly feeds: readonly Feed[] }[],
  now: number,
): Promise<void> {
  const day = new Date(now - DAY_MS).toISOString().slice(0, 10)
  const late = accounts.flatMap(({ account, feeds }) =>
    feeds
      .filter(({ yesterday }) => yesterday === 'late' || yesterday === 'missing')
      .map(({ resource, last_delivery_at }): LateFeed => {
        return { account, resource, day, last_delivery_at }
      }),
  )
  if (late.length > 0) await storeLateFeeds(resolveDatabase(env, binding), late)
}

/**
 * Writes `customer.unattributed` for the accounts of a database for which too many of yesterday's customers
 * have no affiliate. `dayOf` returns the current day of an account.
 */
export async function noteUnattributed(
  env: Env,
  binding: string,
  accounts: readonly Account[],
  dayOf: (account: Account) => string,
): Promise<void> {
  const rows = accounts.map((account) => ({
    account: account.id,
    day: new Date(Date.parse(dayOf(account)) - DAY_MS).toISOString().slice(0, 10),
    threshold: account.unattributed_threshold,
  }))
  await storeUnattributed(resolveDatabase(env, binding), rows)
}

/** Writes `credential.expiring` once for each credential that ends within a day. */
export async function noteExpiring(env: Env, now: number): Promise<void> {
  const ending = await expiringCredentials(env.DB, now, now + WEBHOOK_LIMITS.expiringMs)
  for (const [binding, credentials] of Map.groupBy(ending, (one) => one.binding)) {
    await storeExpiring(resolveDatabase(env, binding), credentials.map(toEvent))
  }
}

const toEvent = ({ account, kind, id, ends_at }: ExpiringCredential) => ({
  account,
  about: `${kind} ${id} ${ends_at}`,
  data: { kind, id, ends_at: new Date(ends_at).toISOString() },
})

/**
 * Writes `feed.recovered`, and puts all due messages on the queue: those that a request did not queue, and
 * those that were interrupted or wait for another attempt.
 */
export async function sweepWebhooks(env: Env, binding: string, now: number): Promise<void> {
  await storeRecovered(resolveDatabase(env, binding), now)
  // What it has stored just now is due a moment after `now`.
  await queueDue(env, binding, null, Math.max(now, Date.now()))
}

/** Deletes the webhooks of disabled accounts, with their events and messages. */
export async function dropWebhooksOfDisabled(
  env: Env,
  disabled: readonly Account[],
): Promise<void> {
  for (const [binding, accounts] of Map.groupBy(disabled, (one) => one.binding)) {
    const ids = accounts.map(({ id }) => id)
    await dropDisabled(resolveDatabase(env, binding), ids)
  }
}

/** Sweeps the webhooks of each database. `guard` runs each task, and catches its errors for the others. */
export async function sweepAll(
  env: Env,
  now: number,
  guard: (binding: string, task: () => Promise<void>) => Promise<void>,
): Promise<void> {
  for (const binding of await listBindings(env.DB)) {
    await guard(binding, () => sweepWebhooks(env, binding, now))
  }
}
