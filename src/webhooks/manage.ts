import { randomText } from '../auth/secret.ts'
import { accountDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { insertTest } from '../db/webhooks/causes.ts'
import {
  deleteEndpoint,
  type EndpointChange,
  type EndpointOwner,
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
import { beginProgress } from '../db/webhooks/postback-causes.ts'
import { endPending } from '../db/webhooks/queue.ts'
import { ApiError } from '../errors.ts'
import { queueSoon } from './causes.ts'
import { ALL_EVENTS, type EventType, type PostbackEvent, type TEST_EVENT } from './events.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { encryptSecret, newWebhookSecret } from './secrets.ts'
import { type AttemptError, storedSecrets, validSecrets } from './send-batch.ts'

const timeText = (ms: number) => new Date(ms).toISOString()
const timeOrNull = (ms: number | null) => (ms === null ? null : timeText(ms))

/** Returns an endpoint as the administration API shows it: without its secrets. */
function presentWebhook(row: EndpointRow, now: number) {
  const ends = validSecrets(row.secrets, now).flatMap(({ endsAt }) => endsAt ?? [])
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as (EventType | typeof ALL_EVENTS)[],
    description: row.description,
    disabled: row.disabled !== null,
    disabled_reason: row.disabled,
    failing_since: timeOrNull(row.failing_since),
    previous_secret_until: timeOrNull(ends.length === 0 ? null : Math.max(...ends)),
    created_at: row.created_at,
  }
}

/** An endpoint as the administration API shows it. */
export type Webhook = ReturnType<typeof presentWebhook>

type SentType = EventType | typeof TEST_EVENT

/** Returns an attempt as the administration API shows it. */
const presentAttempt = <T extends string>({ event, at, ...row }: AttemptRow) => ({
  id: row.id,
  at: timeText(at),
  event_id: event,
  type: row.type as T | null,
  attempt: row.attempt,
  status: row.status,
  ms: row.ms,
  error: row.error as AttemptError | null,
  next_attempt_at: timeOrNull(row.next_at),
})

/** Returns an event that is sent to an endpoint as the administration API shows it. */
const presentMessage = ({ event, at, next_at, data, ...row }: MessageRow) => ({
  event_id: event,
  type: row.type as SentType,
  timestamp: timeText(at),
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: row.status === 'pending' ? timeText(next_at) : null,
  data: JSON.parse(data) as Record<string, unknown>,
})

/** Returns a postback as its affiliate and the team see it: without its secret. */
function presentPostback({ disabled, paused_by_firm, ...row }: EndpointRow) {
  const paused = paused_by_firm === 1 ? ('firm' as const) : ('affiliate' as const)
  return {
    id: row.id,
    url: row.url,
    method: row.method,
    events: JSON.parse(row.events) as PostbackEvent[],
    disabled: disabled !== null,
    disabled_reason: disabled === 'team' ? paused : disabled,
    failing_since: timeOrNull(row.failing_since),
    created_at: row.created_at,
  }
}

/** A postback as its affiliate and the team see it. */
export type Postback = ReturnType<typeof presentPostback>

/** The account in which a change is made, and who makes it. */
export interface Change {
  readonly env: Env
  readonly account: Account
  readonly actor: string
  /** The affiliate whose postbacks change; absent: webhooks of the account do. */
  readonly affiliate_id?: string
}

const ownerOf = ({
  account,
  affiliate_id,
}: Pick<Change, 'account' | 'affiliate_id'>): EndpointOwner => ({
  account: account.id,
  affiliate_id: affiliate_id ?? null,
})

/** Returns the entry of a change in the audit log. */
const entryOf = (
  { account, actor, affiliate_id }: Change,
  action: string,
  details: Readonly<Record<string, unknown>>,
) => ({
  actor,
  account: account.id,
  action: `${affiliate_id === undefined ? 'webhook' : 'postback'}.${action}`,
  details: affiliate_id === undefined ? details : { affiliate_id, ...details },
})

const ID_LENGTH = 22

const databaseOf = ({ env, account }: Pick<Change, 'env' | 'account'>) =>
  accountDatabase(env, account)

const tooMany = (affiliate_id: string | undefined) =>
  new ApiError('conflict', {
    detail:
      affiliate_id === undefined
        ? `The account has ${WEBHOOK_LIMITS.endpoints} webhooks, the most that it can have. Delete one first.`
        : `The affiliate has ${WEBHOOK_LIMITS.postbacks} postbacks, the most that they can have. Delete one first.`,
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
  const rows = await readEndpoints(databaseOf({ env, account }), ownerOf({ account }))
  return rows.map((row) => presentWebhook(row, Date.now()))
}

/** Returns the postbacks of an affiliate, the oldest first. */
export async function listPostbacks(
  env: Env,
  account: Account,
  affiliate_id: string,
): Promise<Postback[]> {
  const rows = await readEndpoints(databaseOf({ env, account }), ownerOf({ account, affiliate_id }))
  return rows.map(presentPostback)
}

/** Returns a postback of an affiliate; null if there is none. */
export async function findPostback(
  env: Env,
  account: Account,
  affiliate_id: string,
  id: string,
): Promise<Postback | null> {
  const owner = ownerOf({ account, affiliate_id })
  const row = await readEndpoint(databaseOf({ env, account }), owner, id)
  return row && presentPostback(row)
}

/** Returns a webhook of an account; null if there is none. */
export async function findWebhook(env: Env, account: Account, id: string): Promise<Webhook | null> {
  const row = await readEndpoint(databaseOf({ env, account }), ownerOf({ account }), id)
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
  const id = `whk_${randomText(ID_LENGTH)}`
  const secret = newWebhookSecret()
  const row = await newEndpoint(change, id, secret, {
    ...{ url: new URL(url).href, method: 'POST', events: JSON.stringify(events), description },
  })
  await storeEndpoint(change, row, { id, host: hostOf(url), events, description })
  return { ...presentWebhook(row, Date.now()), secret }
}

/** The fields of a postback that its affiliate chooses. `url` may have macros. */
interface PostbackFields {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly events: readonly string[]
}

/**
 * Creates a postback and returns it with the secret that signs its requests, which is shown only once; a GET
 * request has no signature.
 *
 * @throws ApiError `conflict` if the affiliate has as many as they can have.
 */
export async function createPostback(
  change: Change & { readonly affiliate_id: string },
  { url, method, events }: PostbackFields,
): Promise<Postback & { secret: string | null }> {
  const id = `pbk_${randomText(ID_LENGTH)}`
  const secret = method === 'POST' ? newWebhookSecret() : null
  const row = await newEndpoint(change, id, secret, {
    ...{ url, method, events: JSON.stringify(events), description: null },
  })
  await storeEndpoint(change, row, { id, host: hostOf(url), method, events })
  return { ...presentPostback(row), secret }
}

/** Returns the row of a new endpoint. */
async function newEndpoint(
  { env, account, affiliate_id }: Change,
  id: string,
  secret: string | null,
  fields: Pick<EndpointRow, 'url' | 'method' | 'events' | 'description'>,
): Promise<EndpointRow> {
  const secrets =
    secret === null
      ? []
      : [{ encrypted: await encryptSecret(env, account.id, id, secret), endsAt: null }]
  return {
    ...fields,
    ...{ id, affiliate_id: affiliate_id ?? null, secrets: storedSecrets(secrets) },
    ...{ disabled: null, failing_since: null, paused_by_firm: 0, active_since: null },
    created_at: new Date().toISOString(),
  }
}

/** Stores a new endpoint. Throws `conflict` if its owner has as many as they can have. */
async function storeEndpoint(change: Change, row: EndpointRow, details: object): Promise<void> {
  const { account, affiliate_id } = change
  const db = databaseOf(change)
  const owner = ownerOf(change)
  const most = affiliate_id === undefined ? WEBHOOK_LIMITS.endpoints : WEBHOOK_LIMITS.postbacks
  if ((await readEndpoints(db, owner)).length >= most) throw tooMany(affiliate_id)
  await withAudit(db, entryOf(change, 'create', { ...details }), [
    insertEndpoint(db, account.id, row, most),
    ...(affiliate_id === undefined ? [] : [beginProgress(db, account.id, Date.now())]),
  ])
  if (!(await readEndpoint(db, owner, row.id))) throw tooMany(affiliate_id)
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
  const set = {
    ...(url !== undefined && { url: new URL(url).href }),
    ...(events !== undefined && { events: JSON.stringify(events) }),
    ...(description !== undefined && { description }),
    ...(disabled !== undefined && { disabled: disabled ? ('team' as const) : null }),
  }
  if (Object.keys(set).length === 0) return
  const details = { id, ...(url && { host: hostOf(url) }), events, description, disabled }
  await storeChange(change, id, set, details)
}

/** What changes of a postback; a property that is absent keeps its value. */
interface PostbackChange {
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
  readonly disabled?: boolean | undefined
}

/**
 * Changes a postback. If it is paused, its pending events become dead letters. The audit log has no entry for
 * an empty change.
 *
 * @param isFirm Whether the team makes the change: only the team ends a pause of the team.
 */
export async function changePostback(
  change: Change & { readonly affiliate_id: string },
  id: string,
  { url, events, disabled }: PostbackChange,
  isFirm: boolean,
): Promise<void> {
  const paused_by_firm: 0 | 1 = disabled ? 1 : 0
  const set = {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: JSON.stringify(events) }),
    ...(disabled !== undefined && { disabled: disabled ? ('team' as const) : null }),
    ...(disabled !== undefined && isFirm && { paused_by_firm }),
    ...(disabled === false && { active_since: Date.now() }),
  }
  if (Object.keys(set).length === 0) return
  await storeChange(change, id, set, { id, ...(url && { host: hostOf(url) }), events, disabled })
}

async function storeChange(change: Change, id: string, set: EndpointChange, details: object) {
  const { account, affiliate_id } = change
  const db = databaseOf(change)
  await withAudit(db, entryOf(change, 'change', { ...details }), [
    updateEndpoint(db, account.id, id, set),
    ...(set.disabled ? [endPending(db, account.id, id)] : []),
    ...(affiliate_id === undefined ? [] : [beginProgress(db, account.id, Date.now())]),
  ])
}

/** Deletes a webhook or a postback. Nothing more is sent to it. */
export async function deleteWebhook(change: Change, id: string): Promise<void> {
  const db = databaseOf(change)
  await withAudit(db, entryOf(change, 'delete', { id }), [
    deleteEndpoint(db, change.account.id, id),
  ])
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
  const { env, account } = change
  const db = databaseOf(change)
  const row = await readEndpoint(db, ownerOf(change), id)
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
  await withAudit(db, entryOf(change, 'rotate', { id, overlap }), [
    replaceSecrets(db, account.id, id, [before, after]),
  ])
  const stored = await readEndpoint(db, ownerOf(change), id)
  if (stored?.secrets !== after) {
    const detail = 'Another request has changed the webhook. Repeat the request.'
    throw new ApiError('conflict', { detail })
  }
  const previous_secret_until = until === null ? null : new Date(until).toISOString()
  return { id, secret, previous_secret_until }
}

/** Returns one page of the attempts of a webhook or a postback, the newest first. */
export async function readAttempts<T extends string = SentType>(
  env: Env,
  account: Account,
  id: string,
  filter: AttemptFilter,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentAttempt<T>>>> {
  const db = accountDatabase(env, account)
  const found = await listAttempts(db, account.id, id, filter, page)
  return { ...found, data: found.data.map((row) => presentAttempt<T>(row)) }
}

/** Returns one page of the messages of a webhook, the newest first; of any status if `status` is null. */
export async function readMessages(
  env: Env,
  account: Account,
  id: string,
  status: string | null,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentMessage>>> {
  const db = accountDatabase(env, account)
  const found = await listMessages(db, account.id, id, status, page)
  return { ...found, data: found.data.map(presentMessage) }
}

/** Stores a test event for a webhook or a postback, sends it, and returns its id. */
export async function testWebhook(
  change: Change,
  id: string,
  now: number,
  data: object = { webhook_id: id },
): Promise<string> {
  const { env, account } = change
  const db = databaseOf(change)
  const random = crypto.getRandomValues(new Uint8Array(8)).toHex()
  const event = `evt_${now.toString(16).padStart(11, '0')}${random}`
  const test = { ...ownerOf(change), endpoint: id, event, now, data: JSON.stringify(data) }
  await withAudit(db, entryOf(change, 'test', { id, event_id: event }), insertTest(db, test))
  await queueSoon(env, account.binding, account.id)
  return event
}

/** Returns whether an account, or an affiliate of it, has an event. */
export const findEvent = (
  change: Pick<Change, 'env' | 'account' | 'affiliate_id'>,
  event: string,
): Promise<boolean> => hasEvent(databaseOf(change), ownerOf(change), event)

/**
 * Sends at most 10,000 events to a webhook or a postback again and returns their number. Pending ones are left
 * out.
 */
export async function replayWebhook(
  change: Change,
  id: string,
  span: ReplaySpan,
  now: number,
): Promise<number> {
  const { env, account } = change
  const db = databaseOf(change)
  const limits = { now, most: WEBHOOK_LIMITS.replayed }
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  const sent = 'from' in span ? { from: dayOf(span.from), to: dayOf(span.to) } : span
  const [replayed] = await withAudit(db, entryOf(change, 'replay', { id, ...sent }), [
    replayEvents(db, account.id, id, span, limits),
  ])
  await queueSoon(env, account.binding, account.id)
  return replayed?.results.length ?? 0
}
