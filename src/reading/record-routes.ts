import { Hono } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import { findOne, list, type Shown } from '../db/records/list.ts'
import { ApiError } from '../errors.ts'
import { answerPage, PAGING, readPage } from '../http/pagination.ts'
import { readDays, readQuery } from '../http/query.ts'
import { reading } from '../http/session.ts'

/** Reads records back: a list, narrowed by their customer and their days, and one where it has an id. */
export function readable(
  resource: Shown & { readonly single: boolean },
  customer: 'customer_id' | 'customerid',
) {
  const routes = new Hono<Caller>().get('/', async (c) => {
    const days = resource.name === 'customers' ? [] : (['from', 'to'] as const)
    const query = readQuery(c.req.url, ...PAGING, customer, ...days)
    const { [customer]: customer_id, from, to } = readDays(query)
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
