import { resolveDatabase } from '../db/database.ts'
import { enabledAccounts } from '../db/directory/accounts.ts'
import { storeOutcome } from '../db/webhooks/outcome.ts'
import { type ClaimedMessage, claimMessages, dropMessages } from '../db/webhooks/queue.ts'
import { errorName } from '../errors.ts'
import { pauseAfter } from './backoff.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { type QueuedMessage, queueDue } from './queue-due.ts'
import { unsealSecret } from './secrets.ts'
import { type AttemptResult, sendEvent } from './send.ts'
import { validSecrets } from './valid-secrets.ts'

/** An attempt that has not ended after this time was interrupted, in milliseconds. */
const ATTEMPT_MS = 3 * WEBHOOK_LIMITS.attemptMs

/** Up to this pause, in milliseconds, the queue waits; the cron runs every minute. */
const QUEUE_WAITS_MS = 60_000

/** Status 410: the receiver wants no more events. */
const GONE = 410

/**
 * Sends the events of a queue batch, all at the same time. Nothing is retried by the queue: the database
 * keeps what is to be sent, and a cron queues again what was interrupted.
 */
export async function sendWebhookBatch(
  batch: MessageBatch<QueuedMessage>,
  env: Env,
): Promise<void> {
  const byBinding = Map.groupBy(batch.messages, ({ body }) => body.binding)
  await Promise.all(
    [...byBinding].map(async ([binding, messages]) => {
      try {
        await sendOfDatabase(
          env,
          binding,
          messages.map(({ body }) => body),
        )
      } catch (error) {
        console.error(JSON.stringify({ fault: errorName(error), delayed: 'webhooks', binding }))
      }
    }),
  )
}

async function sendOfDatabase(
  env: Env,
  binding: string,
  messages: readonly QueuedMessage[],
): Promise<void> {
  const db = resolveDatabase(env, binding)
  const names = [...new Set(messages.map(({ account }) => account))]
  const [claimed, enabled] = await Promise.all([
    claimMessages(db, messages, Date.now() + ATTEMPT_MS),
    enabledAccounts(env.DB, names),
  ])
  const mayBeSent = (one: ClaimedMessage) =>
    one.url !== null && one.type !== null && enabled.has(one.account)
  const [sent, dropped] = [claimed.filter(mayBeSent), claimed.filter((one) => !mayBeSent(one))]
  if (dropped.length > 0) await dropMessages(db, dropped)
  // The next events of an endpoint need not wait for the slowest one of the batch.
  await Promise.all(
    sent.map(async (message) => {
      await attempt(env, binding, db, message)
      await queueDue(env, binding, message.account, Date.now())
    }),
  )
}

/** Makes one attempt and stores what it came to. */
async function attempt(
  env: Env,
  binding: string,
  db: D1Database,
  message: ClaimedMessage,
): Promise<void> {
  const { account, endpoint, event, attempts, url, secrets, type, at: causedAt, data } = message
  const at = Date.now()
  const unsealed = validSecrets(secrets ?? '[]', at).map(({ sealed }) =>
    unsealSecret(env, account, endpoint, sealed),
  )
  const inClear = (await Promise.all(unsealed)).filter((secret) => secret !== null)
  const outgoing = { id: event, type: type ?? '', at: causedAt, data }
  const result = await sendEvent(env, url ?? '', inClear, outgoing)
  const next = nextOf(message, result, Date.now())
  const place = { account, endpoint, event, attempt: attempts, at }
  await storeOutcome(db, {
    ...place,
    ...result,
    ...next,
    disables: disablesOf(message, result, at),
  })
  if (next.queued_until === 0 || next.next_at === null) return
  const body: QueuedMessage = { binding, account, endpoint, event, attempts }
  const delaySeconds = Math.ceil((next.next_at - Date.now()) / 1000)
  await env.WEBHOOKS.send(body, { delaySeconds: Math.max(0, delaySeconds) })
}

/** Returns when a failed event is sent again, and until when the queue has it. */
function nextOf(
  { attempts }: ClaimedMessage,
  { error, status }: AttemptResult,
  now: number,
): { next_at: number | null; queued_until: number } {
  const pause = error === null || status === GONE ? null : pauseAfter(attempts, Math.random())
  if (pause === null) return { next_at: null, queued_until: 0 }
  const isQueued = pause < QUEUE_WAITS_MS
  return { next_at: now + pause, queued_until: isQueued ? now + pause + QUEUE_WAITS_MS : 0 }
}

/** Returns why an endpoint gets no more events; null if it does. */
function disablesOf(
  { failing_since }: ClaimedMessage,
  { error, status }: AttemptResult,
  now: number,
): 'gone' | 'failing' | null {
  if (error === null) return null
  if (status === GONE) return 'gone'
  const isLasting = failing_since !== null && now - failing_since >= WEBHOOK_LIMITS.failingMs
  return isLasting ? 'failing' : null
}
