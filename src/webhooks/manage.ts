import { randomText } from '../auth/secret.ts'
import { resolveDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { insertTest } from '../db/webhooks/causes.ts'
import {
  deleteEndpoint,
  type EndpointRow,
  insertEndpoint,
  readEndpoint,
  readEndpoints,
  replaceSecrets,
  updateEndpoint,
} from '../db/webhooks/endpoints.ts'
import {
  type AttemptFilter,
  type AttemptRow,
  hasEvent,
  listAttempts,
  listMessages,
  type MessageRow,
  type ReplaySpan,
  replayEvents,
} from '../db/webhooks/log.ts'
import { endPending } from '../db/webhooks/queue.ts'
import { ApiError } from '../errors.ts'
import { queueSoon } from './causes.ts'
import { ALL_EVENTS } from './events.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { encryptSecret, newWebhookSecret } from './secrets.ts'
import { storedSecrets, validSecrets } from './send-batch.ts'

const timeText = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

/** Returns an endpoint as the administration API shows it: without its secrets. */
function presentWebhook(row: EndpointRow, now: number) {
  const ends = validSecrets(row.secrets, now).flatMap(({ endsAt }) => endsAt ?? [])
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as string[],
    description: row.description,
    disabled: row.disabled !== null,
    disabled_reason: row.disabled,
    failing_since: timeText(row.failing_since),
    previous_secret_until: timeText(ends.length === 0 ? null : Math.max(...ends)),
    created_at: row.created_at,
  }
}

/** An endpoint as the administration API shows it. */
export type Webhook = ReturnType<typeof presentWebhook>

/** Returns an attempt as the administration API shows it. */
const presentAttempt = ({ event, at, ...row }: AttemptRow) => ({
  id: row.id,
  at: timeText(at),
  event_id: event,
  type: row.type,
  attempt: row.attempt,
  status: row.status,
  ms: row.ms,
  error: row.error,
  next_attempt_at: timeText(row.next_at),
})

/** Returns an event that is sent to an endpoint as the administration API shows it. */
const presentMessage = ({ event, at, next_at, data, ...row }: MessageRow) => ({
  event_id: event,
  type: row.type,
  timestamp: timeText(at),
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: row.status === 'pending' ? timeText(next_at) : null,
  data: JSON.parse(data) as object,
})

/** The account in which a change is made, and the member who makes it. */
export interface Change {
  readonly env: Env
  readonly account: Account
  readonly actor: string
}

const ID_LENGTH = 22

const databaseOf = ({ env, account }: Pick<Change, 'env' | 'account'>) =>
  resolveDatabase(env, account.binding)

const tooMany = () =>
  new ApiError('conflict', {
    detail: `The account has ${WEBHOOK_LIMITS.endpoints} webhooks, the most that it can have. Delete one first.`,
  })

/** Returns the host of a URL, for the audit log. The rest of a URL can hold a token. */
const hostOf = (url: string) => new URL(url).host

/** The fields of a webhook that the team chooses. */
interface WebhookFields {
  readonly url: string
  readonly events?: readonly string[] | undefined
  readonly description?: string | null | undefined
}

/** Returns the webhooks of an account, the oldest first. */
export async function listWebhooks(env: Env, account: Account): Promise<Webhook[]> {
  const rows = await readEndpoints(databaseOf({ env, account }), account.id)
  return rows.map((row) => presentWebhook(row, Date.now()))
}

/** Returns a webhook of an account; null if there is none. */
export async function findWebhook(env: Env, account: Account, id: string): Promise<Webhook | null> {
  const row = await readEndpoint(databaseOf({ env, account }), account.id, id)
  return row && presentWebhook(row, Date.now())
}

/**
 * Creates a webhook and returns it with its secret, which is shown only once.
 *
 * @throws ApiError `conflict` if the account has as many as it can have.
 */
export async function createWebhook(
  change: Change,
  { url, events = [ALL_EVENTS], description = null }: WebhookFields,
): Promise<Webhook & { secret: string }> {
  const { env, account, actor } = change
  const db = databaseOf(change)
  const id = `whk_${randomText(ID_LENGTH)}`
  const secret = newWebhookSecret()
  const encrypted = await encryptSecret(env, account.id, id, secret)
  const row: EndpointRow = {
    id,
    url: new URL(url).href,
    events: JSON.stringify(events),
    description,
    secrets: storedSecrets([{ encrypted, endsAt: null }]),
    disabled: null,
    failing_since: null,
    created_at: new Date().toISOString(),
  }
  const { endpoints: most } = WEBHOOK_LIMITS
  if ((await readEndpoints(db, account.id)).length >= most) throw tooMany()
  const details = { id, host: hostOf(url), events, description }
  const entry = { actor, action: 'webhook.create', account: account.id, details }
  await withAudit(db, entry, [insertEndpoint(db, account.id, row, most)])
  if (!(await readEndpoint(db, account.id, id))) throw tooMany()
  return { ...presentWebhook(row, Date.now()), secret }
}

/** What changes of a webhook; a property that is absent keeps its value. */
interface WebhookChange extends Omit<WebhookFields, 'url'> {
  readonly url?: string | undefined
  readonly disabled?: boolean | undefined
}

/**
 * Changes a webhook. If it is disabled, its pending events become dead letters. The audit log has no entry
 * for an empty change.
 */
export async function changeWebhook(
  change: Change,
  id: string,
  { url, events, description, disabled }: WebhookChange,
): Promise<void> {
  const { account, actor } = change
  const db = databaseOf(change)
  const set = {
    ...(url !== undefined && { url: new URL(url).href }),
    ...(events !== undefined && { events: JSON.stringify(events) }),
    ...(description !== undefined && { description }),
    ...(disabled !== undefined && { disabled: disabled ? ('team' as const) : null }),
  }
  if (Object.keys(set).length === 0) return
  const details = { id, ...(url && { host: hostOf(url) }), events, description, disabled }
  const entry = { actor, action: 'webhook.change', account: account.id, details }
  await withAudit(db, entry, [
    updateEndpoint(db, account.id, id, set),
    ...(disabled ? [endPending(db, account.id, id)] : []),
  ])
}

/** Deletes a webhook. Nothing more is sent to it. */
export async function deleteWebhook(change: Change, id: string): Promise<void> {
  const { account, actor } = change
  const db = databaseOf(change)
  const entry = { actor, action: 'webhook.delete', account: account.id, details: { id } }
  await withAudit(db, entry, [deleteEndpoint(db, account.id, id)])
}

/**
 * Gives a webhook a new secret and returns it. Until `until` (milliseconds), events are also signed with its
 * present secrets; null ends these at once.
 *
 * @throws ApiError `conflict` if too many secrets are valid, or if another request has rotated it.
 */
export async function rotateWebhook(
  change: Change,
  id: string,
  { overlap, until }: { overlap: string; until: number | null },
): Promise<{ id: string; secret: string; previous_secret_until: string | null }> {
  const { env, account, actor } = change
  const db = databaseOf(change)
  const row = await readEndpoint(db, account.id, id)
  const before = row?.secrets ?? '[]'
  const kept = until === null ? [] : validSecrets(before, Date.now())
  if (kept.length >= WEBHOOK_LIMITS.secrets) {
    throw new ApiError('conflict', {
      detail: `The webhook has ${WEBHOOK_LIMITS.secrets} valid secrets. Wait until one ends, or rotate with the overlap \`none\`.`,
    })
  }
  const secret = newWebhookSecret()
  const encrypted = await encryptSecret(env, account.id, id, secret)
  const after = storedSecrets([
    { encrypted, endsAt: null },
    ...kept.map((one) => ({ ...one, endsAt: Math.min(one.endsAt ?? Infinity, until ?? 0) })),
  ])
  const entry = { actor, action: 'webhook.rotate', account: account.id, details: { id, overlap } }
  await withAudit(db, entry, [replaceSecrets(db, account.id, id, [before, after])])
  const stored = await readEndpoint(db, account.id, id)
  if (stored?.secrets !== after) {
    const detail = 'Another request has changed the webhook. Repeat the request.'
    throw new ApiError('conflict', { detail })
  }
  const previous_secret_until = until === null ? null : new Date(until).toISOString()
  return { id, secret, previous_secret_until }
}

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
