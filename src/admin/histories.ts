import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import {
  listWarnings,
  unknownAffiliate,
  type WarningList,
} from '../commission/plans/assignments.ts'
import {
  type CustomerHistory,
  readHistories,
  replaceAffiliations,
} from '../db/commission/histories.ts'
import { deleteRefusal, putRefusal } from '../db/commission/refusals.ts'
import { resolveDatabase } from '../db/database.ts'
import { unconfiguredAmong } from '../db/directory/affiliates.ts'
import { withAudit } from '../db/directory/audit.ts'
import type { Account } from '../db/schema.ts'
import { checkPercentEncoding, invalidQuery, readQuery } from '../http/query.ts'
import { notFound, readFields, validateAt, validationFailed } from '../http/read-fields.ts'
import { id as anyId } from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { quote } from '../validation/quote.ts'
import { today } from './account-day.ts'
import { findRouteAccount } from './accounts.ts'
import { affiliation, correction, MAX_AFFILIATIONS, refusal } from './history-fields.ts'

/** A request about a customer: the account and its database, and the id that the request names. */
interface RouteCustomer {
  row: Account
  db: D1Database
  customer_id: string
}

/**
 * Returns what a request is about. URL parsers drop the path segments `.` and `..`, so an id can also
 * be sent in the query.
 *
 * @throws ApiError `not_found`, or `invalid_query` if the id is missing.
 */
async function readRoute(c: Context<AppEnv>): Promise<RouteCustomer> {
  const inPath = c.req.param('customer_id')
  checkPercentEncoding(new URL(c.req.url).pathname)
  const query: { customer_id?: string } =
    inPath === undefined ? readQuery(c.req.url, 'customer_id') : readQuery(c.req.url)
  const customer_id = inPath ?? query.customer_id
  if (customer_id === undefined) throw invalidQuery('The parameter `customer_id` is missing.')
  const row = await findRouteAccount(c)
  return { row, db: resolveDatabase(c.env, row.binding), customer_id }
}

/** Returns the history of a customer, or throws `not_found`. */
async function findHistory(c: Context<AppEnv>, { row, db, customer_id }: RouteCustomer) {
  const databases = { db, directory: c.env.DB }
  const histories = v.is(anyId, customer_id)
    ? await readHistories(databases, row.id, [customer_id])
    : null
  const history = histories?.get(customer_id)
  if (!history) throw notFound('customer', customer_id)
  return history
}

/** Returns the affiliates of a customer by day, as the administration API shows them. */
const presentAffiliations = (
  customer_id: string,
  { affiliations, refusal: refused }: CustomerHistory,
) => ({
  customer_id,
  affiliations: affiliations.map(({ from, affiliate_id, link, delivery_id, cause }) => ({
    from,
    affiliate_id,
    link_id: link,
    delivery_id,
    ...(cause && { cause }),
  })),
  refusal: refused,
})

async function getAffiliations(c: Context<AppEnv>) {
  const route = await readRoute(c)
  return c.json(presentAffiliations(route.customer_id, await findHistory(c, route)))
}

async function putAffiliations(c: Context<AppEnv>) {
  const route = await readRoute(c)
  const { row, db, customer_id } = route
  const { reason, affiliations: sent } = await readFields(c, correction)
  const { affiliations, issues } = readAffiliations(sent, today(row))
  if (issues.length > 0) throw validationFailed(issues)
  const { affiliations: before } = await findHistory(c, route)
  const details = { customer_id, reason, affiliations, before }
  const entry = { actor: c.var.actor, action: 'affiliations.put', account: row.id, details }
  await withAudit(db, entry, replaceAffiliations(db, row.id, customer_id, affiliations))
  const named = affiliations.flatMap(({ affiliate_id }) => affiliate_id ?? [])
  const warnings = affiliationWarnings(affiliations, await unconfiguredAmong(db, row.id, named))
  return c.json({ ...presentAffiliations(customer_id, await findHistory(c, route)), ...warnings })
}

async function getFields(c: Context<AppEnv>) {
  const route = await readRoute(c)
  const { fields } = await findHistory(c, route)
  return c.json({ customer_id: route.customer_id, fields })
}

async function refuse(c: Context<AppEnv>) {
  const route = await readRoute(c)
  const { row, db, customer_id } = route
  const { reason, from = null } = await readFields(c, refusal)
  const { refusal: before } = await findHistory(c, route)
  const refused = { from, reason, refused_at: new Date().toISOString() }
  const details = { customer_id, from, reason, before }
  const entry = { actor: c.var.actor, action: 'refusal.put', account: row.id, details }
  await withAudit(db, entry, [putRefusal(db, row.id, customer_id, refused)])
  return c.json({ customer_id, refusal: (await findHistory(c, route)).refusal })
}

async function endRefusal(c: Context<AppEnv>) {
  const route = await readRoute(c)
  const { row, db, customer_id } = route
  const { refusal: refused } = await findHistory(c, route)
  if (!refused) throw notFound('refusal of customer', customer_id)
  const details = { customer_id, ...refused }
  const entry = { actor: c.var.actor, action: 'refusal.delete', account: row.id, details }
  await withAudit(db, entry, [deleteRefusal(db, row.id, customer_id)])
  return c.body(null, 204)
}

/** Routes for what is known of a customer by day: affiliates and fields; and for refusals. */
export const histories = new Hono<AppEnv>()
for (const path of ['/customers/:customer_id', '/customers'] as const) {
  histories
    .get(`${path}/affiliations`, getAffiliations)
    .put(`${path}/affiliations`, putAffiliations)
    .get(`${path}/fields`, getFields)
    .put(`${path}/refusal`, refuse)
    .delete(`${path}/refusal`, endRefusal)
}

/** An affiliate of a customer as sent. */
interface SentAffiliation {
  from: string | null
  affiliate_id: string | null
}

/**
 * Returns the affiliations of a body, and the issues of all. The first holds from the beginning, the
 * others begin in order, none after `today`: what the account sends today must come after them.
 */
function readAffiliations(
  sent: readonly unknown[],
  today: string,
): { affiliations: SentAffiliation[]; issues: Issue[] } {
  if (sent.length < 1 || sent.length > MAX_AFFILIATIONS) {
    const expected = `1 to ${MAX_AFFILIATIONS} affiliations`
    const issue = { pointer: '/affiliations', code: 'length', expected } as const
    return { affiliations: [], issues: [{ ...issue, received: String(sent.length) }] }
  }
  const issues: Issue[] = []
  let previous = ''
  const affiliations = sent.map((item, i): SentAffiliation => {
    const pointer = `/affiliations/${i}`
    const { issues: own, output } = validateAt(item, affiliation, pointer)
    const { from = null, affiliate_id = null } = output
    const expected = own.length > 0 ? null : expectedDay(i, from, previous, today)
    if (expected) {
      own.push({ pointer: pointer + DAY_POINTER, code: 'pattern', expected, value: from })
    }
    issues.push(...own)
    previous = from ?? previous
    return { from, affiliate_id }
  })
  return { affiliations, issues }
}

/** Returns what the day of an affiliation must be, in words; null if it is valid. */
function expectedDay(index: number, from: string | null, previous: string, today: string) {
  if (index === 0) return from === null ? null : 'null in the first entry'
  if (from === null) return 'a day, since only the first entry holds from the beginning'
  if (from <= (previous || '0000-01-01')) return `a day after ${quote(previous || '0000-01-01')}`
  return from > today ? `a day up to today, ${quote(today)}` : null
}

/** Returns a warning for each affiliate that is not configured; at most 100 are listed. */
function affiliationWarnings(
  affiliations: readonly SentAffiliation[],
  unconfigured: ReadonlySet<string>,
): WarningList {
  const unknown = affiliations.flatMap(({ affiliate_id }, i) =>
    affiliate_id !== null && unconfigured.has(affiliate_id)
      ? [unknownAffiliate(`/affiliations/${i}/affiliate_id`, affiliate_id)]
      : [],
  )
  return listWarnings(unknown)
}

/** The pointer to the day within an affiliation. */
const DAY_POINTER = '/from'
