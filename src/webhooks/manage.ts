import { randomText } from '../auth/secret.ts'
import { resolveDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import type { Account } from '../db/schema.ts'
import {
  deleteEndpoint,
  type EndpointRow,
  insertEndpoint,
  readEndpoint,
  readEndpoints,
  replaceSecrets,
  updateEndpoint,
} from '../db/webhooks/endpoints.ts'
import { endPending } from '../db/webhooks/outcome.ts'
import { ApiError } from '../errors.ts'
import { ALL_EVENTS } from './events.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { presentWebhook, type Webhook } from './present.ts'
import { encryptSecret, newWebhookSecret } from './secrets.ts'
import { storedSecrets, validSecrets } from './valid-secrets.ts'

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
export interface WebhookFields {
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
export interface WebhookChange extends Omit<WebhookFields, 'url'> {
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
