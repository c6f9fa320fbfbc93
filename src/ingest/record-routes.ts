import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { findRecord, listRecords } from '../db/records/list.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithRecords } from '../http/pagination.ts'
import { checkPercentEncoding, invalidQuery, readDays, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { receive } from './receive.ts'
import type { Resource } from './resource.ts'

/** The last segment of the path that takes a record's id as a query parameter. */
const BY_ID = 'by-id'

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
      return withReadSession(c, async (reader) => {
        const { grant, session } = reader
        const context = JSON.stringify([grant.account, resource.name, filter])
        const page = await readPage(c.env, context, query)
        return respondWithRecords(c, grant.account, context, page, (bounded) =>
          listRecords(session, resource, grant.account, filter, bounded),
        )
      })
    })
  if (!resource.hasItemRoute) return routes

  return routes
    .get(`/${BY_ID}`, (c) => respondWithRecord(c, resource, readId(c.req.url, resource)))
    .get('/:id', (c) => {
      readQuery(c.req.url)
      checkPercentEncoding(new URL(c.req.url).pathname)
      return respondWithRecord(c, resource, c.req.param('id'))
    })
}

/**
 * Returns the id in a query. URL parsers drop the path segments `.` and `..`, so a record with such an
 * id has no path of its own. Without a query the path is that of the record whose id is `by-id`.
 */
function readId(url: string, { name, key, customerFilter }: Resource): string {
  if (new URL(url).search === '') return BY_ID
  const parameter = name === 'customers' ? customerFilter : key.join()
  const { [parameter]: id } = readQuery(url, parameter)
  if (id === undefined) throw invalidQuery(`The parameter \`${parameter}\` is missing.`)
  return id
}

const NO_RECORD = 'This account has no record with this id. Ids are case-sensitive.'

/** Responds with one record of the caller's account, or throws `not_found`. */
const respondWithRecord = (c: Context<AppEnv>, resource: Resource, id: string) =>
  withReadSession(c, async (reader) => {
    const { grant, session } = reader
    const record = await findRecord(session, resource, grant.account, id)
    if (!record) throw new ApiError('not_found', { detail: NO_RECORD })
    return c.json(record)
  })
