import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { withObjectRetry } from '../auth/object-retry.ts'
import { withinJurisdiction } from '../auth/placement.ts'
import { resolveDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import { customerExists, erasePersonalData, listErasures } from '../db/records/erasure.ts'
import { checkPercentEncoding, invalidQuery, readQuery } from '../http/query.ts'
import { id as anyId } from '../validation/fields.ts'
import { findRouteAccount } from './accounts.ts'
import { notFound } from './body.ts'
import { isBrand, maskActivities } from './erased-activities.ts'
import { respondWithList } from './list-route.ts'

/** The steps in which one request masks activities, at most 1000 each; a cron job does the rest. */
const STEPS_PER_REQUEST = 10

/** Routes for erasures. An erasure removes personal data, and masks it in all later deliveries. */
export const erasures = new Hono<AppEnv>()
  .delete('/customers/:customer_id/personal-data', (c) => {
    readQuery(c.req.url)
    checkPercentEncoding(new URL(c.req.url).pathname)
    return eraseCustomer(c, c.req.param('customer_id'))
  })

  // URL parsers drop the path segments `.` and `..`, so such an id can only be sent in the query.
  .delete('/customers/personal-data', (c) => {
    const { customer_id } = readQuery(c.req.url, 'customer_id')
    if (customer_id === undefined) throw invalidQuery('The parameter `customer_id` is missing.')
    return eraseCustomer(c, customer_id)
  })

  .get('/erasures', (c) =>
    respondWithList(c, 'erasures', ({ id }, page, db) => listErasures(db, id, page)),
  )

/**
 * Erases the personal data of one customer, or throws `not_found`. `complete` is false if stored
 * activities remain, which a cron job then masks.
 */
async function eraseCustomer(c: Context<AppEnv>, customer_id: string): Promise<Response> {
  const row = await findRouteAccount(c)
  const { id: account, binding, vertical } = row
  const db = resolveDatabase(c.env, binding)
  if (!v.is(anyId, customer_id) || !(await customerExists(db, account, customer_id))) {
    throw notFound('customer', customer_id)
  }
  // The journal comes first: an erasure that it holds can be replayed, any other would be lost.
  const now = new Date().toISOString()
  const erased_at = await withObjectRetry(() =>
    withinJurisdiction(c.env.ERASURE_JOURNAL, row).getByName(account).add(customer_id, now),
  )
  const entry = { actor: c.var.actor, action: 'customer.erase', account, details: { customer_id } }
  const scope = { isBrand: isBrand(vertical), isRepeated: false }
  await withAudit(db, entry, erasePersonalData(db, account, [{ customer_id, erased_at }], scope))
  const complete = await maskActivities(c.env, db, { account, customer_id }, STEPS_PER_REQUEST)
  return c.json({ customer_id, erased_at, complete })
}
