import { randomText } from '../platform/auth/secret.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { FoundPage, Page } from '../platform/db/paginate.ts'
import type { Account } from '../platform/db/schema.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import { queueSoon } from './causes.ts'
import { insertTest } from './db/causes.ts'
import {
  beginProgress,
  deleteEndpoint as dropEndpoint,
  type EndpointOwner,
  type EndpointRow,
  insertEndpoint,
  readEndpoint,
  readEndpoints,
  replaceSecrets,
  updateEndpoint,
} from './db/endpoints.ts'
import {
  type AttemptFilter,
  type AttemptRow,
  hasEvent,
  listAttempts,
  listMessages,
  type MessageRow,
  type ReplaySpan,
  replayEvents,
} from './db/log.ts'
import { endPending } from './db/queue.ts'
import type { EventType, TEST_EVENT } from './events.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { encryptSecret, newWebhookSecret } from './secrets.ts'
import { type AttemptError, storedSecrets, validSecrets } from './send-batch.ts'

// An endpoint is where events are sent: a webhook of an account, or the postback of an affiliate. What differs is who
// has it, and which types of events there are.

const timeText = (ms: number) => new Date(ms).toISOString()
const timeOrNull = (ms: number | null) => (ms === null ? null : timeText(ms))

/** Returns an endpoint as its owner sees it, without its secrets; `E` are the types of its events. */
export const presentEndpoint = <E extends string>(row: EndpointRow) => ({
  id: row.id,
  url: row.url,
  events: JSON.parse(row.events) as E[],
  disabled: row.disabled !== null,
  failing_since: timeOrNull(row.failing_since),
  created_at: row.created_at,
})

/** Returns until when events are also signed with an earlier secret of an endpoint; null if they are not. */
export function previousSecretUntil(row: EndpointRow): string | null {
  const ends = validSecrets(row.secrets, Date.now()).flatMap(({ endsAt }) => endsAt ?? [])
  return timeOrNull(ends.length === 0 ? null : Math.max(...ends))
}

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

/** Whose endpoints are read: those of an account or, with `affiliate_id`, the postbacks of an affiliate. */
interface Owner {
  readonly env: Env
  readonly account: Account
  readonly affiliate_id?: string
}

/** Whose endpoints change, and who makes the change. */
interface Change extends Owner {
  readonly actor: string
}

const ownerOf = ({ account, affiliate_id }: Owner): EndpointOwner => ({
  account: account.id,
  affiliate_id: affiliate_id ?? null,
})

const nounOf = ({ affiliate_id }: Owner) => (affiliate_id === undefined ? 'webhook' : 'postback')

/** Returns the entry of a change in the audit log. */
const entryOf = (change: Change, action: string, details: Readonly<Record<string, unknown>>) => ({
  actor: change.actor,
  account: change.account.id,
  action: `${nounOf(change)}.${action}`,
  details:
    change.affiliate_id === undefined ? details : { affiliate_id: change.affiliate_id, ...details },
})

const ID_LENGTH = 22

const databaseOf = ({ env, account }: Owner) => accountDatabase(env, account)

/** Returns the host of a URL, for the audit log. The rest of a URL can hold a token. */
const hostOf = (url: string) => new URL(url).host

/** Returns the endpoints of an owner, the oldest first. */
export const listEndpoints = (owner: Owner): Promise<EndpointRow[]> =>
  readEndpoints(databaseOf(owner), ownerOf(owner))

/** Returns an endpoint of an owner. Throws `not_found`. */
export async function findEndpoint(owner: Owner, id: string): Promise<EndpointRow> {
  const row = await readEndpoint(databaseOf(owner), ownerOf(owner), id)
  if (!row) throw notFound(nounOf(owner), id)
  return row
}

/**
 * Creates an endpoint, and returns it with the secret that signs its requests; a GET request has no signature. A
 * postback is sent what happens from now on.
 *
 * @throws ApiError `conflict` if the owner has as many as they can have.
 */
export async function createEndpoint(
  change: Change,
  fields: Pick<EndpointRow, 'url' | 'method' | 'description'> & {
    readonly events: readonly string[]
  },
): Promise<{ row: EndpointRow; secret: string | null }> {
  const { env, account, affiliate_id } = change
  const { url, method, description, events } = fields
  const isPostback = affiliate_id !== undefined
  const id = `${isPostback ? 'pbk' : 'whk'}_${randomText(ID_LENGTH)}`
  const secret = method === 'POST' ? newWebhookSecret() : null
  const secrets =
    secret === null
      ? []
      : [{ encrypted: await encryptSecret(env, account.id, id, secret), endsAt: null }]
  const row: EndpointRow = {
    ...{ id, affiliate_id: affiliate_id ?? null, url, method, description },
    ...{ events: JSON.stringify(events), secrets: storedSecrets(secrets) },
    ...{ disabled: null, failing_since: null, active_since: null },
    created_at: new Date().toISOString(),
  }
  const db = databaseOf(change)
  const most = isPostback ? WEBHOOK_LIMITS.postbacks : WEBHOOK_LIMITS.endpoints
  await withAudit(
    db,
    entryOf(change, 'create', { id, host: hostOf(url), method, events, description }),
    [
      insertEndpoint(db, account.id, row, most),
      ...(isPostback ? [beginProgress(db, account.id, Date.now())] : []),
    ],
  )
  if (await readEndpoint(db, ownerOf(change), id)) return { row, secret }
  const who = isPostback ? 'The affiliate' : 'The account'
  throw new ApiError('conflict', {
    detail: `${who} has ${most} ${nounOf(change)}s, the most that there can be. Delete one first.`,
  })
}

/** What changes of an endpoint; a property that is absent keeps its value. */
interface EndpointFields {
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
  readonly description?: string | null | undefined
  readonly disabled?: boolean | undefined
}

/**
 * Changes an endpoint, and returns it. If it is disabled, its pending events become dead letters. The audit log has
 * no entry for an empty change.
 */
export async function changeEndpoint(
  change: Change,
  id: string,
  { url, events, description, disabled }: EndpointFields,
): Promise<EndpointRow> {
  const { account, affiliate_id } = change
  const set = {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: JSON.stringify(events) }),
    ...(description !== undefined && { description }),
    ...(disabled !== undefined && { disabled: disabled ? ('team' as const) : null }),
    ...(disabled === false && { active_since: Date.now() }),
  }
  if (Object.keys(set).length > 0) {
    const db = databaseOf(change)
    const details = { id, ...(url && { host: hostOf(url) }), events, description, disabled }
    await withAudit(db, entryOf(change, 'change', details), [
      updateEndpoint(db, account.id, id, set),
      ...(disabled ? [endPending(db, account.id, id)] : []),
      ...(affiliate_id === undefined ? [] : [beginProgress(db, account.id, Date.now())]),
    ])
  }
  return findEndpoint(change, id)
}

/** Deletes an endpoint. Nothing more is sent to it. Throws `not_found`. */
export async function deleteEndpoint(change: Change, id: string): Promise<void> {
  await findEndpoint(change, id)
  const db = databaseOf(change)
  await withAudit(db, entryOf(change, 'delete', { id }), [dropEndpoint(db, change.account.id, id)])
}

/**
 * Gives an endpoint a new secret and returns it. Until `until` (milliseconds), events are also signed with the one
 * before; null ends that at once.
 *
 * @throws ApiError `not_found`; `conflict` if another request has rotated it.
 */
export async function rotateEndpoint(
  change: Change,
  id: string,
  { overlap, until }: { overlap: string; until: number | null },
): Promise<{ id: string; secret: string; previous_secret_until: string | null }> {
  const { env, account } = change
  const db = databaseOf(change)
  const { secrets: before } = await findEndpoint(change, id)
  const kept = until === null ? [] : validSecrets(before, Date.now()).slice(0, 1)
  const secret = newWebhookSecret()
  const encrypted = await encryptSecret(env, account.id, id, secret)
  const after = storedSecrets([
    { encrypted, endsAt: null },
    ...kept.map((one) => ({ ...one, endsAt: until })),
  ])
  await withAudit(db, entryOf(change, 'rotate', { id, overlap }), [
    replaceSecrets(db, account.id, id, [before, after]),
  ])
  if ((await findEndpoint(change, id)).secrets !== after) {
    const detail = 'Another request has changed the webhook. Repeat the request.'
    throw new ApiError('conflict', { detail })
  }
  return { id, secret, previous_secret_until: timeOrNull(until) }
}

/** Returns one page of the attempts of an endpoint, the newest first. Throws `not_found`. */
export async function readAttempts<T extends string = SentType>(
  owner: Owner,
  id: string,
  filter: AttemptFilter,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentAttempt<T>>>> {
  await findEndpoint(owner, id)
  const found = await listAttempts(databaseOf(owner), owner.account.id, id, filter, page)
  return { ...found, data: found.data.map((row) => presentAttempt<T>(row)) }
}

/** Returns one page of the messages of a webhook, the newest first; of any status if `status` is null. */
export async function readMessages(
  owner: Owner,
  id: string,
  status: string | null,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentMessage>>> {
  await findEndpoint(owner, id)
  const found = await listMessages(databaseOf(owner), owner.account.id, id, status, page)
  return { ...found, data: found.data.map(presentMessage) }
}

/** Returns an endpoint to which something is sent. Throws `not_found`; `conflict` if it is disabled. */
async function findEnabled(owner: Owner, id: string): Promise<void> {
  const { disabled } = await findEndpoint(owner, id)
  if (disabled === null) return
  const detail = `The ${nounOf(owner)} is disabled. Enable it first: send \`{"disabled": false}\` with PATCH.`
  throw new ApiError('conflict', { detail })
}

/**
 * Stores a test event for an endpoint, sends it, and returns its id.
 *
 * @throws ApiError `not_found`; `conflict` if the endpoint is disabled.
 */
export async function testEndpoint(change: Change, id: string, data: object): Promise<string> {
  const { env, account } = change
  await findEnabled(change, id)
  const now = Date.now()
  const db = databaseOf(change)
  const random = crypto.getRandomValues(new Uint8Array(8)).toHex()
  const event = `evt_${now.toString(16).padStart(11, '0')}${random}`
  const test = { ...ownerOf(change), endpoint: id, event, now, data: JSON.stringify(data) }
  await withAudit(db, entryOf(change, 'test', { id, event_id: event }), insertTest(db, test))
  await queueSoon(env, account.binding, account.id)
  return event
}

/** The fields of a replay: an event, or a span of instants. */
interface Replay {
  readonly event_id?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly only_dead?: boolean | undefined
}

/** Returns the events of a replay. Throws `validation_failed` if the fields name both an event and a span, or neither. */
async function spanOf(
  owner: Owner,
  { event_id, from, to, only_dead }: Replay,
): Promise<ReplaySpan> {
  if ((event_id === undefined) === (from === undefined)) {
    throw validationFailed([{ pointer: '', code: 'choice', expected: 'event_id, from' }])
  }
  if (event_id === undefined) {
    const [start, end] = [Date.parse(from ?? ''), to === undefined ? Date.now() : Date.parse(to)]
    if (to !== undefined && end < start) {
      throw validationFailed([{ pointer: '/to', code: 'minimum', expected: from ?? '', value: to }])
    }
    return { from: start, to: end, onlyDead: only_dead ?? false }
  }
  if (await hasEvent(databaseOf(owner), ownerOf(owner), event_id)) return { event: event_id }
  throw notFound('event', event_id)
}

/**
 * Sends at most 10,000 events to an endpoint again and returns their number. Pending ones are left out.
 *
 * @throws ApiError `validation_failed`, `not_found`; `conflict` if the endpoint is disabled.
 */
export async function replayEndpoint(change: Change, id: string, sent: Replay): Promise<number> {
  const { env, account } = change
  await findEndpoint(change, id)
  const span = await spanOf(change, sent)
  await findEnabled(change, id)
  const db = databaseOf(change)
  const limits = { now: Date.now(), most: WEBHOOK_LIMITS.replayed }
  const dayOf = (at: number) => timeText(at).slice(0, 10)
  const details = 'from' in span ? { from: dayOf(span.from), to: dayOf(span.to) } : span
  const [replayed] = await withAudit(db, entryOf(change, 'replay', { id, ...details }), [
    replayEvents(db, account.id, id, span, limits),
  ])
  await queueSoon(env, account.binding, account.id)
  return replayed?.results.length ?? 0
}
