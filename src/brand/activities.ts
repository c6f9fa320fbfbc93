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
import { type Warning, warning } from '../validation/warnings.ts'
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

/** Identifiers and details longer than this, in characters, are stored as a digest: they are only compared. */
const MAX_STORED_LENGTH = 300

const shorten = async (text: string) =>
  text.length > MAX_STORED_LENGTH ? `h ${await digest(text)}` : text

/**
 * Returns a row for each event, under its identity. An event without an identity is stored under its
 * request and its index there, so that a retry of ours does not store it twice.
 */
async function activityRows(
  { form, valid, invalid }: ValidatedRequest,
  { id: delivery, idempotencyKey, grant, receivedAt }: RequestContext,
): Promise<RecordRows> {
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const request = idempotencyKey === null ? `r ${delivery}` : `k ${idempotencyKey}`
  const warnings = new Map<number, Warning[]>()
  const events = await Promise.all(
    valid.map(async ({ index, record }): Promise<Row> => {
      const { identity, details, ...columns } = record
      const hasIdentity = typeof identity === 'string'
      if (!hasIdentity && idempotencyKey === null) {
        warnings.set(index, [warning('not_deduplicated', recordPointer(form, index))])
      }
      const id = hasIdentity
        ? await shorten(identity)
        : `${request} ${String(index).padStart(3, '0')}`
      const stored = typeof details === 'string' ? await shorten(details) : undefined
      return { idx: index, values: { ...columns, id, first_day, details: stored } }
    }),
  )
  const invalidRows = invalid.map(
    ({ index, record: { customer_id } }): Row => ({
      idx: index,
      values: { customer_id },
      flag: 'wrong',
    }),
  )
  return { ...separateRepeated(events), invalidRows, warnings }
}

/** Separates the first row of each identity from the rows that repeat it. */
function separateRepeated(events: readonly Row[]): Pick<RecordRows, 'rows' | 'repeatedRows'> {
  const lastById = new Map<unknown, Row>()
  const rows: Row[] = []
  const repeatedRows: Row[] = []
  for (const row of events) {
    const last = lastById.get(row.values.id)
    if (last === undefined) rows.push(row)
    else repeatedRows.push({ ...row, flag: hasSameContent(last, row) ? 'again' : 'later' })
    lastById.set(row.values.id, row)
  }
  return { rows, repeatedRows }
}

/** Reports whether two rows differ at most in columns that are ignored in comparison. */
const hasSameContent = (a: Row, b: Row) =>
  eventTable.columns.every(
    (name) => eventTable.ignoredInComparison.includes(name) || a.values[name] === b.values[name],
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
  rowsOf: activityRows,
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
