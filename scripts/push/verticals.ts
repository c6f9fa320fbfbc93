import type { Resource } from '../../src/ingest/resource.ts'
import { forex } from '../../src/trading/forex.ts'
import { propTrading } from '../../src/trading/prop-trading.ts'
import { pickKey } from '../../src/validation/strict-object.ts'
import { brands } from './brand.ts'
import { clientCredentials } from './credentials.ts'
import type { Target, Vertical } from './vertical.ts'

/** The verticals that records can be sent to. */
export const VERTICALS: readonly Vertical[] = [
  ...[propTrading, forex].map(({ vertical, resources }) => ({
    name: vertical,
    path: `/api/v1/${vertical}`,
    credential: clientCredentials,
    resources: resources.map(toTarget),
  })),
  brands,
]

function toTarget(resource: Resource): Target {
  const { name, columns, fields, key } = resource
  const numeric = columns.filter((field) => !isText(fields[field]!))
  return {
    name,
    resource,
    fields: columns,
    numeric: new Set(numeric),
    identityOf: (record) => completeKey(record, key),
    mayRepeat: false,
    isId: () => true,
    merges: false,
    headersOf: () => ({}),
  }
}

function isText(schema: { type: string; wrapped?: { type: string } }): boolean {
  return (schema.wrapped ?? schema).type === 'string'
}

/** Returns the key as text. A record without a complete key is refused, so it needs no order. */
function completeKey(record: unknown, names: readonly string[]): string | undefined {
  if (typeof record !== 'object' || record === null) return undefined
  const key = pickKey(record, names)
  return key && Object.keys(key).length === names.length ? JSON.stringify(key) : undefined
}
