import { Hono } from 'hono'
import type { Caller } from '../auth/bearer.ts'
import { findDelivery, listDeliveries } from '../db/deliveries.ts'
import { affiliatesOf } from '../db/directory.ts'
import { listHeld } from '../db/held.ts'
import type { Shown } from '../db/list.ts'
import type { Delivery } from '../db/tables.ts'
import { type Tally, totalsOf } from '../db/totals.ts'
import { ApiError } from '../errors.ts'
import { idsFrom, receivedAt } from '../ingest/delivery-id.ts'
import { errorsOf } from '../ingest/log.ts'
import { statusOf, summaryOf } from '../ingest/outcome.ts'
import { invalidQuery, readDays, readQuery } from '../ingest/query.ts'
import { answerPage, PAGING, readPage } from './page.ts'
import { reading } from './session.ts'

/** How long the log of deliveries is kept. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

/** The contract: totals span at most so many days. */
const MAX_DAYS = 366

/** What an account may ask about itself and about what it sent. */
export const desk = (resources: readonly (Shown & Tally & { key: readonly string[] })[]) =>
  new Hono<Caller>()
    .get('/account', async (c) => {
      readQuery(c.req.url)
      return reading(c, async ({ grant, session }) => {
        const { account, binding: _, unknown_customer, unknown_affiliate, ...shown } = grant
        const affiliates = await affiliatesOf(session, account)
        const policies = { unknown_customer, unknown_affiliate }
        return c.json({ account, ...shown, policies, affiliates })
      })
    })

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
        const resource = resources.find(({ name }) => name === found.resource)!
        return c.json({ ...presentDelivery(found), errors: errorsOf(found, resource) })
      })
    })

    .get('/totals', async (c) => {
      const { from, to } = readDays(readQuery(c.req.url, 'from', 'to'))
      if (!from || !to) throw invalidQuery('from and to are needed: the first and the last day.')
      const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1
      if (days > MAX_DAYS) throw invalidQuery(`from and to span at most ${MAX_DAYS} days.`)
      return reading(c, async ({ grant, session }) =>
        c.json({ data: await totalsOf(session, resources, grant.account, from, to) }),
      )
    })

    .get('/held', async (c) => {
      const asked = readQuery(c.req.url, ...PAGING)
      return reading(c, async ({ grant, session }) => {
        const context = JSON.stringify([grant.account, 'held'])
        const page = await readPage(c.env, context, asked)
        const found = await listHeld(session, resources, grant.account, page)
        const data = found.data.map(({ resource, delivery_id, record }) => {
          const received_at = timeOf(receivedAt(delivery_id))
          return { resource, received_at, delivery_id, record }
        })
        return answerPage(c, context, page, { ...found, data })
      })
    })

const oldest = () => idsFrom(Date.now() - KEPT_MS)

const timeOf = (ms: number) => new Date(ms).toISOString()

const presentDelivery = (delivery: Delivery) => ({
  delivery_id: delivery.id,
  received_at: timeOf(delivery.received_at),
  resource: delivery.resource,
  status: statusOf(delivery),
  dry_run: delivery.dry_run === 1,
  summary: summaryOf(delivery),
  errors_total: delivery.errors_total,
})
