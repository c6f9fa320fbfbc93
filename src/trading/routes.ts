import { Hono } from 'hono'
import type { Caller } from '../auth/bearer.ts'
import { findOne, list } from '../db/list.ts'
import { ApiError } from '../errors.ts'
import { readDays, readQuery } from '../ingest/query.ts'
import { receive } from '../ingest/receive.ts'
import { answerPage, PAGING, readPage } from '../reading/page.ts'
import { reading } from '../reading/session.ts'
import type { Resource } from './resource.ts'

/** What a partner may do with any resource: send records, and read them back. */
export function resourceRoutes(resource: Resource) {
  const routes = new Hono<Caller>()
    .post('/', (c) => receive(c, resource))
    .get('/', async (c) => {
      const filters = resource.name === 'customers' ? [] : (['from', 'to'] as const)
      const query = readQuery(c.req.url, ...PAGING, 'customer_id', ...filters)
      const { customer_id, from, to } = readDays(query)
      const filter = {
        ...(customer_id !== undefined && { customer_id }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      }
      return reading(c, async ({ grant, session }) => {
        const context = JSON.stringify([grant.account, resource.name, filter])
        const page = await readPage(c.env, context, query)
        const found = await list(session, resource, grant.account, filter, page)
        return answerPage(c, context, page, found)
      })
    })
  if (!resource.single) return routes

  return routes.get('/:id', async (c) => {
    readQuery(c.req.url)
    return reading(c, async ({ grant, session }) => {
      const found = await findOne(session, resource, grant.account, c.req.param('id'))
      if (!found) throw new ApiError('not_found')
      return c.json(found)
    })
  })
}
