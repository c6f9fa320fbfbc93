import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { digest, newSecret } from '../auth/secret.ts'
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
import { findRouteAccount } from './accounts.ts'
import { notFound, readFields } from './body.ts'
import { overlap, overlapEnd } from './fields.ts'
import { propagateNow, propagateSettings } from './propagate.ts'

const present = ({ id, ends_at, created_at }: BrandTokenRow) => ({
  id,
  alive: ends_at === null || ends_at > Date.now(),
  ends_at: ends_at === null ? null : new Date(ends_at).toISOString(),
  created_at,
})

/** A brand's account; partners have OAuth clients. */
export async function findBrandAccount(c: Context<AppEnv>): Promise<Account> {
  const account = await findRouteAccount(c)
  if (account.vertical === 'igaming') return account
  throw new ApiError('conflict', { detail: 'Only a brand has these; this account is a partner.' })
}

/** Brand Tokens of a brand. One is shown once, when it is made. */
export const brandTokens = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, mode } = await findBrandAccount(c)
    const said = await readFields(c, { overlap })
    const now = Date.now()
    const brand_token = newSecret('tbt', mode)
    const name = await digest(brand_token)
    const id = crypto.randomUUID()
    const created_at = new Date(now).toISOString()
    const details = { id, overlap: said.overlap ?? 'none' }
    const act = { actor: c.var.actor, action: 'brand-token.regenerate', account, details }
    await withAudit(c.env.DB, act, [
      insertBrandToken(c.env.DB, { digest: name, id, account, created_at }),
      endBrandTokens(c.env.DB, account, name, overlapEnd(said.overlap, now)),
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
    const token = (await listBrandTokens(c.env.DB, account)).find((one) => one.id === id)
    if (!token) throw notFound('Brand Token', id)
    const act = { actor: c.var.actor, action: 'brand-token.revoke', account, details: { id } }
    const now = Date.now()
    if ((token.ends_at ?? now + 1) > now) {
      await withAudit(c.env.DB, act, [
        endBrandToken(c.env.DB, account, id, now),
        bumpVersion(c.env.DB, account),
      ])
    }
    await propagateNow(c.env, account)
    return c.body(null, 204)
  })
