import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  configuredAffiliates,
  countAttributions,
  countClicks,
  listAttributions,
} from '../db/directory/attribution.ts'
import { affiliatesByLink } from '../db/directory/links.ts'
import { readDayRange, readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'
import { respondWithList } from './list-route.ts'

const isText = (value: string | null | undefined): value is string => typeof value === 'string'

/**
 * Where customers came from. Who is paid is looked up when it is asked for, so an affiliate that is
 * configured later has its earlier customers, too.
 */
export const attribution = new Hono<AppEnv>()
  .get('/customers', (c) =>
    respondWithList(c, 'attributed', async ({ id }, page, db) => {
      const found = await listAttributions(db, id, page)
      const ofLinks = await affiliatesByLink(
        c.env.DB,
        id,
        found.data.map(({ link }) => link).filter(isText),
      )
      // A partner names who is paid; a brand's customer is paid to the affiliate of its link.
      const paid = found.data.map((one) => one.affiliate_id ?? ofLinks.get(one.link ?? '') ?? null)
      const known = await configuredAffiliates(db, id, paid.filter(isText))
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
    const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
    const { id, binding } = await findRouteAccount(c)
    const rows = await countAttributions(resolveDatabase(c.env, binding), id, from, to)
    return c.json({ data: rows.map(({ link, ...row }) => ({ ...row, link_id: link })) })
  })

  .get('/clicks', async (c) => {
    const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
    const { id, binding } = await findRouteAccount(c)
    return c.json({ data: await countClicks(resolveDatabase(c.env, binding), id, from, to) })
  })
