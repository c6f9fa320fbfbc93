import * as v from 'valibot'
import { propagateNow, propagateSettings } from '../platform/auth/propagate.ts'
import { digest, newSecret } from '../platform/auth/secret.ts'
import type { Account } from '../platform/db/schema.ts'
import * as rows from '../platform/directory/credentials.ts'
import { ApiError } from '../platform/errors.ts'
import { operation } from '../platform/http/operation.ts'
import { notFound } from '../platform/http/read-fields.ts'
import { DEFAULT_OVERLAP, overlap, overlapEnd } from '../platform/overlap.ts'
import { takes_effect, time } from '../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../platform/validation/described.ts'
import { member, nullable, said } from '../platform/validation/fields.ts'
import { changeSettings } from './change-settings.ts'

/** Returns a Brand Token as the administration API shows it. */
const present = ({ id, ends_at, created_at }: rows.BrandTokenRow) => ({
  id,
  alive: ends_at === null || ends_at > Date.now(),
  ends_at: ends_at === null ? null : new Date(ends_at).toISOString(),
  created_at,
})

/** Throws `conflict` if an account is a partner's. */
export function requireBrand({ vertical }: Account): void {
  if (vertical === 'igaming') return
  throw new ApiError('conflict', {
    detail: 'Only brands have Brand Tokens and event definitions. This account is a partner.',
  })
}

const id = member(
  v.string(),
  said(
    'The id of the Brand Token. It is not the token itself.',
    'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11',
  ),
)

const ofBrandTokens = { topic: 'accounts', path: '/brand-tokens' } as const

export const regenerateBrandToken = operation({
  ...ofBrandTokens,
  id: 'regenerateBrandToken',
  shows: 'account',
  method: 'POST',
  body: { overlap },
  status: 201,
  words: described(() => ({
    description:
      'Issues a new Brand Token, which is shown only once. The previous one works for 24 hours unless `overlap` sets another time. With `none` it stops working before the next request.',
    answer: component('NewBrandToken', () => ({
      id,
      brand_token: member(v.string(), 'The Brand Token. It is shown only in this response.'),
      created_at: time,
      takes_effect,
    })),
    account: 'brand_account',
    errors: ['conflict'],
    command: {
      name: 'brand-token regenerate',
      secret: 'brand_token',
      confirm: {
        warning: 'Without an overlap all Brand Tokens of account {account} stop working at once.',
        name: 'account',
        if: { overlap: 'none' },
      },
      recovery:
        'A secret may have been created and lost. Do not simply repeat the command: run `brand-token list`, and first revoke the unknown token.',
    },
  })),
  async run(call, { overlap: length = DEFAULT_OVERLAP }) {
    const { env, account } = call
    requireBrand(account)
    const now = Date.now()
    const brand_token = newSecret('tbt', account.mode)
    const tokenDigest = await digest(brand_token)
    const id = crypto.randomUUID()
    const created_at = new Date(now).toISOString()
    await changeSettings(call, 'brand-token.regenerate', { id, overlap: length }, [
      rows.insertBrandToken(env.DB, { digest: tokenDigest, id, account: account.id, created_at }),
      rows.endBrandTokens(env.DB, account.id, tokenDigest, overlapEnd(length, now)),
    ])
    const takes_effect = await propagateSettings(env, account.id)
    return { id, brand_token, created_at, takes_effect }
  },
})

export const listBrandTokens = operation({
  ...ofBrandTokens,
  id: 'listBrandTokens',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: 'Lists the Brand Tokens of a brand by id. The tokens themselves are not stored.',
    answer: listOf(
      component('BrandToken', () => ({
        id,
        alive: member(v.boolean(), 'Whether the token works.'),
        ends_at: nullable(time, 'When the token stops working. Null if no end is set.'),
        created_at: time,
      })),
    ),
    account: 'brand_account',
    errors: ['conflict'],
    command: { name: 'brand-token list' },
  })),
  async run({ env, account }) {
    requireBrand(account)
    return { data: (await rows.listBrandTokens(env.DB, account.id)).map(present) }
  },
})

export const revokeBrandToken = operation({
  topic: 'accounts',
  id: 'revokeBrandToken',
  shows: 'account',
  method: 'DELETE',
  path: '/brand-tokens/{token_id}',
  params: { token_id: id },
  words: described(() => ({
    description: 'Revokes a Brand Token. It stops working before its next request.',
    answer: null,
    account: 'brand_account',
    errors: ['conflict'],
    command: {
      name: 'brand-token revoke',
      done: 'Revoked Brand Token {token_id} of account {account}.',
    },
  })),
  async run(call, { token_id: id }) {
    const { env, account } = call
    requireBrand(account)
    const token = (await rows.listBrandTokens(env.DB, account.id)).find((row) => row.id === id)
    if (!token) throw notFound('Brand Token', id)
    const now = Date.now()
    if ((token.ends_at ?? now + 1) > now) {
      const end = rows.endBrandToken(env.DB, account.id, id, now)
      await changeSettings(call, 'brand-token.revoke', { id }, [end])
    }
    await propagateNow(env, account.id)
    return null
  },
})

/** The operations on Brand Tokens of a brand. A token is shown only once, when it is created. */
export const BRAND_TOKEN_OPERATIONS = [regenerateBrandToken, listBrandTokens, revokeBrandToken]
