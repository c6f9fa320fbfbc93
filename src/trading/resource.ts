import * as v from 'valibot'
import { withoutNulls } from '../db/records/list.ts'
import { keyColumnsOf as keyColumns } from '../db/records/record-table.ts'
import type { Table } from '../db/schema.ts'
import { keyMembers, type Resource } from '../ingest/resource.ts'
import { strictObject } from '../validation/strict-object.ts'
import { currencyWarnings } from '../validation/warnings.ts'
import { PERSONAL_FIELDS, partnerRows } from './rows.ts'

/** What a resource says of itself beside its fields. */
type ResourceOptions = Pick<
  Resource,
  'name' | 'title' | 'description' | 'hasItemRoute' | 'groups' | 'policy' | 'recordTable'
> & {
  /** The member whose day (UTC) filters and totals go by. */
  dated: string
  summed: readonly string[]
}

/** Ties a record's fields to the table that keeps them; does not compile when they disagree. */
export function defineResource<T extends Table, const E extends v.ObjectEntries>(
  table: T,
  { dated, summed, ...own }: ResourceOptions,
  entries: E & FieldsFitColumns<T, E>,
): Resource {
  const key = keyColumns(table)
  const validator = strictObject(own.title, v.object(entries), key, PERSONAL_FIELDS, warnOf)
  const { recordTable } = own
  return {
    ...own,
    fields: entries,
    key,
    required: [],
    neverRejected: [],
    customerFilter: 'customer_id',
    acceptsIdempotencyKey: false,
    columns: Object.keys(entries),
    present: withoutNulls,
    sums: summed.filter((name) => name in entries),
    referenceMember: recordTable.reference!.column,
    referenceIssue: { code: UNKNOWN_CODES[recordTable.reference!.table] },
    validator: () => validator,
    rowsOf: partnerRows(recordTable, dated),
    keyFromColumns: (values) => keyMembers(key, values),
  }
}

/** The code of a reference to what is not known, by the table where it should be. */
const UNKNOWN_CODES = { customers: 'unknown_customer', affiliates: 'unknown_affiliate' } as const

const warnOf = ({ currency }: Record<string, unknown>) => currencyWarnings(currency, '/currency')

type Columns<T extends Table> = Omit<T['$inferInsert'], OursAndDay>
type OursAndDay =
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

type FieldsFitColumns<T extends Table, E extends v.ObjectEntries> = keyof E extends keyof Columns<T>
  ? v.InferOutput<v.ObjectSchema<E, undefined>> extends Columns<T>
    ? unknown
    : 'a field disagrees with its column'
  : 'a field has no column'
