import { resolveDatabase } from '../db/database.ts'
import { type DueMessage, takeDueMessages } from '../db/webhooks/queue.ts'
import { errorName } from '../errors.ts'
import { WEBHOOK_LIMITS } from './limits.ts'

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
 * Puts the messages that are due at `now` (milliseconds) on the queue: those of an account or, if it is null,
 * of all accounts of the database. If the Worker is stopped before they are queued, a call after two minutes
 * queues them.
 */
export async function queueDue(
  env: Env,
  binding: string,
  account: string | null,
  now: number,
): Promise<void> {
  const db = resolveDatabase(env, binding)
  const times = { now, until: now + QUEUED_MS, inFlight: WEBHOOK_LIMITS.inFlight }
  const due = await takeDueMessages(db, account, times)
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
