import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { notFound, readFields } from '../http/read-fields.ts'
import { changePostback, findPostback, listPostbacks } from '../webhooks/manage.ts'
import { findRouteAffiliate } from './affiliate-members.ts'
import { postbackPause } from './postback-fields.ts'

/** Returns a postback that the path names, with its affiliate. Throws `not_found`. */
async function findRoutePostback(c: Context<AppEnv>) {
  const { row: account, affiliate_id } = await findRouteAffiliate(c)
  const id = c.req.param('postback_id') ?? ''
  const postback = await findPostback(c.env, account, affiliate_id, id)
  if (!postback) throw notFound('postback', id)
  return { account, affiliate_id, postback }
}

/** Routes for the postbacks of affiliates, which the team sees and can pause. */
export const affiliatePostbacks = new Hono<AppEnv>()
  .get('/:affiliate_id/postbacks', async (c) => {
    const { row: account, affiliate_id } = await findRouteAffiliate(c)
    return c.json({ data: await listPostbacks(c.env, account, affiliate_id) })
  })

  .patch('/:affiliate_id/postbacks/:postback_id', async (c) => {
    const { account, affiliate_id, postback } = await findRoutePostback(c)
    const { disabled } = await readFields(c, postbackPause)
    const change = { env: c.env, account, affiliate_id, actor: c.var.actor }
    await changePostback(change, postback.id, { disabled }, true)
    return c.json((await findRoutePostback(c)).postback)
  })
