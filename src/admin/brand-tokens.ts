import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { newIssuedKey } from '../auth/issued-key.ts'
import { digest } from '../auth/secret.ts'
import { withAudit } from '../db/directory/audit.ts'
import {
  type BrandTokenRow,
  bumpVersion,
  endBrandToken,
  endBrandTokens,
  insertBrandToken,
  listBrandTokens,
} from '../db/directory/credentials.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { readQuery } from '../http/query.ts'
import { notFound, readFields } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'
import { DEFAULT_OVERLAP, overlap, overlapEnd } from './overlap.ts'
import { propagateNow, propagateSettings } from './propagate.ts'

/** Returns a Brand Token as the administration API shows it. */
const present = ({ id, ends_at, created_at }: BrandTokenRow) => ({
  id,
  alive: ends_at === null || ends_at > Date.now(),
  ends_at: ends_at === null ? null : new Date(ends_at).toISOString(),
  created_at,
})

/** Returns the account that the path names. Throws `not_found`, or `conflict` if it is a partner's. */
export async function findBrandAccount(c: Context<AppEnv>): Promise<Account> {
  const account = await findRouteAccount(c)
  if (account.vertical === 'igaming') return account
  throw new ApiError('conflict', {
    detail: 'Only brands have Brand Tokens and event definitions. This account is a partner.',
  })
}

/** Routes for the Brand Tokens of a brand. A token is shown only once, when it is created. */
export const brandTokens = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, mode } = await findBrandAccount(c)
    const fields = await readFields(c, { overlap })
    const length = fields.overlap ?? DEFAULT_OVERLAP
    const now = Date.now()
    const brand_token = await newIssuedKey(c.env.TRACKING_KEYS, 'tbt', mode)
    const tokenDigest = await digest(brand_token)
    const id = crypto.randomUUID()
    const created_at = new Date(now).toISOString()
    const details = { id, overlap: length }
    const entry = { actor: c.var.actor, action: 'brand-token.regenerate', account, details }
    await withAudit(c.env.DB, entry, [
      insertBrandToken(c.env.DB, { digest: tokenDigest, id, account, created_at }),
      endBrandTokens(c.env.DB, account, tokenDigest, overlapEnd(length, now)),
      bumpVersion(c.env.DB, account),
    ])
    const takes_effect = await propagateSettings(c.env, account)
    return c.json({ id, brand_token, created_at, takes_effect }, 201)
  })

  .get('/', async (c) => {
    readQuery(c.req.url)
    const { id } = await findBrandAccount(c)
    return c.json({ data: (await listBrandTokens(c.env.DB, id)).map(present) })
  })

  .delete('/:id', async (c) => {
    readQuery(c.req.url)
    const { id: account } = await findBrandAccount(c)
    const id = c.req.param('id')
    const token = (await listBrandTokens(c.env.DB, account)).find((row) => row.id === id)
    if (!token) throw notFound('Brand Token', id)
    const entry = { actor: c.var.actor, action: 'brand-token.revoke', account, details: { id } }
    const now = Date.now()
    if ((token.ends_at ?? now + 1) > now) {
      await withAudit(c.env.DB, entry, [
        endBrandToken(c.env.DB, account, id, now),
        bumpVersion(c.env.DB, account),
      ])
    }
    await propagateNow(c.env, account)
    return c.body(null, 204)
  })
