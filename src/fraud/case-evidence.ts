import * as v from 'valibot'
import { clickTime } from '../attribution/code.ts'
import type { FoundPage, Page } from '../platform/db/paginate.ts'
import type { Fixed } from '../platform/http/operation-words.ts'
import { dayText } from '../platform/money/calendar.ts'
import { day } from '../platform/validation/answer-fields.ts'
import { component } from '../platform/validation/described.ts'
import { member, nullable } from '../platform/validation/fields.ts'
import { pageRecords, type RecordValues, readMainValues } from './db/evidence.ts'

// The records of a stored case on the wire.

const RESOURCES = [
  'customers',
  'transactions',
  'trading-activity',
  'activities',
  'statements',
  'payees',
] as const

/** A record of a case. */
export const fraudEvidence = component('FraudEvidence', () => ({
  resource: member(
    v.picklist(RESOURCES),
    'The resource of the record, `statements`, or `payees`: bank details.',
  ),
  id: member(
    v.string(),
    'The id of the record. Of trading activity: day, customer, instrument and currency. Of bank details: affiliate and version.',
  ),
  customer_id: nullable(v.string(), 'The customer. Null for a statement and for bank details.'),
  day: member(day, 'The day of the record.'),
  delivery_id: nullable(
    v.string(),
    'The delivery that had last written the record. Null for a statement and for bank details.',
  ),
  values: nullable(
    v.record(v.string(), v.nullable(v.union([v.string(), v.number()]))),
    'The main values of the record, by the names of its fields. Null if it is gone.',
  ),
  changed: member(
    v.boolean(),
    'Whether the record was changed since the case names it, or is not in the database.',
  ),
}))

/** A record of a case, as it is answered. */
export type PresentedEvidence = Fixed<v.InferOutput<typeof fraudEvidence>>

/** Reads one page of the records of a case, with their main values. */
export async function pageEvidence(
  db: D1DatabaseSession,
  account: string,
  case_id: string,
  page: Page,
): Promise<FoundPage<PresentedEvidence>> {
  const found = await pageRecords(db, account, case_id, page)
  const values = await readMainValues(db, account, found.data)
  const data = found.data.map(({ resource, id, day, customer_id, delivery_id }, place) => {
    const row = values.get(place) ?? null
    return {
      resource,
      id,
      customer_id,
      day: dayText(day),
      delivery_id,
      values: row && presentValues(row),
      changed: row === null || (row.delivery ?? null) !== delivery_id,
    }
  })
  return { ...found, data }
}

const TIMES = new Set(['signup_date', 'transaction_date', 'createtime'])

const instant = (value: string | number | null) =>
  value === null ? null : new Date(value).toISOString()

/** Presents the values of a record; of the code in `tracking_data` only the time of its click. */
const presentValues = ({ delivery: _, tracking_data: code, ...values }: RecordValues) => ({
  ...Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, TIMES.has(name) ? instant(value) : value]),
  ),
  ...(code !== undefined && { clicked_at: instant(clickTime(String(code ?? ''))) }),
})
