import * as v from 'valibot'
import { withoutNulls } from '../db/records/list.ts'
import { keyColumnsOf } from '../db/records/record-table.ts'
import type { Table } from '../db/table.ts'
import { keyMembers, type Resource } from '../ingest/resource.ts'
import { countryWarnings, usdWarnings, whitespaceWarnings } from '../validation/plausibility.ts'
import type { JsonObject } from '../validation/record-validator.ts'
import { strictObject } from '../validation/strict-object.ts'
import { currencyWarnings, type Warning } from '../validation/warnings.ts'
import { PERSONAL_FIELDS, partnerRows } from './rows.ts'

/** The properties of a partner resource that do not follow from its fields. */
type ResourceOptions = Pick<
  Resource,
  'name' | 'title' | 'hasItemRoute' | 'groups' | 'policy' | 'recordTable'
> & {
  /** The instant whose day filters and totals use, by the account's book zone; null if the key has the day. */
  dayField: string | null
  /** The numeric fields that the control totals sum, in any vertical. */
  summedFields: readonly string[]
}

/** Returns a partner resource. Does not compile unless the fields agree with the columns of the table. */
export function defineResource<T extends Table, const E extends v.ObjectEntries>(
  table: T,
  { dayField, summedFields, ...options }: ResourceOptions,
  entries: E & FieldsFitColumns<T, E>,
): Resource {
  const key = keyColumnsOf(table)
  const { recordTable } = options
  const { reference } = recordTable
  const ids = [...new Set([...key, ...(reference ? [reference.column] : [])])]
  const warn = (record: JsonObject) => warningsOf(record, ids)
  const validator = strictObject(options.title, v.object(entries), key, PERSONAL_FIELDS, warn)
  return {
    ...options,
    fields: entries,
    key,
    loggedKey: key,
    required: [],
    neverRejected: [],
    customerFilter: 'customer_id',
    acceptsIdempotencyKey: false,
    columns: Object.keys(entries),
    present: withoutNulls,
    sums: summedFields.filter((name) => name in entries),
    referenceMember: reference?.column ?? null,
    timeMember: dayField ?? recordTable.dayColumn,
    referenceIssue: { code: REFERENCE_CODES[reference?.table ?? 'customers'] },
    validator: () => validator,
    buildRows: partnerRows(recordTable, dayField),
    keyFromColumns: (values) => keyMembers(key, values),
  }
}

/** The issue code of an unknown reference, by the table that it refers to. */
const REFERENCE_CODES = { customers: 'unknown_customer', affiliates: 'unknown_affiliate' } as const

const warningsOf = (record: JsonObject, ids: readonly string[]): Warning[] => [
  ...currencyWarnings(record.currency, '/currency'),
  ...ids.flatMap((name) => whitespaceWarnings(name, record[name])),
  ...countryWarnings('country_code', record.country_code),
  ...usdWarnings(record),
]

/** The columns of a table that hold a field of a partner record. */
type FieldColumns<T extends Table> = Omit<T['$inferInsert'], OtherColumns>
type OtherColumns =
  | 'account'
  | 'day'
  | 'first_day'
  | 'held'
  | 'delivery'
  | 'idx'
  | 'revision'
  | 'regtime'
  | 'extras'
  | 'verdict'
  | 'link'

type FieldsFitColumns<
  T extends Table,
  E extends v.ObjectEntries,
> = keyof E extends keyof FieldColumns<T>
  ? v.InferOutput<v.ObjectSchema<E, undefined>> extends FieldColumns<T>
    ? unknown
    : 'a field disagrees with its column'
  : 'a field has no column'
