import type { Grant } from '../auth/grant.ts'
import { digest } from '../auth/secret.ts'
import { eventTable } from '../db/records/record-table.ts'
import type { Row } from '../db/records/store-delivery.ts'
import { pointerOf } from '../ingest/envelope.ts'
import { type Arrival, named, type Resource, type Rows } from '../ingest/resource.ts'
import type { Judged } from '../ingest/validate-records.ts'
import type { Entity } from '../validation/record-validator.ts'
import { warning } from '../validation/warnings.ts'
import { definitionsByName } from './definition.ts'
import { check, keyOf, REQUIRED, type Reader } from './event.ts'
import { activity as fields } from './fields.ts'
import { dayAt } from './zone.ts'

function entityOf({ time_zone, events }: Grant): Entity {
  const reader: Reader = { zone: time_zone, definitions: definitionsByName(events) }
  return {
    wraps: false,
    nameOf: () => null,
    keyOf: (record) => keyOf(record, reader),
    check: (record) => check(record, reader),
  }
}

/** What is longer is kept as its digest: it is only ever compared. */
const LONGEST = 300

const shortened = async (text: string) => (text.length > LONGEST ? `h ${await digest(text)}` : text)

/**
 * What is kept: each record under what tells it from others, in array order where two are the same.
 * An event that nothing tells from others is known by its request and its place there.
 */
async function rowsOf({ form, good, bad }: Judged, arrival: Arrival): Promise<Rows> {
  const { id: delivery, idempotencyKey, grant, receivedAt } = arrival
  const first_day = dayAt(grant.time_zone, receivedAt)
  const request = idempotencyKey === null ? `r ${delivery}` : `k ${idempotencyKey}`
  const all = await Promise.all(
    good.map(async ({ index, record, warnings }): Promise<Row> => {
      const { identity, details, ...columns } = record as Record<string, string | null | undefined>
      if (identity === null && idempotencyKey === null) {
        warnings.push(warning('not_deduplicated', pointerOf(form, index)))
      }
      const id = identity
        ? await shortened(identity)
        : `${request} ${String(index).padStart(3, '0')}`
      const values = { ...columns, id, first_day, details: details && (await shortened(details)) }
      return { idx: index, values }
    }),
  )
  const strays = bad.map(
    ({ index, record: { customer_id } }): Row => ({
      idx: index,
      values: { customer_id },
      odd: 'wrong',
    }),
  )
  return { ...inOrder(all), strays }
}

/** The rows of each key, the first apart from those that come again. */
function inOrder(all: readonly Row[]): Pick<Rows, 'rows' | 'later'> {
  const before = new Map<unknown, Row>()
  const rows: Row[] = []
  const later: Row[] = []
  for (const row of all) {
    const last = before.get(row.values.id)
    if (last === undefined) rows.push(row)
    else later.push({ ...row, odd: isSame(last, row) ? 'again' : 'later' })
    before.set(row.values.id, row)
  }
  return { rows, later }
}

/** Whether two records are the same in all that is kept, but for how it was written. */
const isSame = (one: Row, other: Row) =>
  eventTable.columns.every(
    (name) => eventTable.silent.includes(name) || one.values[name] === other.values[name],
  )

/** What customers of a brand did. */
export const activities: Resource = {
  name: 'activities',
  title: 'Activity',
  description:
    'One event, or one day of one customer with several KPIs. It is known by its `eventid`; without one, a day by `eventname`, `customerid`, day, `Currency` and product; otherwise each record is an event of its own. Members that are not listed are KPI fields where they are decimals, and details otherwise; all are kept.',
  fields,
  required: REQUIRED,
  key: ['eventid'],
  customerFilter: 'customerid',
  neverRejected: [],
  recordTable: eventTable,
  referenceMember: 'customerid',
  referenceIssue: { code: 'unknown_customer' },
  validator: async (grant) => entityOf(await grant),
  rowsOf,
  keyFromColumns,
  policy: ({ unknown_customer }) => unknown_customer,
  acceptsIdempotencyKey: true,
  hasItemRoute: false,
  columns: ['id', 'record'],
  present: ({ record }) => JSON.parse(record as string),
  groups: ['eventname', 'product', 'currency'],
  sums: ['amount'],
  kpis: 'kpis',
  wire: { currency: 'Currency', amount: 'Value' },
}

/** The members of an identity that is kept; of a daily aggregate the day, for its time is not. */
function keyFromColumns([id]: readonly (string | null)[]): Record<string, string> | undefined {
  if (id?.startsWith('e ')) return { eventid: id.slice(2) }
  if (!id?.startsWith('d ')) return undefined
  const names = ['eventname', 'customerid', 'createtime', 'Currency', 'product']
  return named(names, JSON.parse(id.slice(2)))
}
