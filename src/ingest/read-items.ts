import { HMAC, importKeys } from '../platform/auth/hmac-keys.ts'
import { ApiError } from '../platform/errors.ts'
import { canonicalJson } from '../platform/validation/canonical-json.ts'
import {
  isObject,
  jsonType,
  MAX_LISTED_PER_RECORD,
  type RecordCheck,
  type RecordValidator,
} from '../platform/validation/record-validator.ts'
import { warning } from '../platform/validation/warnings.ts'
import { dayInZone } from '../platform/zone.ts'
import { toCells } from './db/cells.ts'
import type { Delivery, Item, Values } from './db/item.ts'
import type { RecordTable } from './db/record-table.ts'
import { type Envelope, recordPointer, unwrap } from './envelope.ts'
import type { DeliveryRequest, Resource } from './resource/resource.ts'

/**
 * Reads the records of a parsed body: validates each, and takes what is stored of it. Nothing of the body is kept but
 * cells, keys and references: a second copy would not fit in memory.
 *
 * @throws ApiError `payload_too_large` if the rows are too large to store together.
 */
export async function readItems(
  body: unknown,
  resource: Resource,
  request: DeliveryRequest,
): Promise<Delivery> {
  const { grant, receivedAt, idempotencyKey } = request
  const validator = resource.validator(grant)
  const envelope = unwrap(body, validator.acceptsDataWrapper)
  const { form, records, issues } = envelope
  const isRead = issues.every(({ code }) => code === 'unknown_field')
  return {
    id: request.id,
    account: grant.account,
    resource: resource.name,
    table: resource.recordTable,
    form,
    receivedAt,
    receivedDay: dayInZone(grant.vertical === 'igaming' ? grant.time_zone : 'UTC', receivedAt),
    dryRun: request.dryRun,
    lenient: request.preferences.lenient,
    storageQuota: grant.storage_quota,
    policy: resource.policy(grant),
    idempotency:
      idempotencyKey === null
        ? null
        : {
            key: idempotencyKey,
            digests: await digestRecords(request.env.TRACKING_KEYS, records, validator),
          },
    received: records.length,
    items: isRead ? await itemsOf(envelope, resource, request, validator) : [],
    issues,
  }
}

/** A record with its values, with which later ones of the same key are merged. */
interface Stored {
  readonly item: Item
  values: Values
}

/** Reads the records of a body in one pass. If the body as a whole is wrong, none has cells. */
async function itemsOf(
  { form, records, issues }: Envelope,
  resource: Resource,
  request: DeliveryRequest,
  validator: RecordValidator,
): Promise<Item[]> {
  const { recordTable: table, merge } = resource
  const [keyColumn = ''] = table.key
  const store = resource.storing(request)
  const identities = new Set<string>()
  const stored = new Map<unknown, Stored>()
  const items: Item[] = []
  for (const [index, record] of records.entries()) {
    const check = isObject(record) ? validator.validate(record) : notAnObject(record)
    const identity = isObject(record) ? validator.identityOf(record) : null
    if (identity !== null && identities.has(identity)) {
      check.issues.push({ pointer: '', code: 'duplicate_key' })
    } else if (identity !== null) identities.add(identity)
    const at = recordPointer(form, index)
    const item = newItem(index, check, at, table)
    items.push(item)
    if (item.issuesTotal > 0 || issues.length > 0) continue
    const warnings = check.warnings.slice(0, MAX_LISTED_PER_RECORD)
    const storing = store(check.output, index, warnings)
    // Most records need no promise, which would take as long as their validation.
    const values = storing instanceof Promise ? await storing : storing
    const earlier = merge && stored.get(values[keyColumn])
    if (earlier) {
      earlier.values = merge(earlier.values, values)
      earlier.item.cells = toCells(table, earlier.item.index, earlier.values)
      earlier.item.reference = item.reference
      item.first = earlier.item
      warnings.push(warning('repeated_key', ''))
    } else {
      item.cells = toCells(table, index, values)
      if (merge) stored.set(values[keyColumn], { item, values })
    }
    for (const one of warnings) item.warnings.push({ ...one, pointer: at + one.pointer })
  }
  checkRowSize(items)
  return items
}

/** Returns the item of a record at a pointer into the body, not yet stored. */
function newItem(
  index: number,
  { issues, output, key }: RecordCheck,
  at: string,
  { reference }: RecordTable,
): Item {
  const referred = reference && output[reference.column]
  return {
    index,
    key,
    cells: null,
    first: null,
    reference: typeof referred === 'string' ? referred : null,
    issues: issues
      .slice(0, MAX_LISTED_PER_RECORD)
      .map((issue) => ({ index, ...(key && { key }), ...issue, pointer: at + issue.pointer })),
    issuesTotal: issues.length,
    warnings: [],
    found: null,
    isRefusable: false,
    outcome: 'rejected',
    write: null,
  }
}

const notAnObject = (record: unknown): RecordCheck => ({
  issues: [{ pointer: '', code: 'type', expected: 'object', received: jsonType(record) }],
  output: {},
  warnings: [],
  key: undefined,
})

/** The contract: the maximum number of characters of all rows of a request. An isolate has 128 MB of memory. */
const MAX_ROW_CHARACTERS = 12_000_000

/**
 * Checks the size of the rows of a large body. Nested JSON is stored as text within text, whose
 * escaped quotes can make it several times larger than it was sent.
 *
 * @throws ApiError `payload_too_large`
 */
export function checkRowSize(items: readonly Pick<Item, 'cells'>[]): void {
  let characters = 0
  for (const { cells } of items) {
    for (const cell of cells ?? []) if (typeof cell === 'string') characters += cell.length
  }
  if (characters <= MAX_ROW_CHARACTERS) return
  throw new ApiError('payload_too_large', {
    detail: 'The records are too large to store together. Send fewer records per request.',
  })
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
    (await importKeys(keys)).map((key) => crypto.subtle.sign(HMAC, key, message)),
  )
  return macs.map((mac) => new Uint8Array(mac).toHex())
}
