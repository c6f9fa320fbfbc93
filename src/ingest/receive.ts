import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { resolveDatabase } from '../db/database.ts'
import type { DeliveryInput } from '../db/records/delivery-input.ts'
import type { Row } from '../db/records/json-chunks.ts'
import { storeDelivery } from '../db/records/store-delivery.ts'
import { ApiError } from '../errors.ts'
import { readBody } from '../http/body.ts'
import { parseJson } from '../http/json.ts'
import { readPrefer } from '../http/prefer.ts'
import { readDryRun } from '../http/query.ts'
import type { RecordValidator } from '../validation/record-validator.ts'
import { isObject } from '../validation/record-validator.ts'
import { serializeErrors } from './delivery-errors.ts'
import { newDeliveryId } from './delivery-id.ts'
import { digestRecords, readIdempotencyKey } from './idempotency.ts'
import { summaryOf } from './outcome.ts'
import type { RecordRows, RequestContext, Resource } from './resource.ts'
import { respond } from './response.ts'
import { type ValidatedRequest, validateRecords } from './validate-records.ts'

/**
 * Receives one delivery: reads and judges the body while the gate is asked, stores what may be
 * stored in one round trip (two, where records move), and says what became of each record.
 */
export function receive(c: Context<AppEnv>, resource: Resource): Promise<Response> {
  const work = handleDelivery(c, resource)
  // A caller that hangs up must not leave a turn taken, or a retry undone.
  c.executionCtx.waitUntil(work.catch(() => {}))
  return work
}

async function handleDelivery(c: Context<AppEnv>, resource: Resource): Promise<Response> {
  const { grantPromise } = c.var
  const preferences = readPrefer(c.req.header('Prefer'))
  const dryRun = readDryRun(c.req.url)
  const key = resource.acceptsIdempotencyKey
    ? readIdempotencyKey(c.req.header('Idempotency-Key'))
    : null
  const sent = await readBody(c.req.raw, grantPromise)
  try {
    const { validated, validator } = await validateBody(sent.takeText(), resource, grantPromise)
    const grant = await grantPromise
    const receivedAt = Date.now()
    const id = newDeliveryId(receivedAt)
    const context = { env: c.env, grant, id, receivedAt, idempotencyKey: key }
    const input: DeliveryInput = {
      ...(await toDeliveryInput(validated, resource, context, sent.isLarge)),
      idempotency: key === null ? null : { key, digest: await digestRecords(validated.records) },
      dryRun,
      lenient: preferences.lenient,
      returnRecordOutcomes: !preferences.minimal || mayHaveWarnings(validated, resource, grant),
    }
    if (sent.isLarge) Object.assign(validated, withoutContent(validated, resource, validator))
    const session = resolveDatabase(c.env, grant.binding).withSession('first-primary')
    const stored = await storeDelivery(session, resource.recordTable, input)
    c.set('delivery', { delivery_id: id, outcomes: summaryOf(stored.delivery) })
    c.header('x-d1-bookmark', session.getBookmark()!)
    if (preferences.applied) c.header('Preference-Applied', preferences.applied)
    return respond(c, {
      validated,
      resource,
      validator,
      input,
      stored,
      minimal: preferences.minimal,
    })
  } finally {
    sent.release()
  }
}

/** What the records are validated by, and what is found. */
async function validateBody(text: string, resource: Resource, grantPromise: Promise<Grant>) {
  const body = parseJson(text)
  const validator = await resource.validator(grantPromise)
  return { validator, validated: validateRecords(body, validator) }
}

/** The records as they are kept, and what is known of them together. */
async function toDeliveryInput(
  validated: ValidatedRequest,
  resource: Resource,
  context: RequestContext,
  isLarge: boolean,
) {
  const records = await resource.rowsOf(validated, context)
  if (isLarge) checkRowSize(records)
  const { id, grant, receivedAt } = context
  return {
    ...records,
    id,
    account: grant.account,
    resource: resource.name,
    form: validated.form,
    receivedAt,
    policy: resource.policy(grant),
    received: validated.records.length,
    invalidCount: validated.invalidCount,
    errorsTotal: validated.errorsTotal,
    errors: serializeErrors(validated.issues),
    hasYesterday: hasRecordOfDay(receivedAt - DAY_MS, records, resource),
    hasToday: hasRecordOfDay(receivedAt, records, resource),
  }
}

/** What an answer says of a large body's records: memory has no room for all of it, thrice. */
const withoutContent = (
  validated: ValidatedRequest,
  { referenceMember }: Resource,
  validator: RecordValidator,
): Partial<ValidatedRequest> => ({
  valid: validated.valid.map((one) => ({ ...one, record: {} })),
  invalid: [],
  records: validated.records.map((record) =>
    isObject(record)
      ? {
          ...(referenceMember && { [referenceMember]: Reflect.get(record, referenceMember) }),
          ...validator.keyOf(record),
        }
      : record,
  ),
})

/** A minimal answer tells only of records with a warning: it can be known that there is none. */
const mayHaveWarnings = (
  { valid }: ValidatedRequest,
  { recordTable, policy }: Resource,
  grant: Grant,
) =>
  policy(grant) === 'warn' ||
  recordTable.warnsOnAttribution ||
  recordTable.personalColumns.length > 0 ||
  valid.some(({ warnings }) => warnings.length > 0)

const DAY_MS = 86_400_000

/** Whether it brings what happened on that day (UTC): feeds are due by the next morning. */
function hasRecordOfDay(
  time: number,
  { rows, repeatedRows }: RecordRows,
  { recordTable }: Resource,
): boolean {
  const day = new Date(time).toISOString().slice(0, 10)
  const isThen = ({ values }: Row) => values[recordTable.dayColumn] === day
  return rows.some(isThen) || repeatedRows.some(isThen)
}

/** As rows they may take so many characters: an isolate has 128 MB, and makes more of them. */
const MAX_CHARACTERS = 12_000_000

/**
 * Refuses what would become far larger than it was sent: quotes within texts within texts. A body
 * that is not large cannot come so far.
 */
function checkRowSize({ rows, repeatedRows }: RecordRows): void {
  let characters = 0
  for (const { values } of [...rows, ...repeatedRows]) {
    for (const value of Object.values(values)) {
      if (typeof value === 'string') characters += value.length
    }
  }
  if (characters <= MAX_CHARACTERS) return
  throw new ApiError('payload_too_large', { detail: 'Send fewer records: these are too large.' })
}
