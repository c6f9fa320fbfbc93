import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { listAffiliateIds } from '../db/directory/clients.ts'
import { readArrivals } from '../db/records/arrivals.ts'
import { type DeliverySummary, findDelivery, listDeliveries } from '../db/records/deliveries.ts'
import { listHeld } from '../db/records/held.ts'
import { readTotals } from '../db/records/totals.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { invalidQuery, readDayRange, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/session.ts'
import { readErrors } from '../ingest/delivery-errors.ts'
import { DELIVERY_LOG_MS, deliveryTime, firstIdAt } from '../ingest/delivery-id.ts'
import { statusOf, summaryOf } from '../ingest/outcome.ts'
import type { Resource } from '../ingest/resource.ts'
import { feedFreshness } from './freshness.ts'

/** What an account may ask about itself. */
export const accountInfo = new Hono<AppEnv>().get('/account', async (c) => {
  readQuery(c.req.url)
  return withReadSession(c, async ({ grant, session }) => {
    const affiliates = await listAffiliateIds(session, grant.account)
    return c.json({ ...presentAccount(grant), affiliates })
  })
})

/** What an account, or who looks after it, may ask about what it sent. */
export const accountRoutes = (resourcesOf: (vertical: string) => readonly Resource[]) =>
  new Hono<AppEnv>()
    .get('/deliveries', async (c) => {
      const asked = readQuery(c.req.url, ...PAGE_PARAMETERS)
      return withReadSession(c, async ({ grant, session }) => {
        const context = JSON.stringify([grant.account, 'deliveries'])
        const page = await readPage(c.env, context, asked)
        const found = await listDeliveries(session, grant.account, oldest(), page)
        return respondWithPage(c, context, page, {
          ...found,
          data: found.data.map(presentDelivery),
        })
      })
    })

    .get('/deliveries/:delivery_id', async (c) => {
      readQuery(c.req.url)
      return withReadSession(c, async ({ grant, session }) => {
        const id = c.req.param('delivery_id')
        const found = await findDelivery(session, grant.account, oldest(), id)
        if (!found) throw new ApiError('not_found')
        const resource = resourcesOf(grant.vertical).find(({ name }) => name === found.resource)!
        return c.json({ ...presentDelivery(found), errors: readErrors(found, resource) })
      })
    })

    .get('/totals', async (c) => {
      const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
      return withReadSession(c, async ({ grant, session }) => {
        const resources = resourcesOf(grant.vertical)
        const data = await readTotals(session, resources, grant.account, from, to)
        if (data) return c.json({ data })
        throw invalidQuery('from and to: these are too many totals. Ask for fewer days.')
      })
    })

    .get('/held', async (c) => {
      const asked = readQuery(c.req.url, ...PAGE_PARAMETERS)
      return withReadSession(c, async ({ grant, session }) => {
        const context = JSON.stringify([grant.account, 'held'])
        const page = await readPage(c.env, context, asked)
        const found = await listHeld(session, resourcesOf(grant.vertical), grant.account, page)
        const data = found.data.map(({ resource, delivery_id, record }) => {
          const received_at = timeOf(deliveryTime(delivery_id))
          return { resource, received_at, delivery_id, record }
        })
        return respondWithPage(c, context, page, { ...found, data })
      })
    })

    .get('/feed', async (c) => {
      readQuery(c.req.url)
      return withReadSession(c, async ({ grant, session }) => {
        const names = resourcesOf(grant.vertical).map(({ name }) => name)
        const now = Date.now()
        const [arrivals = []] = await readArrivals(
          session,
          [{ account: grant.account, names }],
          now,
        )
        return c.json({ data: arrivals.map((one) => feedFreshness(one, now)) })
      })
    })

/** Whose token it is, as its holder may know: a brand has no client, a partner no event definitions. */
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
    scope,
    policies: { unknown_customer, unknown_affiliate },
    ...(client_id === null && { events }),
  }
}

const oldest = () => firstIdAt(Date.now() - DELIVERY_LOG_MS)

const timeOf = (ms: number) => new Date(ms).toISOString()

const presentDelivery = (delivery: DeliverySummary) => ({
  delivery_id: delivery.id,
  received_at: timeOf(delivery.received_at),
  resource: delivery.resource,
  status: statusOf(delivery),
  dry_run: delivery.dry_run === 1,
  summary: summaryOf(delivery),
  errors_total: delivery.errors_total,
})
