import { randomText } from '../platform/auth/secret.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { FoundPage, Page } from '../platform/db/paginate.ts'
import type { Account } from '../platform/db/schema.ts'
import { changesOf, withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import { notFound } from '../platform/http/read-fields.ts'
import { queueSoon } from './causes.ts'
import {
  beginProgress,
  deleteEndpoint as dropEndpoint,
  type EndpointOwner,
  type EndpointRow,
  insertEndpoint,
  readEndpoint,
  readEndpoints,
  updateEndpoint,
} from './db/endpoints.ts'
import { listMessages, type MessageRow, replayMessages } from './db/log.ts'
import { endPending } from './db/queue.ts'
import { TEST_EVENT } from './events.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { encryptSecret, newWebhookSecret } from './secrets.ts'
import {
  type AttemptError,
  openSecrets,
  sendEvent,
  storedSecrets,
  validSecrets,
} from './send-batch.ts'

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

/** Returns an event that is sent to an endpoint, with its last attempt; `T` are the types of its events. */
const presentMessage = <T extends string>(row: MessageRow) => ({
  event_id: row.event,
  type: row.type as T,
  timestamp: timeText(row.at),
  status: row.status,
  attempts: row.attempts,
  attempted_at: timeOrNull(row.tried_at),
  response_status: row.answer,
  error: row.error as AttemptError | null,
  next_attempt_at: row.status === 'pending' ? timeText(row.next_at) : null,
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
    id,
    affiliate_id: affiliate_id ?? null,
    url,
    method,
    description,
    events: JSON.stringify(events),
    secrets: storedSecrets(secrets),
    disabled: null,
    failing_since: null,
    active_since: null,
    created_at: new Date().toISOString(),
  }
  const db = databaseOf(change)
  const most = isPostback ? WEBHOOK_LIMITS.postbacks : WEBHOOK_LIMITS.endpoints
  if ((await listEndpoints(change)).length >= most) {
    const who = isPostback ? 'The affiliate' : 'The account'
    throw new ApiError('conflict', {
      detail: `${who} has ${most} ${nounOf(change)}s, the most that there can be. Delete one first.`,
    })
  }
  await withAudit(
    db,
    entryOf(change, 'create', { id, host: hostOf(url), method, events, description }),
    [
      insertEndpoint(db, account.id, row),
      ...(isPostback ? [beginProgress(db, account.id, Date.now())] : []),
    ],
  )
  return { row, secret }
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
    ...(disabled === true && { disabled: 'team' as const }),
    ...(disabled === false && { disabled: null, failing_since: null, active_since: Date.now() }),
  }
  if (Object.keys(set).length > 0) {
    const db = databaseOf(change)
    const before = await findEndpoint(change, id)
    const stored = {
      ...before,
      host: hostOf(before.url),
      events: JSON.parse(before.events),
      disabled: before.disabled !== null,
    }
    const sent = { ...(url && { host: hostOf(url) }), events, description, disabled }
    const details = { id, changes: changesOf(stored, sent) }
    await withAudit(db, entryOf(change, 'change', details), [
      ...updateEndpoint(db, account.id, id, set),
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
  await withAudit(db, entryOf(change, 'delete', { id }), dropEndpoint(db, change.account.id, id))
}

/**
 * Gives an endpoint a new secret and returns it. Until `until` (milliseconds), events are also signed with the one
 * before; null ends that at once.
 *
 * @throws ApiError `not_found`
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
  await withAudit(
    db,
    entryOf(change, 'rotate', { id, overlap }),
    updateEndpoint(db, account.id, id, { secrets: after }),
  )
  return { id, secret, previous_secret_until: timeOrNull(until) }
}

/**
 * Returns one page of the messages of an endpoint, the newest first; of any status if `status` is null. Throws
 * `not_found`.
 */
export async function readMessages<T extends string>(
  owner: Owner,
  id: string,
  status: string | null,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentMessage<T>> & Pick<MessageRow, 'data'>>> {
  await findEndpoint(owner, id)
  const found = await listMessages(databaseOf(owner), owner.account.id, id, status, page)
  const data = found.data.map((row) => ({ ...presentMessage<T>(row), data: row.data }))
  return { ...found, data }
}

/** Returns a new id of an event, which begins with its time (milliseconds). */
export const newEventId = (now: number): string =>
  `evt_${now.toString(16).padStart(11, '0')}${crypto.getRandomValues(new Uint8Array(8)).toHex()}`

/** The characters of an answer that a test shows. */
const SHOWN_ANSWER = 200

/**
 * Sends a test event to a URL of an endpoint now, also while it is disabled, and returns what was answered. No other attempt
 * follows.
 */
export async function tryEndpoint(
  change: Change,
  { id, method, secrets }: EndpointRow,
  event: { readonly id: string; readonly url: string | null; readonly data: object },
) {
  const { env, account } = change
  const { url, data } = event
  await withAudit(databaseOf(change), entryOf(change, 'test', { id, event_id: event.id }), [])
  const outgoing = { id: event.id, type: TEST_EVENT, at: Date.now(), data: JSON.stringify(data) }
  const open = await openSecrets(env, account.id, id, secrets)
  const target = { url, method, isChecked: change.affiliate_id !== undefined }
  const { answer, ...result } = await sendEvent(env, target, open, outgoing, SHOWN_ANSWER)
  return { response_status: answer, ...result }
}

/**
 * Sends one event to an endpoint again, or all of its dead letters if `event` is null. Returns their number.
 *
 * @throws ApiError `not_found`; `conflict` if the endpoint is disabled.
 */
export async function replayEndpoint(
  change: Change,
  id: string,
  event: string | null,
): Promise<number> {
  const { env, account } = change
  const { disabled } = await findEndpoint(change, id)
  if (disabled !== null) {
    const detail = `The ${nounOf(change)} is disabled. Enable it first: send \`{"disabled": false}\` with PATCH.`
    throw new ApiError('conflict', { detail })
  }
  const db = databaseOf(change)
  const values = { account: account.id, endpoint: id, event, now: Date.now() }
  const [found] = await withAudit(db, entryOf(change, 'replay', { id, event }), [
    replayMessages(db, values),
  ])
  const replayed = found?.results.length
  if (event !== null && replayed === 0) throw notFound('event', event)
  await queueSoon(env, account.binding, account.id)
  return replayed ?? 0
}
