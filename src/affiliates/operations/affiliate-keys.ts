import * as v from 'valibot'
import { propagateNow, propagateSettings } from '../../platform/auth/propagate.ts'
import { digest, newSecret } from '../../platform/auth/secret.ts'
import { isAssertionFailure } from '../../platform/db/retry.ts'
import type { Account } from '../../platform/db/schema.ts'
import * as rows from '../../platform/directory/affiliate-keys.ts'
import { affiliateExists } from '../../platform/directory/affiliates.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { bumpVersion } from '../../platform/directory/credentials.ts'
import { ApiError } from '../../platform/errors.ts'
import { type Call, operation } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { day, takes_effect, time } from '../../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { quote } from '../../platform/validation/quote.ts'

/** Returns the key of an affiliate as the administration API shows it. */
const present = ({ id, name, scope, ends_at, ...made }: rows.AffiliateKeyRow) => ({
  id,
  name,
  scope,
  alive: ends_at === null || ends_at > Date.now(),
  ends_at: ends_at === null ? null : new Date(ends_at).toISOString(),
  created_at: made.created_at,
  created_by: made.created_by,
  last_used_on: made.last_used_on,
})

/** Refuses an affiliate that is not configured. Throws `not_found`. */
export async function requireAffiliate({ db, account }: Call, id: string): Promise<void> {
  if (!(await affiliateExists(db, account.id, id))) throw notFound('affiliate', id)
}

/** The fields of a new key. */
const newKey = {
  name: member(f.label, said('What the key is for.', 'Tracker of the affiliate')),
  scope: optional(
    f.oneOf('read', 'read links'),
    said(
      'What the key may do: read, or also make and change links and postbacks and ask questions. Defaults to `read`.',
    ),
  ),
}

type Caller = Pick<Call, 'env' | 'actor'>

/**
 * Makes a key of an affiliate, and returns it as it is shown once.
 *
 * @throws ApiError `conflict` if the affiliate has or made as many keys as they may
 */
export async function createAffiliateKey(
  { env, actor }: Caller,
  { id: account, mode }: Pick<Account, 'id' | 'mode'>,
  affiliate_id: string,
  { name, scope = 'read' }: v.InferOutput<v.ObjectSchema<typeof newKey, undefined>>,
) {
  const { DB } = env
  const now = Date.now()
  const affiliate_key = newSecret('taf', mode)
  const id = crypto.randomUUID()
  const created_at = new Date(now).toISOString()
  const details = { affiliate_id, id, name, scope }
  const key = {
    id,
    account,
    affiliate_id,
    name,
    scope,
    created_at,
    created_by: actor,
    digest: await digest(affiliate_key),
  }
  const entry = { actor, action: 'affiliate-key.create', account, details }
  const statements = [...rows.insertAffiliateKey(DB, key, now), bumpVersion(DB, account)]
  await withAudit(DB, entry, statements).catch((error) => {
    if (!isAssertionFailure(error)) throw error
    throw new ApiError('conflict', {
      detail: `An affiliate has at most ${rows.MAX_LIVE_KEYS} valid keys, and makes at most ${rows.KEYS_PER_HOUR} in an hour. End one first, or wait.`,
      cause: error,
    })
  })
  return {
    id,
    affiliate_key,
    name,
    scope,
    created_at,
    takes_effect: await propagateSettings(env, account),
  }
}

/** Ends a key of an affiliate at once. Throws `not_found`. */
export async function endAffiliateKeyNow(
  { env, actor }: Caller,
  account: string,
  affiliate_id: string,
  id: string,
): Promise<void> {
  const keys = await rows.listAffiliateKeys(env.DB, account, affiliate_id)
  const key = keys.find((row) => row.id === id)
  if (!key) {
    throw new ApiError('not_found', { detail: `The affiliate has no key ${quote(id)}.` })
  }
  const now = Date.now()
  const details = { affiliate_id, id, name: key.name }
  const entry = { actor, action: 'affiliate-key.end', account, details }
  if (key.ends_at === null) {
    await withAudit(env.DB, entry, [
      ...rows.endAffiliateKey(env.DB, { account, affiliate_id, id }, now),
      bumpVersion(env.DB, account),
    ])
  }
  await propagateNow(env, account)
}

/** The affiliate of a path. */
export const affiliate_id = member(v.string(), said('The id of the affiliate.', 'IB-07'))

/** Whether an affiliate can call. */
export const status = described(() =>
  member(
    v.picklist(['active', 'suspended']),
    '`active`, or `suspended`: it cannot call, and earns on.',
  ),
)

const key_id = member(
  v.string(),
  said('The id of the key. It is not the key itself.', 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11'),
)
const name = described(() => member(v.string(), 'What the key is for.'))
const scope = described(() => member(v.picklist(['read', 'read links']), 'What the key may do.'))

const ofKeys = {
  topic: 'affiliates',
  path: '/affiliates/{affiliate_id}/keys',
} as const

export const makeAffiliateKey = operation({
  ...ofKeys,
  id: 'makeAffiliateKey',
  shows: 'affiliate',
  method: 'POST',
  params: { affiliate_id },
  body: newKey,
  status: 201,
  words: described(() => ({
    description:
      'Makes a key with which the affiliate reads what they earn, and why. It is shown only once. To replace a key, make another one and end the old one when nothing uses it. An affiliate has at most 5 valid keys; another one is a conflict.',
    answer: component('NewAffiliateKey', () => ({
      id: key_id,
      name,
      scope,
      affiliate_key: member(v.string(), 'The key. It is shown only in this response.'),
      created_at: time,
      takes_effect,
    })),
    errors: ['conflict'],
    command: {
      name: 'affiliate-keys make',
      secret: 'affiliate_key',
      recovery:
        'A secret may have been created and lost. Do not simply repeat the command: run `affiliate-keys list`, and first end the unknown key.',
    },
  })),
  async run(call, { affiliate_id: id, ...fields }) {
    await requireAffiliate(call, id)
    return createAffiliateKey(call, call.account, id, fields)
  },
})

export const listAffiliateKeys = operation({
  ...ofKeys,
  id: 'listAffiliateKeys',
  shows: 'affiliate',
  method: 'GET',
  params: { affiliate_id },
  words: described(() => ({
    description: 'Lists the keys by id, ended ones included. The keys themselves are not stored.',
    answer: listOf(
      component('AffiliateKey', () => ({
        id: key_id,
        name,
        scope,
        alive: member(v.boolean(), 'Whether the key works.'),
        ends_at: nullable(time, 'When the key stops working. Null if no end is set.'),
        created_at: time,
        created_by: member(v.string(), 'The member of the team who made it.'),
        last_used_on: nullable(day, 'The last day (UTC) on which it was accepted, or null.'),
      })),
    ),
    command: { name: 'affiliate-keys list' },
  })),
  async run(call, { affiliate_id: id }) {
    await requireAffiliate(call, id)
    const keys = await rows.listAffiliateKeys(call.env.DB, call.account.id, id)
    return { data: keys.map(present) }
  },
})

export const endAffiliateKey = operation({
  ...ofKeys,
  path: `${ofKeys.path}/{key_id}`,
  id: 'endAffiliateKey',
  shows: 'affiliate',
  method: 'DELETE',
  params: { affiliate_id, key_id },
  words: described(() => ({
    description: 'Ends a key. It stops working before its next request.',
    answer: null,
    command: {
      name: 'affiliate-keys end',
      done: 'Ended key {key_id} of affiliate {affiliate_id}.',
    },
  })),
  async run(call, { affiliate_id: id, key_id: key }) {
    await requireAffiliate(call, id)
    await endAffiliateKeyNow(call, call.account.id, id, key)
    return null
  },
})

/** The operations on the keys of an affiliate. A key is shown only once, when it is made. */
export const AFFILIATE_KEY_OPERATIONS = [makeAffiliateKey, listAffiliateKeys, endAffiliateKey]
