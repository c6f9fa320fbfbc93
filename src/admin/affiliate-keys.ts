import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { newIssuedKey } from '../auth/issued-key.ts'
import { digest } from '../auth/secret.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  type AffiliateKeyRow,
  endAffiliateKey,
  insertAffiliateKey,
  KEYS_PER_HOUR,
  listAffiliateKeys,
  MAX_LIVE_KEYS,
} from '../db/directory/affiliate-keys.ts'
import { affiliateExists } from '../db/directory/affiliates.ts'
import { withAudit } from '../db/directory/audit.ts'
import { bumpVersion } from '../db/directory/credentials.ts'
import { isAssertionFailure } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { notFound, readFields } from '../http/read-fields.ts'
import { quote } from '../validation/quote.ts'
import { findRouteAccount } from './accounts.ts'
import { newKeyFields } from './affiliate-key-fields.ts'
import { readAffiliate } from './ledger.ts'
import { DEFAULT_OVERLAP, type Overlap, overlapEnd } from './overlap.ts'
import { propagateNow, propagateSettings } from './propagate.ts'

/** Returns the key of an affiliate as the administration API shows it. */
const present = ({ id, name, scope, ends_at, ...made }: AffiliateKeyRow) => ({
  id,
  name,
  scope,
  alive: ends_at === null || ends_at > Date.now(),
  ends_at: ends_at === null ? null : new Date(ends_at).toISOString(),
  created_at: made.created_at,
  created_by: made.created_by,
  last_used_on: made.last_used_on,
})

/** Returns the affiliate that a request names, and its account. Throws `not_found`. */
async function findRouteAffiliate(
  c: Context<AppEnv>,
): Promise<{ account: Account; affiliate_id: string }> {
  const { affiliate: affiliate_id } = readAffiliate(c, [])
  const account = await findRouteAccount(c)
  const db = resolveDatabase(c.env, account.binding)
  if (await affiliateExists(db, account.id, affiliate_id)) return { account, affiliate_id }
  throw notFound('affiliate', affiliate_id)
}

/** What a new key is for, what it may do, and which one it replaces. */
interface NewKeyFields {
  readonly name: string
  readonly scope?: 'read' | 'read links' | undefined
  readonly replaces?: string | undefined
  readonly overlap?: Overlap | undefined
}

/**
 * Makes a key of an affiliate, and returns it as it is shown once.
 *
 * @throws ApiError `conflict` if the affiliate has or made as many keys as they may, `not_found`
 */
export async function createAffiliateKey(
  c: Context<AppEnv>,
  account: Account,
  affiliate_id: string,
  fields: NewKeyFields,
) {
  const { name, scope = 'read', replaces = null, overlap: length = DEFAULT_OVERLAP } = fields
  const { id: accountId, mode } = account
  const now = Date.now()
  const replaced = replaces === null ? null : await findKey(c, accountId, affiliate_id, replaces)
  const affiliate_key = await newIssuedKey(c.env.TRACKING_KEYS, 'taf', mode)
  const id = crypto.randomUUID()
  const created_at = new Date(now).toISOString()
  const details = { affiliate_id, id, name, scope, ...(replaced && { replaces, overlap: length }) }
  const { actor } = c.var
  const key = {
    ...{ id, account: accountId, affiliate_id, name, scope, created_at, created_by: actor },
    digest: await digest(affiliate_key),
    replaced: replaces,
  }
  const entry = { actor, action: 'affiliate-key.create', account: accountId, details }
  const { DB } = c.env
  const statements = [
    ...insertAffiliateKey(DB, key, now),
    ...(replaced
      ? [endAffiliateKey(DB, { ...key, id: replaced.id }, overlapEnd(length, now))]
      : []),
    bumpVersion(DB, accountId),
  ]
  await withAudit(DB, entry, statements).catch((error) => {
    if (!isAssertionFailure(error)) throw error
    throw new ApiError('conflict', {
      detail: `An affiliate has at most ${MAX_LIVE_KEYS} valid keys, and makes at most ${KEYS_PER_HOUR} in an hour. End one first, or wait.`,
      cause: error,
    })
  })
  const takes_effect = await propagateSettings(c.env, accountId)
  return { id, affiliate_key, name, scope, created_at, takes_effect }
}

async function makeKey(c: Context<AppEnv>): Promise<Response> {
  const { account, affiliate_id } = await findRouteAffiliate(c)
  const fields = await readFields(c, newKeyFields)
  return c.json(await createAffiliateKey(c, account, affiliate_id, fields), 201)
}

/** Returns the key of an affiliate with this id. Throws `not_found`. */
async function findKey(
  c: Context<AppEnv>,
  account: string,
  affiliate_id: string,
  id: string,
): Promise<AffiliateKeyRow> {
  const keys = await listAffiliateKeys(c.env.DB, account, affiliate_id)
  const key = keys.find((row) => row.id === id)
  if (key) return key
  throw new ApiError('not_found', { detail: `The affiliate has no key ${quote(id)}.` })
}

async function listKeys(c: Context<AppEnv>): Promise<Response> {
  const { account, affiliate_id } = await findRouteAffiliate(c)
  const keys = await listAffiliateKeys(c.env.DB, account.id, affiliate_id)
  return c.json({ data: keys.map(present) })
}

/** Ends a key of an affiliate at once. Throws `not_found`. */
export async function endAffiliateKeyNow(
  c: Context<AppEnv>,
  account: Account,
  affiliate_id: string,
  id: string,
): Promise<void> {
  const key = await findKey(c, account.id, affiliate_id, id)
  const now = Date.now()
  const entry = {
    actor: c.var.actor,
    action: 'affiliate-key.end',
    account: account.id,
    details: { affiliate_id, id, name: key.name },
  }
  if ((key.ends_at ?? now + 1) > now) {
    await withAudit(c.env.DB, entry, [
      endAffiliateKey(c.env.DB, { account: account.id, affiliate_id, id }, now),
      bumpVersion(c.env.DB, account.id),
    ])
  }
  await propagateNow(c.env, account.id)
}

async function endKey(c: Context<AppEnv>): Promise<Response> {
  const { account, affiliate_id } = await findRouteAffiliate(c)
  await endAffiliateKeyNow(c, account, affiliate_id, c.req.param('key_id') ?? '')
  return c.body(null, 204)
}

/** Routes for the keys of an affiliate. A key is shown only once, when it is made. */
export const affiliateKeys = new Hono<AppEnv>()
for (const path of ['/:affiliate_id/keys', '/keys'] as const) {
  affiliateKeys.post(path, makeKey).get(path, listKeys).delete(`${path}/:key_id`, endKey)
}
