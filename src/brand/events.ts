import type { Grant } from '../auth/grant.ts'
import type { Row } from '../db/deliver.ts'
import { eventShelf } from '../db/shelf.ts'
import { pointerOf } from '../ingest/envelope.ts'
import type { Arrival, Rows } from '../ingest/intake.ts'
import type { Entity, Judged } from '../ingest/judge.ts'
import { warning } from '../ingest/warnings.ts'
import { check, keyOf, type Reader } from './activity.ts'
import type { BrandResource } from './resource.ts'
import { dayAt } from './zone.ts'

function entityOf({ time_zone, events }: Grant): Entity {
  const definitions = new Map(events.map((definition) => [definition.eventname, definition]))
  const reader: Reader = { zone: time_zone, definitions }
  return {
    wraps: false,
    nameOf: () => null,
    keyOf: (record) => keyOf(record, reader),
    check: (record) => check(record, reader),
  }
}

/**
 * What is kept: each record under what tells it from others, in array order where two are the same.
 * An event that nothing tells from others is known by its request and its place there.
 */
async function rowsOf({ form, good, bad }: Judged, arrival: Arrival): Promise<Rows> {
  const { id: delivery, idempotencyKey, grant, receivedAt } = arrival
  const first_day = dayAt(grant.time_zone, receivedAt)
  const request = idempotencyKey === null ? `r ${delivery}` : `k ${idempotencyKey}`
  const rows: Row[] = []
  const later: Row[] = []
  const said = new Map<string, string>()
  for (const { index, record, warnings } of good) {
    const { identity, ...columns } = record
    if (identity === null && idempotencyKey === null) {
      warnings.push(warning('not_deduplicated', pointerOf(form, index)))
    }
    const id = (identity as string | null) ?? `${request} ${String(index).padStart(3, '0')}`
    const before = said.get(id)
    const content = contentOf(columns)
    said.set(id, content)
    const row: Row = { idx: index, values: { ...columns, id, first_day } }
    if (before === undefined) rows.push(row)
    else later.push({ ...row, odd: before === content ? 'again' : 'later' })
  }
  const strays = bad.map(
    ({ index, record: { customer_id } }): Row => ({
      idx: index,
      values: { customer_id },
      odd: 'wrong',
    }),
  )
  return { rows, later, strays }
}

/** What two records must have in common to be the same: all that is kept, but how it was written. */
const contentOf = ({ record: _, ...columns }: Record<string, unknown>) =>
  JSON.stringify(eventShelf.columns.map((name) => columns[name] ?? null))

/** What customers of a brand did. */
export const activities: BrandResource = {
  name: 'activities',
  shelf: eventShelf,
  reference: 'customerid',
  refusal: { code: 'unknown_customer' },
  entity: async (admitted) => entityOf(await admitted),
  rowsOf,
  keyFrom,
  policy: ({ unknown_customer }) => unknown_customer,
  repeatable: true,
  single: false,
  columns: ['id', 'record'],
  present: ({ record }) => JSON.parse(record as string),
  groups: ['eventname', 'product', 'currency'],
  sums: ['amount'],
  kpis: 'kpis',
  wire: { currency: 'Currency', amount: 'Value' },
}

/** The members of an identity that is kept; of a daily aggregate the day, for its time is not. */
function keyFrom([id]: readonly (string | null)[]): Record<string, string> | undefined {
  if (id?.startsWith('e ')) return { eventid: id.slice(2) }
  if (!id?.startsWith('d ')) return undefined
  const values = JSON.parse(id.slice(2)) as (string | null)[]
  const names = ['eventname', 'customerid', 'createtime', 'Currency', 'product']
  return Object.fromEntries(
    names.flatMap((name, i) => (values[i] ? [[name, values[i]] as const] : [])),
  )
}
