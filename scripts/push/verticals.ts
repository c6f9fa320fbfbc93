import type { Resource } from '../../src/ingest/resource.ts'
import { forex } from '../../src/trading/forex.ts'
import { propTrading } from '../../src/trading/prop-trading.ts'
import { keyOf } from '../../src/validation/strict-object.ts'
import { brands } from './brand.ts'
import { type Credential, clientCredentials } from './credentials.ts'
import type { Delivery } from './deliver.ts'

/** Records of one kind, as far as reading them is concerned. */
export interface Shape {
  readonly name: string
  /** The names that a record may have. */
  readonly fields: readonly string[]
  /** Those of them whose CSV cells are numbers. */
  readonly numeric: ReadonlySet<string>
  /** What tells one record from another; undefined where a record has nothing of the kind. */
  readonly keyOf: (record: unknown) => string | undefined
}

/** A resource, as far as sending it is concerned. */
export interface Target extends Shape {
  /** Whether a bulk may have several records of one key: they apply in its order. */
  readonly mayRepeat: boolean
  /** What a bulk is sent with beside what all are, so that the service knows it again. */
  readonly headersOf: (bulk: Delivery) => Record<string, string>
}

/** A vertical: where its resources are, and how its senders say who they are. */
export interface Vertical {
  readonly name: string
  readonly path: string
  readonly credential: Credential
  readonly resources: readonly Target[]
}

/** The verticals that can be sent to: another one is another value. */
export const VERTICALS: readonly Vertical[] = [
  ...[propTrading, forex].map(({ vertical, resources }) => ({
    name: vertical,
    path: `/api/v1/${vertical}`,
    credential: clientCredentials,
    resources: resources.map(targetOf),
  })),
  brands,
]

function targetOf({ name, columns, fields, key }: Resource): Target {
  const numeric = columns.filter((field) => !isText(fields[field]!))
  return {
    name,
    fields: columns,
    numeric: new Set(numeric),
    keyOf: (record) => wholeKey(record, key),
    mayRepeat: false,
    headersOf: () => ({}),
  }
}

function isText(schema: { type: string; wrapped?: { type: string } }): boolean {
  return (schema.wrapped ?? schema).type === 'string'
}

/** A record without its whole key is refused, so no order is to be kept for it. */
function wholeKey(record: unknown, names: readonly string[]): string | undefined {
  if (typeof record !== 'object' || record === null) return undefined
  const key = keyOf(record, names)
  return key && Object.keys(key).length === names.length ? JSON.stringify(key) : undefined
}
