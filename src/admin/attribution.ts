import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  type AttributionFilter,
  configuredAffiliates,
  countAttributions,
  countClicks,
  listAttributions,
  REPORT_LIMITS,
} from '../db/directory/attribution.ts'
import { affiliatesByLink } from '../db/directory/links.ts'
import { invalidQuery, invalidValue, readDayRange, readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'
import { respondWithFilteredList } from './list-route.ts'

const CUSTOMER_FILTERS = ['customer_id', 'unattributed', 'from', 'to'] as const

/** Returns the filter of a list of customers. Those without an affiliate are searched by signup day, which others may be. */
function readFilter(
  query: Partial<Record<(typeof CUSTOMER_FILTERS)[number], string>>,
): AttributionFilter {
  const { customer_id, unattributed, ...days } = query
  if (unattributed === undefined && Object.keys(days).length === 0) return { customer_id }
  if (unattributed !== undefined && unattributed !== 'true')
    throw invalidValue('unattributed', unattributed, '`true`')
  if (customer_id !== undefined) {
    const other = unattributed === undefined ? 'from' : 'unattributed'
    throw invalidQuery(`\`${other}\` and \`customer_id\` cannot be combined.`)
  }
  return { days: readDayRange(days), isUnattributed: unattributed !== undefined }
}

const isText = (value: string | null | undefined): value is string => typeof value === 'string'

/**
 * Routes for attribution and clicks. The paid affiliate is looked up at read time, so an affiliate that
 * is configured later also has its earlier customers.
 */
export const attribution = new Hono<AppEnv>()
  .get('/customers', (c) =>
    respondWithFilteredList(c, 'attributed', CUSTOMER_FILTERS, async ({ id }, page, db, query) => {
      const customers = await listAttributions(db, id, page, readFilter(query))
      const links = customers.data.map(({ link }) => link).filter(isText)
      const linkAffiliates =
        links.length > 0 ? await affiliatesByLink(c.env.DB, id, links) : new Map<string, string>()
      // Partners name the paid affiliate; for brands it is the affiliate of the link.
      const paid = customers.data.map(
        ({ affiliate_id, link }) => affiliate_id ?? linkAffiliates.get(link ?? '') ?? null,
      )
      const configured = await configuredAffiliates(db, id, paid.filter(isText))
      const data = customers.data.map(({ customer_id, day, verdict, link }, i) => {
        const affiliate_id = paid[i] ?? null
        const affiliate_configured = affiliate_id !== null && configured.has(affiliate_id)
        const attribution = { verdict, link_id: link, affiliate_id, affiliate_configured }
        return { customer_id, day, attribution }
      })
      return { ...customers, data }
    }),
  )

  .get('/attribution', async (c) => {
    const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
    const { id, binding } = await findRouteAccount(c)
    const rows = await countAttributions(resolveDatabase(c.env, binding), id, from, to)
    if (!rows) throw tooManyGroups('customers')
    return c.json({ data: rows.map(({ link, ...row }) => ({ ...row, link_id: link })) })
  })

  .get('/clicks', async (c) => {
    const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
    const { id, binding } = await findRouteAccount(c)
    const data = await countClicks(resolveDatabase(c.env, binding), id, { from, to })
    if (!data) throw tooManyGroups('clicks')
    return c.json({ data })
  })

/** Returns the error of days with too much to count. */
export const tooManyGroups = (what: string) => {
  const { rows, groups } = REPORT_LIMITS
  return invalidQuery(
    `From \`from\` to \`to\`, there are more than ${rows.toLocaleString('en')} ${what} or ${groups.toLocaleString('en')} groups. Ask for fewer days.`,
  )
}
