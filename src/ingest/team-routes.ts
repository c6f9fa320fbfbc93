import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { readArrivalsByDay } from '../db/records/arrivals.ts'
import {
  countDeliveryErrors,
  type DeliveryErrorCount,
} from '../db/records/count-delivery-errors.ts'
import { listRecords } from '../db/records/list.ts'
import { readRecordsBeginning, readStoredRecords } from '../db/records/stored-record.ts'
import { DAY_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithRecords } from '../http/pagination.ts'
import { invalidQuery, readChoice, readDayRange, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { quote, quoteAll } from '../validation/quote.ts'
import {
  readAttention,
  readOpenQuestions,
  readReturned,
  readReview,
  readUnapproved,
} from './attention.ts'
import { DELIVERY_LOG_MS, deliveryTime, firstIdAt } from './delivery-id.ts'
import { outcomeOfStored, toIsoTime } from './find-deliveries.ts'
import type { Resource, ResourcesOf } from './resource.ts'

/** The paths of `teamReading`, below the path of an account. */
export const TEAM_READING_PATHS = {
  attention: '/attention',
  arrivals: '/arrivals',
  errors: '/delivery-errors',
  records: '/records/:resource',
  recordsById: '/records',
} as const

/**
 * Routes of the integrations team: what needs the attention of an account, what arrived by day, its
 * errors across deliveries, and its records.
 */
export const teamReading = (resourcesOf: ResourcesOf) =>
  new Hono<AppEnv>()
    .get(TEAM_READING_PATHS.attention, (c) => respondWithAttention(c, resourcesOf))
    .get(TEAM_READING_PATHS.arrivals, respondWithArrivals)
    .get(TEAM_READING_PATHS.errors, respondWithErrors)
    .get(TEAM_READING_PATHS.records, (c) =>
      respondWithRecordList(c, c.req.param('resource'), resourcesOf),
    )
    .get(TEAM_READING_PATHS.recordsById, (c) => respondWithRecordsById(c, resourcesOf))

function respondWithAttention(c: Context<AppEnv>, resourcesOf: ResourcesOf) {
  readQuery(c.req.url)
  return withReadSession(c, async (reader) => {
    const now = Date.now()
    const found = await Promise.all([
      readAttention(c.env, reader, resourcesOf(reader.grant.vertical), now),
      readUnapproved(reader),
      readReview(reader, now),
      readReturned(reader),
      readOpenQuestions(reader),
    ])
    return c.json({ data: found.flat() })
  })
}

/** The days that are listed, today included. */
const ARRIVAL_DAYS = 30

function respondWithArrivals(c: Context<AppEnv>) {
  readQuery(c.req.url)
  return withReadSession(c, async ({ grant, session }) => {
    const from = (Math.floor(Date.now() / DAY_MS) - ARRIVAL_DAYS + 1) * DAY_MS
    const rows = await readArrivalsByDay(session, grant.account, from)
    const data = rows.map(({ day, ...row }) => ({
      day: toIsoTime(day * DAY_MS).slice(0, 'YYYY-MM-DD'.length),
      ...row,
    }))
    return c.json({ data })
  })
}

/** The deliveries with an error. */
export type CountedErrors = ReturnType<typeof presentCounted>

const presentCounted = ({ code, deliveries, delivery }: DeliveryErrorCount) => ({
  ...{ code, deliveries, last_delivery_id: delivery },
  last_received_at: toIsoTime(deliveryTime(delivery)),
})

function respondWithErrors(c: Context<AppEnv>) {
  const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
  return withReadSession(c, async ({ grant, session }) => {
    const oldestTime = Date.now() - DELIVERY_LOG_MS
    const days = daysFrom(Math.max(Date.parse(from), oldestTime), Date.parse(to))
    const rows = await countDeliveryErrors(session, grant.account, days, firstIdAt(oldestTime))
    if (!rows)
      throw invalidQuery(
        'From `from` to `to`, there are too many errors. Ask for fewer days.',
        'from',
      )
    const data = rows.map(presentCounted)
    return c.json({ data })
  })
}

/** Returns the numbers of days since 1970 from one time to another, both in milliseconds. */
function daysFrom(from: number, to: number): number[] {
  const first = Math.floor(from / DAY_MS)
  const length = Math.max(0, Math.floor(to / DAY_MS) - first + 1)
  return Array.from({ length }, (_, i) => first + i)
}

function respondWithRecordList(c: Context<AppEnv>, name: string, resourcesOf: ResourcesOf) {
  const { customer_id, ...query } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'customer_id')
  const filter = customer_id === undefined ? {} : { customer_id }
  return withReadSession(c, async (reader) => {
    const { grant, session } = reader
    const resources = resourcesOf(grant.vertical)
    const resource = resources.find((one) => one.name === name)
    if (!resource) throw noResource(name, resources)
    const context = JSON.stringify([grant.account, 'records', name, filter])
    const page = await readPage(c.env, context, query)
    return respondWithRecords(c, grant.account, context, page, (bounded) =>
      listRecords(session, resource, grant.account, filter, bounded),
    )
  })
}

const noResource = (name: string, resources: readonly Resource[]) =>
  new ApiError('not_found', {
    detail: `The account has no resource ${quote(name)}. It has ${quoteAll(resources.map((one) => one.name))}.`,
  })

/** How the ids of found records relate to the one of the query. */
const MATCHES = ['exact', 'beginning'] as const

/** `GET records?id=`: the records that are stored under an id, of all resources. */
function respondWithRecordsById(c: Context<AppEnv>, resourcesOf: ResourcesOf) {
  const { id, match } = readQuery(c.req.url, 'id', 'match')
  if (id === undefined) throw invalidQuery('The parameter `id` is missing.')
  const isBeginning = readChoice('match', match, MATCHES) === 'beginning'
  const read = isBeginning ? readRecordsBeginning : readStoredRecords
  return withReadSession(c, async (reader) => {
    const { grant, session } = reader
    const found = await read(session, resourcesOf(grant.vertical), grant.account, id)
    const data = found.map(({ delivery, held, ...one }) => ({
      ...one,
      outcome: outcomeOfStored({ revision: one.revision, held }),
      delivery_id: delivery,
      received_at: toIsoTime(deliveryTime(delivery)),
    }))
    return c.json({ data })
  })
}
