import { resolveDatabase } from '../platform/db/database.ts'
import { throughDoor } from '../platform/db/door.ts'
import { hasMail, type QueuedNotice, takeDueNotices } from '../platform/directory/outbox.ts'
import { DAY_MS } from '../platform/durations.ts'
import { errorName } from '../platform/errors.ts'
import { type LateFeed, storeLateFeeds } from './db/causes.ts'
import { type DueMessage, takeDueMessages } from './db/queue.ts'
import { WEBHOOK_LIMITS } from './limits.ts'

// Events that are caused by time. Cron jobs write them.

/** A feed as `readFeeds` returns it. */
interface Feed {
  readonly resource: string
  readonly last_delivery_at: string | null
  readonly yesterday?: string
}

/** Returns the database of some accounts. While one of them moves, nothing is written, and the cron tries again. */
const databaseOf = (env: Env, binding: string, rows: readonly { readonly account: string }[]) =>
  throughDoor(resolveDatabase(env, binding), ...rows.map(({ account }) => account))

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
      .filter(({ yesterday }) => yesterday === 'missing')
      .map(({ resource, last_delivery_at }): LateFeed => {
        return { account, resource, day, last_delivery_at }
      }),
  )
  if (late.length > 0) await storeLateFeeds(databaseOf(env, binding, late), late)
}

/** A message of the queue. */
export interface QueuedMessage extends DueMessage {
  /** The D1 binding of the account's records. */
  readonly binding: string
}

/** The time after which a queued message is due again, in case the queue has lost it, in milliseconds. */
const QUEUED_MS = 120_000

/** The maximum number of messages that a queue accepts in one call. */
const PER_CALL = 100

/**
 * Puts the messages that are due at `now` (milliseconds) on the queue, and the notices to people: those of an account or,
 * if it is null, of all accounts of the database. If the Worker is stopped before they are queued, a call after two
 * minutes queues them.
 */
export async function queueDue(
  env: Env,
  binding: string,
  account: string | null,
  now: number,
): Promise<void> {
  const db = resolveDatabase(env, binding)
  const times = { now, until: now + QUEUED_MS, inFlight: WEBHOOK_LIMITS.inFlight }
  const due: (DueMessage | Omit<QueuedNotice, 'binding'>)[] = [
    ...(await takeDueMessages(db, account, times)),
    ...(hasMail(env) ? await takeDueNotices(db, account, times) : []),
  ]
  for (let i = 0; i < due.length; i += PER_CALL) {
    const messages = due.slice(i, i + PER_CALL)
    await env.WEBHOOKS.sendBatch(messages.map((one) => ({ body: { ...one, binding } })))
  }
}

/** Puts the due messages of an account on the queue. It never fails: a cron queues what this does not. */
export async function queueSoon(env: Env, binding: string, account: string): Promise<void> {
  try {
    await queueDue(env, binding, account, Date.now())
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), delayed: 'webhooks', account }))
  }
}
