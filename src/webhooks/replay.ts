import { resolveDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { insertTest } from '../db/webhooks/causes.ts'
import {
  type AttemptFilter,
  hasEvent,
  listAttempts,
  listMessages,
  type ReplaySpan,
  replayEvents,
} from '../db/webhooks/log.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import type { Change } from './manage.ts'
import { presentAttempt, presentMessage } from './present.ts'
import { queueSoon } from './queue-due.ts'

/** Returns one page of the attempts of a webhook, the newest first. */
export async function readAttempts(
  env: Env,
  account: Account,
  id: string,
  filter: AttemptFilter,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentAttempt>>> {
  const db = resolveDatabase(env, account.binding)
  const found = await listAttempts(db, account.id, id, filter, page)
  return { ...found, data: found.data.map(presentAttempt) }
}

/** Returns one page of the messages of a webhook, the newest first; of any status if `status` is null. */
export async function readMessages(
  env: Env,
  account: Account,
  id: string,
  status: string | null,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentMessage>>> {
  const db = resolveDatabase(env, account.binding)
  const found = await listMessages(db, account.id, id, status, page)
  return { ...found, data: found.data.map(presentMessage) }
}

/** Stores a test event for a webhook, sends it, and returns its id. */
export async function testWebhook(
  { env, account, actor }: Change,
  id: string,
  now: number,
): Promise<string> {
  const db = resolveDatabase(env, account.binding)
  const random = crypto.getRandomValues(new Uint8Array(8)).toHex()
  const event = `evt_${now.toString(16).padStart(11, '0')}${random}`
  const details = { id, event_id: event }
  const entry = { actor, action: 'webhook.test', account: account.id, details }
  await withAudit(db, entry, insertTest(db, { account: account.id, endpoint: id, event, now }))
  await queueSoon(env, account.binding, account.id)
  return event
}

/** Returns whether an account has an event. */
export const findEvent = (env: Env, account: Account, event: string): Promise<boolean> =>
  hasEvent(resolveDatabase(env, account.binding), account.id, event)

/** Sends at most 10,000 events to a webhook again and returns their number. Pending ones are left out. */
export async function replayWebhook(
  { env, account, actor }: Change,
  id: string,
  span: ReplaySpan,
  now: number,
): Promise<number> {
  const db = resolveDatabase(env, account.binding)
  const limits = { now, most: WEBHOOK_LIMITS.replayed }
  const entry = { actor, action: 'webhook.replay', account: account.id, details: { id, ...span } }
  const [replayed] = await withAudit(db, entry, [replayEvents(db, account.id, id, span, limits)])
  await queueSoon(env, account.binding, account.id)
  return replayed?.results.length ?? 0
}
