import * as v from 'valibot'
import { type Shown, withoutNulls } from '../db/records/list.ts'
import { keyOf as keyColumns } from '../db/records/record-table.ts'
import type { Tally } from '../db/records/totals.ts'
import type { Table } from '../db/schema.ts'
import { type Intake, named } from '../ingest/resource.ts'
import { closed, type Fields } from '../validation/strict-object.ts'
import { currencyWarnings } from '../validation/warnings.ts'
import { PERSONAL, rowsOf } from './rows.ts'

/**
 * A resource is a value: the noun in its address, the fields of one record, the table that keeps
 * it. Its key is the table's; route, validation, SQL and list follow from it. Nothing is said twice.
 */
export interface Resource extends Intake, Shown, Tally {
  /** What one record is called, and what it is: for its readers. */
  readonly title: string
  readonly says: string
  readonly schema: Fields
  /** The members that tell one record from another. */
  readonly key: readonly string[]
  /** Whether one record has an address of its own. */
  readonly single: boolean
}

/** What a resource says of itself beside its fields. */
type Own = Pick<Resource, 'name' | 'title' | 'says' | 'single' | 'groups' | 'policy' | 'shelf'> & {
  /** The member whose day (UTC) filters and totals go by. */
  dated: string
  summed: readonly string[]
}

/** Ties a record's fields to the table that keeps them; does not compile when they disagree. */
export function defineResource<T extends Table, const E extends v.ObjectEntries>(
  table: T,
  { dated, summed, ...own }: Own,
  entries: E & Fits<T, E>,
): Resource {
  const schema = v.object(entries)
  const key = keyColumns(table)
  const entity = closed(schema, key, PERSONAL, warnOf)
  return {
    ...own,
    schema,
    key,
    columns: Object.keys(entries),
    present: withoutNulls,
    sums: summed.filter((name) => name in entries),
    reference: own.shelf.refers!.column,
    refusal: { code: UNKNOWN[own.shelf.refers!.table] },
    entity: () => entity,
    rowsOf: rowsOf(own.shelf, dated),
    keyFrom: (values) => named(key, values),
    repeatable: false,
  }
}

/** The code of a reference to what is not known, by the table where it should be. */
const UNKNOWN = { customers: 'unknown_customer', affiliates: 'unknown_affiliate' } as const

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

type Fits<T extends Table, E extends v.ObjectEntries> = keyof E extends keyof Columns<T>
  ? v.InferOutput<v.ObjectSchema<E, undefined>> extends Columns<T>
    ? unknown
    : 'a field disagrees with its column'
  : 'a field has no column'
