import type { Context } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { databaseOf } from '../db/database.ts'
import { deliver, type Parcel, type Row } from '../db/records/store-delivery.ts'
import { ApiError } from '../errors.ts'
import { readBody } from '../http/body.ts'
import { parseJson } from '../http/json.ts'
import { readPrefer } from '../http/prefer.ts'
import { readDryRun } from '../http/query.ts'
import type { Entity } from '../validation/record-validator.ts'
import { isObject } from '../validation/record-validator.ts'
import { logged } from './delivery-errors.ts'
import { newDeliveryId } from './delivery-id.ts'
import { digestOf, readIdempotencyKey } from './idempotency.ts'
import { summaryOf } from './outcome.ts'
import type { Arrival, Resource, Rows } from './resource.ts'
import { answer } from './response.ts'
import { type Judged, judge } from './validate-records.ts'

/**
 * Receives one delivery: reads and judges the body while the gate is asked, stores what may be
 * stored in one round trip (two, where records move), and says what became of each record.
 */
export function receive(c: Context<Caller>, resource: Resource): Promise<Response> {
  const work = handled(c, resource)
  // A caller that hangs up must not leave a turn taken, or a retry undone.
  c.executionCtx.waitUntil(work.catch(() => {}))
  return work
}

async function handled(c: Context<Caller>, resource: Resource): Promise<Response> {
  const { admitted } = c.var
  const preferences = readPrefer(c.req.header('Prefer'))
  const dryRun = readDryRun(c.req.url)
  const key = resource.acceptsIdempotencyKey
    ? readIdempotencyKey(c.req.header('Idempotency-Key'))
    : null
  const sent = await readBody(c.req.raw, admitted)
  try {
    const { judged, entity } = await read(sent.take(), resource, admitted)
    const grant = await admitted
    const receivedAt = Date.now()
    const id = newDeliveryId(receivedAt)
    const arrival = { env: c.env, grant, id, receivedAt, idempotencyKey: key }
    const parcel: Parcel = {
      ...(await packed(judged, resource, arrival, sent.isLarge)),
      idempotency: key === null ? null : { key, digest: await digestOf(judged.sent) },
      dryRun,
      lenient: preferences.lenient,
      told: !preferences.minimal || mayWarn(judged, resource, grant),
    }
    if (sent.isLarge) Object.assign(judged, slim(judged, resource, entity))
    const session = databaseOf(c.env, grant.binding).withSession('first-primary')
    const receipt = await deliver(session, resource.recordTable, parcel)
    c.set('delivery', { delivery_id: id, outcomes: summaryOf(receipt.delivery) })
    c.header('x-d1-bookmark', session.getBookmark()!)
    if (preferences.applied) c.header('Preference-Applied', preferences.applied)
    return answer(c, { judged, resource, entity, parcel, receipt, minimal: preferences.minimal })
  } finally {
    sent.release()
  }
}

/** What the records are judged by, and what is found. */
async function read(text: string, resource: Resource, admitted: Promise<Grant>) {
  const body = parseJson(text)
  const entity = await resource.validator(admitted)
  return { entity, judged: judge(body, entity) }
}

/** The records as they are kept, and what is known of them together. */
async function packed(judged: Judged, resource: Resource, arrival: Arrival, isLarge: boolean) {
  const records = await resource.rowsOf(judged, arrival)
  if (isLarge) checkSize(records)
  const { id, grant, receivedAt } = arrival
  return {
    ...records,
    id,
    account: grant.account,
    resource: resource.name,
    form: judged.form,
    receivedAt,
    policy: resource.policy(grant),
    received: judged.sent.length,
    wrong: judged.wrong,
    errorsTotal: judged.errorsTotal,
    errors: logged(judged.issues),
    yesterday: isOf(receivedAt - DAY_MS, records, resource),
    today: isOf(receivedAt, records, resource),
  }
}

/** What an answer says of a large body's records: memory has no room for all of it, thrice. */
const slim = (judged: Judged, { referenceMember }: Resource, entity: Entity): Partial<Judged> => ({
  good: judged.good.map((one) => ({ ...one, record: {} })),
  bad: [],
  sent: judged.sent.map((record) =>
    isObject(record)
      ? {
          ...(referenceMember && { [referenceMember]: Reflect.get(record, referenceMember) }),
          ...entity.keyOf(record),
        }
      : record,
  ),
})

/** A minimal answer tells only of records with a warning: it can be known that there is none. */
const mayWarn = ({ good }: Judged, { recordTable, policy }: Resource, grant: Grant) =>
  policy(grant) === 'warn' ||
  recordTable.asksVerdict ||
  recordTable.personal.length > 0 ||
  good.some(({ warnings }) => warnings.length > 0)

const DAY_MS = 86_400_000

/** Whether it brings what happened on that day (UTC): feeds are due by the next morning. */
function isOf(time: number, { rows, later }: Rows, { recordTable }: Resource): boolean {
  const day = new Date(time).toISOString().slice(0, 10)
  const isThen = ({ values }: Row) => values[recordTable.day] === day
  return rows.some(isThen) || later.some(isThen)
}

/** As rows they may take so many characters: an isolate has 128 MB, and makes more of them. */
const MAX_CHARACTERS = 12_000_000

/**
 * Refuses what would become far larger than it was sent: quotes within texts within texts. A body
 * that is not large cannot come so far.
 */
function checkSize({ rows, later }: Rows): void {
  let characters = 0
  for (const { values } of [...rows, ...later]) {
    for (const value of Object.values(values)) {
      if (typeof value === 'string') characters += value.length
    }
  }
  if (characters <= MAX_CHARACTERS) return
  throw new ApiError('payload_too_large', { detail: 'Send fewer records: these are too large.' })
}
