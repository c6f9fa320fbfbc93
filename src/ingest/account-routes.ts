import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { listAffiliateIds } from '../db/directory/credentials.ts'
import { listHeld } from '../db/records/release.ts'
import { readTotals } from '../db/records/totals.ts'
import { ReadMemory } from '../http/memory.ts'
import { PAGE_PARAMETERS, readPage, respondWithRecords } from '../http/pagination.ts'
import { invalidQuery, readDayRange, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { sendJson } from '../http/send.ts'
import { readAttention } from './attention.ts'
import { deliveryTime } from './delivery-id.ts'
import {
  respondWithDeliveries,
  respondWithDelivery,
  respondWithRefused,
} from './delivery-routes.ts'
import { findCreation, readFeedsOf } from './feed.ts'
import { toIsoTime } from './find-deliveries.ts'
import type { ResourcesOf } from './resource.ts'

/** The maximum number of affiliates that `GET account` lists: an account may have any number of them. */
const MAX_LISTED_AFFILIATES = 1000

/**
 * `GET account`: the account that the credentials belong to, with its first configured affiliates and
 * what needs attention.
 */
export const accountInfo = (resourcesOf: ResourcesOf) =>
  new Hono<AppEnv>().get('/account', async (c) => {
    readQuery(c.req.url)
    return withReadSession(c, async ({ grant, session }) => {
      const [ids, attention] = await Promise.all([
        listAffiliateIds(session, grant.account, MAX_LISTED_AFFILIATES + 1),
        readAttention(c.env, { grant, session }, resourcesOf(grant.vertical), Date.now()),
      ])
      const affiliates = ids.slice(0, MAX_LISTED_AFFILIATES)
      const hasMore = ids.length > affiliates.length
      return c.json({
        ...presentAccount(grant),
        affiliates,
        attention,
        ...(hasMore && { more_affiliates: true }),
      })
    })
  })

/** The paths of `accountRoutes`, below the path of an account. */
export const ACCOUNT_PATHS = {
  deliveries: '/deliveries',
  delivery: '/deliveries/:delivery_id',
  refused: '/deliveries/:delivery_id/refused',
  totals: '/totals',
  held: '/held',
  feed: '/feed',
} as const

/**
 * The number of requests that a read counts as. The reads that are not listed count as one; these cost the
 * database more than a page of records.
 */
const REQUEST_WEIGHTS: ReadonlyMap<string, number> = new Map([
  [ACCOUNT_PATHS.totals, 10],
  [ACCOUNT_PATHS.held, 5],
])

/** Returns the number of requests that a request to a path below `base` counts as. */
export const requestWeight =
  (base: string) =>
  (path: string): number =>
    (path.startsWith(base) ? REQUEST_WEIGHTS.get(path.slice(base.length)) : undefined) ?? 1

/** Routes for an account and the integrations team: deliveries, totals, held records and feeds. */
export const accountRoutes = (resourcesOf: ResourcesOf) =>
  new Hono<AppEnv>()
    .get(ACCOUNT_PATHS.deliveries, (c) => respondWithDeliveries(c, resourcesOf))
    .get(ACCOUNT_PATHS.delivery, (c) =>
      respondWithDelivery(c, c.req.param('delivery_id'), resourcesOf),
    )
    .get(ACCOUNT_PATHS.refused, (c) =>
      respondWithRefused(c, c.req.param('delivery_id'), resourcesOf),
    )
    .get(ACCOUNT_PATHS.totals, (c) => respondWithTotals(c, resourcesOf))
    .get(ACCOUNT_PATHS.held, (c) => respondWithHeld(c, resourcesOf))
    .get(ACCOUNT_PATHS.feed, (c) => respondWithFeed(c, resourcesOf))

function respondWithTotals(c: Context<AppEnv>, resourcesOf: ResourcesOf) {
  const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
  const response = withReadSession(c, async ({ grant, session }) => {
    const resources = resourcesOf(grant.vertical)
    const memory = new ReadMemory(grant.account)
    try {
      const data = await readTotals(session, resources, grant.account, from, to, (bytes) =>
        memory.reserve(bytes),
      )
      if (data) return await sendJson(c, { data, ...bookZoneMember(grant) }, memory)
    } catch (error) {
      memory.release()
      throw error
    }
    memory.release()
    throw invalidQuery(
      'From `from` to `to`, there are too many totals. Ask for fewer days.',
      'from',
    )
  })
  // If the caller disconnects, the reading still ends, so that the totals that it has summed are kept.
  c.executionCtx.waitUntil(response.catch(() => {}))
  return response
}

function respondWithHeld(c: Context<AppEnv>, resourcesOf: ResourcesOf) {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
  return withReadSession(c, async ({ grant, session }) => {
    const context = JSON.stringify([grant.account, 'held', 'by customer'])
    const page = await readPage(c.env, context, query)
    return respondWithRecords(c, grant.account, context, page, async (bounded) => {
      const held = await listHeld(session, resourcesOf(grant.vertical), grant.account, bounded)
      const data = held.data.map(({ resource, delivery_id, record }) => {
        const received_at = toIsoTime(deliveryTime(delivery_id))
        return { resource, received_at, delivery_id, record }
      })
      return { ...held, data }
    })
  })
}

function respondWithFeed(c: Context<AppEnv>, resourcesOf: ResourcesOf) {
  readQuery(c.req.url)
  return withReadSession(c, async ({ grant, session }) => {
    const names = resourcesOf(grant.vertical).map(({ name }) => name)
    const now = Date.now()
    const { account } = grant
    const createdAt = findCreation(c.env.DB, account)
    const [data = []] = await readFeedsOf(session, [{ account, createdAt, names }], now)
    return c.json({ data })
  })
}

/** Returns the book zone of a partner; nothing if it is UTC, or for a brand. */
const bookZoneMember = ({ vertical, book_zone = 'UTC' }: Grant) =>
  vertical !== 'igaming' && book_zone !== 'UTC' ? { book_zone } : {}

/** Returns how a partner or brand writes the amounts of outflows; nothing if as magnitudes. */
const amountSignsMember = ({ amount_signs = 'magnitude' }: Grant) =>
  amount_signs === 'magnitude' ? {} : { amount_signs }

/** Returns an account as its own API shows it. A brand has no OAuth client, a partner no event definitions. */
function presentAccount(grant: Grant) {
  const { account, client_id, name, vertical, mode, time_zone, scope, events } = grant
  const { unknown_customer, unknown_affiliate } = grant
  return {
    account,
    ...(client_id !== null && { client_id }),
    name,
    vertical,
    mode,
    time_zone,
    ...bookZoneMember(grant),
    ...amountSignsMember(grant),
    scope,
    policies: { unknown_customer, unknown_affiliate },
    ...(client_id === null && { events }),
  }
}
