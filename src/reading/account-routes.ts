import { Hono } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { affiliatesOf } from '../db/directory/clients.ts'
import { arrivalsOf } from '../db/records/arrivals.ts'
import { findDelivery, type Listed, listDeliveries } from '../db/records/deliveries.ts'
import { listHeld } from '../db/records/held.ts'
import { totalsOf } from '../db/records/totals.ts'
import { ApiError } from '../errors.ts'
import { answerPage, PAGING, readPage } from '../http/pagination.ts'
import { invalidQuery, readQuery, readSpan } from '../http/query.ts'
import { reading } from '../http/session.ts'
import { errorsOf } from '../ingest/delivery-errors.ts'
import { idsFrom, KEPT_MS, receivedAt } from '../ingest/delivery-id.ts'
import { statusOf, summaryOf } from '../ingest/outcome.ts'
import type { Resource } from '../ingest/resource.ts'
import { freshness } from './freshness.ts'

/** What an account may ask about itself. */
export const self = new Hono<Caller>().get('/account', async (c) => {
  readQuery(c.req.url)
  return reading(c, async ({ grant, session }) => {
    const affiliates = await affiliatesOf(session, grant.account)
    return c.json({ ...presentAccount(grant), affiliates })
  })
})

/** What an account, or who looks after it, may ask about what it sent. */
export const desk = (resourcesOf: (vertical: string) => readonly Resource[]) =>
  new Hono<Caller>()
    .get('/deliveries', async (c) => {
      const asked = readQuery(c.req.url, ...PAGING)
      return reading(c, async ({ grant, session }) => {
        const context = JSON.stringify([grant.account, 'deliveries'])
        const page = await readPage(c.env, context, asked)
        const found = await listDeliveries(session, grant.account, oldest(), page)
        return answerPage(c, context, page, { ...found, data: found.data.map(presentDelivery) })
      })
    })

    .get('/deliveries/:delivery_id', async (c) => {
      readQuery(c.req.url)
      return reading(c, async ({ grant, session }) => {
        const id = c.req.param('delivery_id')
        const found = await findDelivery(session, grant.account, oldest(), id)
        if (!found) throw new ApiError('not_found')
        const resource = resourcesOf(grant.vertical).find(({ name }) => name === found.resource)!
        return c.json({ ...presentDelivery(found), errors: errorsOf(found, resource) })
      })
    })

    .get('/totals', async (c) => {
      const { from, to } = readSpan(readQuery(c.req.url, 'from', 'to'))
      return reading(c, async ({ grant, session }) => {
        const resources = resourcesOf(grant.vertical)
        const data = await totalsOf(session, resources, grant.account, from, to)
        if (data) return c.json({ data })
        throw invalidQuery('from and to: these are too many totals. Ask for fewer days.')
      })
    })

    .get('/held', async (c) => {
      const asked = readQuery(c.req.url, ...PAGING)
      return reading(c, async ({ grant, session }) => {
        const context = JSON.stringify([grant.account, 'held'])
        const page = await readPage(c.env, context, asked)
        const found = await listHeld(session, resourcesOf(grant.vertical), grant.account, page)
        const data = found.data.map(({ resource, delivery_id, record }) => {
          const received_at = timeOf(receivedAt(delivery_id))
          return { resource, received_at, delivery_id, record }
        })
        return answerPage(c, context, page, { ...found, data })
      })
    })

    .get('/feed', async (c) => {
      readQuery(c.req.url)
      return reading(c, async ({ grant, session }) => {
        const names = resourcesOf(grant.vertical).map(({ name }) => name)
        const now = Date.now()
        const [arrivals = []] = await arrivalsOf(session, [{ account: grant.account, names }], now)
        return c.json({ data: arrivals.map((one) => freshness(one, now)) })
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

const oldest = () => idsFrom(Date.now() - KEPT_MS)

const timeOf = (ms: number) => new Date(ms).toISOString()

const presentDelivery = (delivery: Listed) => ({
  delivery_id: delivery.id,
  received_at: timeOf(delivery.received_at),
  resource: delivery.resource,
  status: statusOf(delivery),
  dry_run: delivery.dry_run === 1,
  summary: summaryOf(delivery),
  errors_total: delivery.errors_total,
})
