import { Hono } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import { databaseOf } from '../db/database.ts'
import { attributionOf, clicksOf, configured, listAttributed } from '../db/directory/attribution.ts'
import { affiliatesOfLinks } from '../db/directory/links.ts'
import { readQuery, readSpan } from '../http/query.ts'
import { accountOf } from './accounts.ts'
import { listed } from './list-route.ts'

const isText = (value: string | null | undefined): value is string => typeof value === 'string'

/**
 * Where customers came from. Who is paid is looked up when it is asked for, so an affiliate that is
 * configured later has its earlier customers, too.
 */
export const attribution = new Hono<Caller>()
  .get('/customers', (c) =>
    listed(c, 'attributed', async ({ id }, page, db) => {
      const found = await listAttributed(db, id, page)
      const ofLinks = await affiliatesOfLinks(
        c.env.DB,
        id,
        found.data.map(({ link }) => link).filter(isText),
      )
      // A partner names who is paid; a brand's customer is paid to the affiliate of its link.
      const paid = found.data.map((one) => one.affiliate_id ?? ofLinks.get(one.link ?? '') ?? null)
      const known = await configured(db, id, paid.filter(isText))
      const data = found.data.map(({ customer_id, day, verdict, link }, i) => ({
        customer_id,
        day,
        attribution: {
          verdict,
          link_id: link,
          affiliate_id: paid[i]!,
          affiliate_configured: paid[i] !== null && known.has(paid[i]!),
        },
      }))
      return { ...found, data }
    }),
  )

  .get('/attribution', async (c) => {
    const { from, to } = readSpan(readQuery(c.req.url, 'from', 'to'))
    const { id, binding } = await accountOf(c)
    const rows = await attributionOf(databaseOf(c.env, binding), id, from, to)
    return c.json({ data: rows.map(({ link, ...row }) => ({ ...row, link_id: link })) })
  })

  .get('/clicks', async (c) => {
    const { from, to } = readSpan(readQuery(c.req.url, 'from', 'to'))
    const { id, binding } = await accountOf(c)
    return c.json({ data: await clicksOf(databaseOf(c.env, binding), id, from, to) })
  })
