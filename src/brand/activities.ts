import type { Grant } from '../auth/grant.ts'
import { digest } from '../auth/secret.ts'
import type { Row } from '../db/records/json-chunks.ts'
import { eventTable } from '../db/records/record-table.ts'
import { recordPointer } from '../ingest/envelope.ts'
import {
  keyMembers,
  type RecordRows,
  type RequestContext,
  type Resource,
} from '../ingest/resource.ts'
import type { ValidatedRequest } from '../ingest/validate-records.ts'
import type { RecordValidator } from '../validation/record-validator.ts'
import { warning } from '../validation/warnings.ts'
import { definitionsByName } from './definition.ts'
import { type EventRules, keyOf, REQUIRED, validateEvent } from './event.ts'
import { activity as fields } from './fields.ts'
import { dayInZone } from './zone.ts'

function activityValidator({ time_zone, events }: Grant): RecordValidator {
  const reader: EventRules = { zone: time_zone, definitions: definitionsByName(events) }
  return {
    acceptsDataWrapper: false,
    identityOf: () => null,
    keyOf: (record) => keyOf(record, reader),
    validate: (record) => validateEvent(record, reader),
  }
}

/** What is longer is kept as its digest: it is only ever compared. */
const MAX_ID = 300

const shorten = async (text: string) => (text.length > MAX_ID ? `h ${await digest(text)}` : text)

/**
 * What is kept: each record under what tells it from others, in array order where two are the same.
 * An event that nothing tells from others is known by its request and its place there.
 */
async function rowsOf(
  { form, valid, invalid }: ValidatedRequest,
  context: RequestContext,
): Promise<RecordRows> {
  const { id: delivery, idempotencyKey, grant, receivedAt } = context
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const request = idempotencyKey === null ? `r ${delivery}` : `k ${idempotencyKey}`
  const all = await Promise.all(
    valid.map(async ({ index, record, warnings }): Promise<Row> => {
      const { identity, details, ...columns } = record as Record<string, string | null | undefined>
      if (identity === null && idempotencyKey === null) {
        warnings.push(warning('not_deduplicated', recordPointer(form, index)))
      }
      const id = identity ? await shorten(identity) : `${request} ${String(index).padStart(3, '0')}`
      const values = { ...columns, id, first_day, details: details && (await shorten(details)) }
      return { idx: index, values }
    }),
  )
  const invalidRows = invalid.map(
    ({ index, record: { customer_id } }): Row => ({
      idx: index,
      values: { customer_id },
      flag: 'wrong',
    }),
  )
  return { ...separateRepeated(all), invalidRows }
}

/** The rows of each key, the first apart from those that come again. */
function separateRepeated(all: readonly Row[]): Pick<RecordRows, 'rows' | 'repeatedRows'> {
  const before = new Map<unknown, Row>()
  const rows: Row[] = []
  const repeatedRows: Row[] = []
  for (const row of all) {
    const last = before.get(row.values.id)
    if (last === undefined) rows.push(row)
    else repeatedRows.push({ ...row, flag: hasSameContent(last, row) ? 'again' : 'later' })
    before.set(row.values.id, row)
  }
  return { rows, repeatedRows }
}

/** Whether two records are the same in all that is kept, but for how it was written. */
const hasSameContent = (one: Row, other: Row) =>
  eventTable.columns.every(
    (name) =>
      eventTable.ignoredInComparison.includes(name) || one.values[name] === other.values[name],
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
  validator: async (grant) => activityValidator(await grant),
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
  return keyMembers(names, JSON.parse(id.slice(2)))
}
