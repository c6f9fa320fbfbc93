import * as v from 'valibot'
import { keyOf } from '../db/shelf.ts'
import type { Table } from '../db/tables.ts'
import type { Intake } from '../ingest/intake.ts'
import type { Warning } from '../ingest/judge.ts'
import { WITHDRAWN } from '../iso-4217.ts'

/**
 * A resource is a value: the noun in its address, the fields of one record, the table that keeps
 * it. Its key is the table's; route, validation, SQL and list follow from it. Nothing is said twice.
 */
export interface Resource extends Intake {
  /** The members of a record, in the order in which they are shown. */
  readonly fields: readonly string[]
  /** The column whose day (UTC) filters and totals go by. */
  readonly dated: string
  /** Whether one record has an address of its own. */
  readonly single: boolean
  /** What its control totals are grouped by, and what they sum. */
  readonly groups: readonly string[]
  readonly sums: readonly string[]
}

/** What a resource says of itself beside its fields. */
type Own = Pick<Resource, 'name' | 'dated' | 'single' | 'groups' | 'policy' | 'shelf'> & {
  summed: readonly string[]
}

const PERSONAL = new Set(['first_name', 'last_name', 'email'])

/** Ties a record's fields to the table that keeps them; does not compile when they disagree. */
export function defineResource<T extends Table, const E extends v.ObjectEntries>(
  table: T,
  own: Own,
  entries: E & Fits<T, E>,
): Resource {
  return {
    ...own,
    schema: v.object(entries),
    fields: Object.keys(entries),
    sums: own.summed.filter((name) => name in entries),
    key: keyOf(table),
    personal: PERSONAL,
    toValues: own.shelf.columns.includes('day')
      ? (record) => ({ ...record, day: String(record[own.dated]).slice(0, 10) })
      : (record) => record,
    warn: warnOf,
  }
}

/** A currency that was withdrawn is stored: the event may be older than its end. */
function warnOf({ currency }: Record<string, unknown>): Warning[] {
  const month = WITHDRAWN.get(currency as string)
  if (month === undefined) return []
  const message = `${currency} was withdrawn from ISO 4217 in ${month}.`
  return [{ code: 'withdrawn_currency', pointer: '/currency', message }]
}

type Columns<T extends Table> = Omit<T['$inferInsert'], OursAndDay>
type OursAndDay = 'account' | 'day' | 'held' | 'delivery' | 'idx' | 'revision'

type Fits<T extends Table, E extends v.ObjectEntries> = keyof E extends keyof Columns<T>
  ? v.InferOutput<v.ObjectSchema<E, undefined>> extends Columns<T>
    ? unknown
    : 'a field disagrees with its column'
  : 'a field has no column'
