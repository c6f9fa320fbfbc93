import { decode } from '../../db/column-types.ts'
import { type MovingDelivery, readMovedFacts } from '../../db/commission/books/changed-records.ts'
import { customers } from '../../db/schema.ts'
import { type CauseGroup, namesRecord } from './cause-groups.ts'
import { addCause } from './cause-list.ts'
import { recordCause } from './cause-record.ts'
import type { Computation } from './computation.ts'

/** Whether records that moved to other customers may have caused a correction of a group. */
const mayHaveLost = ({ rest, byCustomer, hasLost }: CauseGroup): boolean => {
  const isEmpty = ({ likely }: typeof rest): boolean => likely.total === 0
  const own = [...byCustomer.values()]
  return hasLost || own.some(isEmpty) || (own.length === 0 && isEmpty(rest))
}

/** Adds the records that deliveries moved to other customers to the groups that may have lost them. */
export async function addMovedAway(
  { db, account }: Computation['source'],
  all: readonly CauseGroup[],
  moving: readonly MovingDelivery[],
): Promise<void> {
  const groups = all.filter(mayHaveLost)
  if (groups.length === 0 || moving.length === 0) return
  for (const { table, rows } of await readMovedFacts(db, account.id, moving)) {
    for (const row of rows) {
      const customer_id = String(decode(customers.customer_id, row.customer_id))
      const cause = recordCause(table, row, customer_id)
      for (const group of groups) {
        const isSince = cause.delivery_id >= group.sinceId
        if (isSince && namesRecord(group, table, row.kind)) addCause(group.movedAway, cause)
      }
    }
  }
}
