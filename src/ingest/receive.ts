import type { Context } from 'hono'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { HMAC, hmacKeys } from '../platform/auth/hmac-keys.ts'
import { accountDatabase } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import { type RequestBody, readBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { type Preferences, readPrefer } from '../platform/http/prefer.ts'
import { canonicalJson } from '../platform/validation/canonical-json.ts'
import { isObject, type RecordValidator } from '../platform/validation/record-validator.ts'
import { dayInZone } from '../platform/zone.ts'
import { deliveryUrl } from './account-url.ts'
import type { DeliveryInput } from './db/request.ts'
import { storeDelivery } from './db/store-delivery.ts'
import { toLoggedErrors } from './delivery-errors.ts'
import { newDeliveryId } from './delivery-id.ts'
import type { RecordRows, RequestContext, Resource } from './resource.ts'
import { issuesOf, respond } from './response.ts'
import { type ValidatedRequest, validateRecords } from './validate-records.ts'

/**
 * Receives a delivery. Stores all records or none (lenient: the valid ones) in one batch, and responds with each
 * outcome.
 */
export function receive(
  c: Context<AppEnv>,
  resource: Resource,
  dryRun: boolean,
): Promise<Response> {
  const handling = handleDelivery(c, resource, readOptions(c, resource, dryRun))
  // If the caller disconnects, the work still finishes: it must release the memory of the body.
  c.executionCtx.waitUntil(handling.catch(() => {}))
  return handling
}

/** The options of a request, from its headers and query. */
interface DeliveryOptions {
  preferences: Preferences
  dryRun: boolean
  idempotencyKey: string | null
}

async function handleDelivery(
  c: Context<AppEnv>,
  resource: Resource,
  options: DeliveryOptions,
): Promise<Response> {
  const body = await readBody(c.req.raw, c.var.grant.account)
  try {
    return await storeBody(c, resource, options, body)
  } finally {
    body.memory.release()
  }
}

async function storeBody(
  c: Context<AppEnv>,
  resource: Resource,
  options: DeliveryOptions,
  body: RequestBody,
): Promise<Response> {
  const prepared = await prepare(c, resource, options, body)
  const { grant, input, validated, validator } = prepared
  const db = accountDatabase(c.env, { id: grant.account, binding: grant.binding })
  const session = db.withSession('first-primary')
  const decision = await storeDelivery(session, resource.recordTable, input)
  c.set('delivery', {
    delivery_id: input.id,
    outcomes: decision.summary,
  })
  const { applied, minimal } = options.preferences
  if (applied) c.header('Preference-Applied', applied)
  const url = deliveryUrl(c.env, grant, input.id)
  return respond(c, { validated, resource, validator, input, decision, url, minimal })
}

const readOptions = (c: Context<AppEnv>, resource: Resource, dryRun: boolean): DeliveryOptions => ({
  preferences: readPrefer(c.req.header('Prefer')),
  dryRun,
  idempotencyKey: resource.acceptsIdempotencyKey
    ? readIdempotencyKey(c.req.header('Idempotency-Key'))
    : null,
})

/**
 * Validates the body and returns what to store and what the response needs. Empties `body`. `validated` keeps only
 * keys and references; the full records are in `input`. Both copies would not fit in memory.
 */
async function prepare(
  c: Context<AppEnv>,
  resource: Resource,
  { preferences, dryRun, idempotencyKey }: DeliveryOptions,
  body: RequestBody,
) {
  const { grant } = c.var
  const validator = resource.validator(grant)
  const value = parseJson(body.takeText(), body.mayBeInexact)
  const validated = validateRecords(value, validator)
  const receivedAt = Date.now()
  const context = { env: c.env, grant, id: newDeliveryId(receivedAt), receivedAt, idempotencyKey }
  const { warnings, ...records } = await resource.buildRows(validated, context)
  for (const record of validated.valid) record.warnings.push(...(warnings.get(record.index) ?? []))
  checkRowSize(records)
  const needed = withoutContent(validated, resource, validator)
  const input: DeliveryInput = {
    ...toDeliveryInput(validated, resource, context, records),
    idempotency: await readIdempotency(context, validated, validator),
    dryRun,
    lenient: preferences.lenient,
    describeErrors: (decision) => {
      const judged = { validated: needed, resource, validator, input }
      const context = { ...resource, form: needed.form }
      const issues = issuesOf(judged, decision)
      const codes = [...new Set(issues.map(({ code }) => code))]
      return { json: JSON.stringify(toLoggedErrors(issues, context)), codes }
    },
  }
  return { grant, input, validated: needed, validator }
}

function toDeliveryInput(
  validated: ValidatedRequest,
  resource: Resource,
  context: RequestContext,
  records: Omit<RecordRows, 'warnings'>,
) {
  const { id, grant, receivedAt } = context
  return {
    ...records,
    id,
    account: grant.account,
    resource: resource.name,
    form: validated.form,
    receivedAt,
    receivedDay: records.receivedDay ?? dayInZone('UTC', receivedAt),
    storageQuota: grant.storage_quota,
    policy: resource.policy(grant),
    received: validated.records.length,
    invalidCount: validated.invalidCount,
    errorsTotal: validated.errorsTotal,
  }
}

const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/**
 * Returns the `Idempotency-Key`, or null if none was sent.
 *
 * @throws ApiError `invalid_request` for a malformed key.
 */
function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (KEY_PATTERN.test(header)) return header
  throw new ApiError('invalid_request', {
    detail: 'The header `Idempotency-Key` must have 1 to 255 visible ASCII characters.',
  })
}

/** Returns the key of a request with the digests of its records; null if it has none. */
async function readIdempotency(
  { env, idempotencyKey }: Pick<RequestContext, 'env' | 'idempotencyKey'>,
  { records }: Pick<ValidatedRequest, 'records'>,
  validator: RecordValidator,
): Promise<DeliveryInput['idempotency']> {
  if (idempotencyKey === null) return null
  const digests = await digestRecords(env.TRACKING_KEYS, records, validator)
  return { key: idempotencyKey, digests }
}

/**
 * Returns the digests of records under all keys of `keys` (TRACKING_KEYS), that of the first key first. They
 * ignore the order of members and white space.
 *
 * The digests outlive an erasure. Without the HMAC keys, which are not in the database, a reader of the
 * database could test guesses of an erased name: everything else of the records is often known.
 *
 * A digest also covers the identities that depend on settings of the account: if a setting changes, a
 * repeated request would otherwise be stored a second time, under other identities.
 */
export async function digestRecords(
  keys: string,
  records: readonly unknown[],
  { configuredIdentityOf }: Pick<RecordValidator, 'configuredIdentityOf'> = {},
): Promise<string[]> {
  const identities = records.flatMap((record, index) => {
    const identity = isObject(record) ? configuredIdentityOf?.(record) : undefined
    return identity === undefined ? [] : [[index, identity]]
  })
  const suffix = identities.length > 0 ? ` ${canonicalJson(identities)}` : ''
  const text = canonicalJson(records) + suffix
  const message = new TextEncoder().encode(`records ${text}`)
  const macs = await Promise.all(
    (await hmacKeys(keys)).map((key) => crypto.subtle.sign(HMAC, key, message)),
  )
  return macs.map((mac) => new Uint8Array(mac).toHex())
}

/** Returns a copy with only the members that a response needs: keys and references. */
const withoutContent = (
  validated: ValidatedRequest,
  { referenceMember }: Resource,
  validator: RecordValidator,
): ValidatedRequest => ({
  ...validated,
  valid: validated.valid.map((valid) => ({ ...valid, record: {} })),
  invalid: [],
  records: validated.records.map((record) =>
    isObject(record)
      ? {
          ...(referenceMember && { [referenceMember]: record[referenceMember] }),
          ...validator.validKeyOf(record),
        }
      : record,
  ),
})

/** The contract: the maximum number of characters of all rows of a request. An isolate has 128 MB of memory. */
const MAX_ROW_CHARACTERS = 12_000_000

/**
 * Checks the size of the rows of a large body. Nested JSON is stored as text within text, whose
 * escaped quotes can make it several times larger than it was sent.
 *
 * @throws ApiError `payload_too_large`
 */
export function checkRowSize({ rows }: Pick<RecordRows, 'rows'>): void {
  let characters = 0
  for (const { values } of rows) {
    for (const value of Object.values(values)) {
      if (typeof value === 'string') characters += value.length
    }
  }
  if (characters <= MAX_ROW_CHARACTERS) return
  throw new ApiError('payload_too_large', {
    detail: 'The records are too large to store together. Send fewer records per request.',
  })
}
