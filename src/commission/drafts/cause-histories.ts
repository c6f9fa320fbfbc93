import { decode } from '../../db/column-types.ts'
import type { ChangedRow, ChangedTable } from '../../db/commission/books/changed-records.ts'
import type { CustomerFields, FieldValues } from '../../db/commission/customer-fields.ts'
import { type Databases, readHistories } from '../../db/commission/histories.ts'
import { customers } from '../../db/schema.ts'
import { dayText } from '../engine/calendar.ts'
import type { AccountSource } from '../facts/source.ts'
import type { Cause } from './cause.ts'

/** The names of the changed customer fields, by customer id and then by day. */
export type FieldChanges = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

/** Reads which fields changed, for the customers with a changed row of `customer_fields`. */
export async function changedFields(
  source: Databases & Pick<AccountSource, 'account'>,
  read: readonly { readonly table: ChangedTable; readonly rows: readonly ChangedRow[] }[],
): Promise<FieldChanges> {
  const rows = read.find(({ table }) => table === 'customer_fields')?.rows ?? []
  const ids = [
    ...new Set(rows.map((row) => String(decode(customers.customer_id, row.customer_id)))),
  ]
  if (ids.length === 0) return new Map()
  const histories = await readHistories(source, source.account.id, ids)
  return new Map([...histories].map(([id, { fields }]) => [id, changesOf(fields)]))
}

function changesOf(parts: readonly CustomerFields[]): Map<string, string[]> {
  return new Map(
    parts.flatMap(({ from, values }, i) => {
      const before = parts[i - 1]?.values ?? {}
      const names = Object.keys({ ...before, ...values }) as (keyof FieldValues)[]
      const changed = names.filter((name) => values[name] !== before[name])
      return from === null ? [] : [[from, changed.sort()] as const]
    }),
  )
}

/** Returns the causes that a changed row of a history represents. */
export function causeOfHistory(
  table: 'customer_affiliations' | 'customer_fields',
  { day: stored, kind, delivery }: ChangedRow,
  customer_id: string,
  fields: FieldChanges,
): Cause[] {
  const day = dayText(stored)
  if (delivery === null) return []
  if (kind === 'corrected_early') return [{ kind, customer_id, delivery_id: delivery }]
  if (table === 'customer_affiliations') {
    return [{ kind: 'affiliation', customer_id, day, delivery_id: delivery, audit_id: null }]
  }
  const changed = fields.get(customer_id)?.get(day) ?? []
  return changed.map((field) => ({
    kind: 'customer_field',
    customer_id,
    field,
    day,
    delivery_id: delivery,
  }))
}
