import { activities } from '../../src/ingest/brand/activities.ts'
import { customers } from '../../src/ingest/brand/customer.ts'
import { COLUMNS } from '../../src/ingest/brand/fields.ts'
import { igaming } from '../../src/ingest/brand/igaming.ts'
import { KNOWN_MEMBERS } from '../../src/ingest/db/record-table.ts'
import type { Resource } from '../../src/ingest/resource/resource.ts'
import { forex } from '../../src/ingest/trading/forex.ts'
import { propTrading } from '../../src/ingest/trading/prop-trading.ts'
import { pickKey } from '../../src/platform/validation/strict-object.ts'
import type { RecordShape } from './record.ts'

/** A resource that records can be sent to. */
export interface Target extends RecordShape {
  readonly resource: Resource
  /** Whether one bulk may have several records with the same key: they apply in order. */
  readonly mayRepeat: boolean
  /**
   * Returns the key of a record: of two with the same one, the later is sent when the earlier is stored. Undefined
   * if the record has no complete key: it is refused, so it needs no order.
   */
  readonly keyOf: (record: object) => string | undefined
  /** Whether of several records with this key the last one replaces the others. */
  readonly isId: (key: string) => boolean
  /** Whether records with one id are merged field by field; otherwise the last one counts. */
  readonly merges: boolean
}

/** A vertical: its address, the members of its credential, and its resources. */
export interface Vertical {
  readonly name: string
  readonly path: string
  readonly credential: readonly string[]
  readonly resources: readonly Target[]
}

/** Returns the members of a key as text, if a record has them all. */
const keyText = (record: object, names: readonly string[]): string | undefined => {
  const key = pickKey(record, names)
  return key && Object.keys(key).length === names.length ? JSON.stringify(key) : undefined
}

/** Brands may name members freely, and amounts may be decimal text: no cell has to be a number. */
const BRAND = { numeric: new Set<string>(), mayRepeat: true }

const brandCustomers: Target = {
  ...BRAND,
  name: 'customers',
  resource: customers,
  fields: Object.keys(COLUMNS),
  keyOf: (record) => keyText(record, ['customerId']),
  isId: () => true,
  merges: true,
}

const brandActivities: Target = {
  ...BRAND,
  name: 'activities',
  resource: activities,
  fields: [...KNOWN_MEMBERS, 'product'],
  // Activities without an id add up, or replace others of their customer.
  keyOf: (record) => keyText(record, ['eventid']) ?? keyText(record, ['customerid']),
  isId: (key) => key.startsWith('{"eventid":'),
  merges: false,
}

function toTarget(resource: Resource): Target {
  const { name, columns, fields, key } = resource
  return {
    name,
    resource,
    fields: columns,
    numeric: new Set(columns.filter((field) => !isText(fields[field]!))),
    keyOf: (record) => keyText(record, key),
    mayRepeat: false,
    isId: () => true,
    merges: false,
  }
}

const isText = (schema: { type: string; wrapped?: { type: string } }) =>
  (schema.wrapped ?? schema).type === 'string'

/** The verticals that records can be sent to. */
export const VERTICALS: readonly Vertical[] = [
  ...[propTrading, forex].map(({ vertical, resources }) => ({
    name: vertical,
    path: `/api/v1/${vertical}`,
    credential: ['client_id', 'client_secret'],
    resources: resources.map(toTarget),
  })),
  {
    name: igaming.vertical,
    path: '/tracking/events',
    credential: ['brand_token'],
    resources: [brandCustomers, brandActivities],
  },
]
