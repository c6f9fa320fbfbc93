import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import { ReadMemory } from '../http/memory.ts'
import {
  linkNext,
  PAGE_PARAMETERS,
  pageMeta,
  readPage,
  respondWithPage,
} from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { sendJson } from '../http/send.ts'
import { type RefusedRecord, refusedRecords } from './delivery-errors.ts'
import {
  DELIVERY_PARAMETERS,
  findDeliveries,
  presentInFull,
  readDelivery,
} from './find-deliveries.ts'
import type { ResourcesOf } from './resource.ts'

/** `GET deliveries`: the deliveries of the caller, narrowed by the query. */
export function respondWithDeliveries(c: Context<AppEnv>, resourcesOf: ResourcesOf) {
  const {
    page: number,
    per_page,
    cursor,
    ...query
  } = readQuery(c.req.url, ...PAGE_PARAMETERS, ...DELIVERY_PARAMETERS)
  return withReadSession(c, async (reader) => {
    const { account } = reader.grant
    const resources = resourcesOf(reader.grant.vertical)
    const filters = Object.entries(query)
    const context = JSON.stringify([account, 'deliveries', ...(filters.length > 0 ? [query] : [])])
    const page = await readPage(c.env, context, { page: number, per_page, cursor })
    const { stored, ...found } = await findDeliveries(reader, resources, query, page)
    const memory = new ReadMemory(account)
    if (!stored) return respondWithPage(c, context, page, found, memory)
    const meta = pageMeta(page, found, await linkNext(c, context, page, found))
    return sendJson(c, { data: found.data, stored, meta }, memory)
  })
}

/** `GET deliveries/{delivery_id}`: a delivery with its first errors, and the same errors as groups. */
export function respondWithDelivery(c: Context<AppEnv>, id: string, resourcesOf: ResourcesOf) {
  readQuery(c.req.url)
  return withReadSession(c, async (reader) => {
    const resources = resourcesOf(reader.grant.vertical)
    const found = await readDelivery(reader, resources, id)
    return c.json(presentInFull(found.delivery, found.resource))
  })
}

/** `GET deliveries/{delivery_id}/refused`: all refused records of a delivery that the log keeps. */
export function respondWithRefused(c: Context<AppEnv>, id: string, resourcesOf: ResourcesOf) {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
  return withReadSession(c, async (reader) => {
    const { account, vertical } = reader.grant
    const context = JSON.stringify([account, 'refused', id])
    const page = await readPage(c.env, context, query)
    const { delivery, resource } = await readDelivery(reader, resourcesOf(vertical), id)
    const found = pageOfRefused(refusedRecords(delivery, resource), page)
    return respondWithPage(c, context, page, found, new ReadMemory(account))
  })
}

/** Returns one page of the refused records of a delivery; errors of the whole body come first. */
function pageOfRefused(
  records: readonly RefusedRecord[],
  { after, number, size }: Page,
): FoundPage<RefusedRecord> {
  const position = ({ index = -1 }: RefusedRecord) => index
  const isRest = (record: RefusedRecord) => !after || position(record) > Number(after[0])
  const first = after ? 0 : (number - 1) * size
  const rest = records.filter(isRest).slice(first)
  const data = rest.slice(0, size)
  const last = data.at(-1)
  return {
    data,
    total: records.length,
    isLimited: false,
    last: last && rest.length > size ? [position(last)] : null,
  }
}
