import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { findRecord, listRecords } from '../db/records/list.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readDays, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/session.ts'
import { receive } from '../ingest/receive.ts'
import type { Resource } from '../ingest/resource.ts'

/** Returns the routes of a resource: write, list and, if it has an item route, read one record. */
export function recordRoutes(resource: Resource) {
  const { customerFilter } = resource
  const days = resource.name === 'customers' ? [] : (['from', 'to'] as const)
  const routes = new Hono<AppEnv>()
    .post('/', (c) => receive(c, resource))
    .get('/', async (c) => {
      const query = readQuery(c.req.url, ...PAGE_PARAMETERS, customerFilter, ...days)
      const { [customerFilter]: customer_id, from, to } = readDays(query)
      const filter = {
        ...(customer_id !== undefined && { customer_id }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      }
      return withReadSession(c, async ({ grant, session }) => {
        const context = JSON.stringify([grant.account, resource.name, filter])
        const page = await readPage(c.env, context, query)
        const records = await listRecords(session, resource, grant.account, filter, page)
        return respondWithPage(c, context, page, records)
      })
    })
  if (!resource.hasItemRoute) return routes

  return routes.get('/:id', async (c) => {
    readQuery(c.req.url)
    return withReadSession(c, async ({ grant, session }) => {
      const record = await findRecord(session, resource, grant.account, c.req.param('id'))
      if (!record) throw new ApiError('not_found')
      return c.json(record)
    })
  })
}
