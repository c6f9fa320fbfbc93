import { type Context, Hono } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import { digest, newSecret } from '../auth/secret.ts'
import { audited } from '../db/directory/audit.ts'
import {
  type BrandTokenRow,
  brandTokensOf,
  endBrandToken,
  endBrandTokens,
  insertBrandToken,
  outdate,
} from '../db/directory/credentials.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { readQuery } from '../http/query.ts'
import { accountOf } from './accounts.ts'
import { missing, readFields } from './body.ts'
import { overlap } from './fields.ts'
import { endOf } from './overlap.ts'
import { pushed, pushedNow } from './propagate.ts'

const present = ({ id, ends_at, created_at }: BrandTokenRow) => ({
  id,
  alive: ends_at === null || ends_at > Date.now(),
  ends_at: ends_at === null ? null : new Date(ends_at).toISOString(),
  created_at,
})

/** A brand's account; partners have OAuth clients. */
export async function brandOf(c: Context<Caller>): Promise<Account> {
  const account = await accountOf(c)
  if (account.vertical === 'igaming') return account
  throw new ApiError('conflict', { detail: 'Only a brand has these; this account is a partner.' })
}

/** Brand Tokens of a brand. One is shown once, when it is made. */
export const brandTokens = new Hono<Caller>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, mode } = await brandOf(c)
    const said = await readFields(c, { overlap })
    const now = Date.now()
    const brand_token = newSecret('tbt', mode)
    const name = await digest(brand_token)
    const id = crypto.randomUUID()
    const created_at = new Date(now).toISOString()
    const details = { id, overlap: said.overlap ?? 'none' }
    const act = { actor: c.var.actor, action: 'brand-token.regenerate', account, details }
    await audited(c.env.DB, act, [
      insertBrandToken(c.env.DB, { digest: name, id, account, created_at }),
      endBrandTokens(c.env.DB, account, name, endOf(said.overlap, now)),
      outdate(c.env.DB, account),
    ])
    const takes_effect = await pushed(c.env, account)
    return c.json({ id, brand_token, created_at, takes_effect }, 201)
  })

  .get('/', async (c) => {
    readQuery(c.req.url)
    const { id } = await brandOf(c)
    return c.json({ data: (await brandTokensOf(c.env.DB, id)).map(present) })
  })

  .delete('/:id', async (c) => {
    readQuery(c.req.url)
    const { id: account } = await brandOf(c)
    const id = c.req.param('id')
    const token = (await brandTokensOf(c.env.DB, account)).find((one) => one.id === id)
    if (!token) throw missing('Brand Token', id)
    const act = { actor: c.var.actor, action: 'brand-token.revoke', account, details: { id } }
    const now = Date.now()
    if ((token.ends_at ?? now + 1) > now) {
      await audited(c.env.DB, act, [
        endBrandToken(c.env.DB, account, id, now),
        outdate(c.env.DB, account),
      ])
    }
    await pushedNow(c.env, account)
    return c.body(null, 204)
  })
