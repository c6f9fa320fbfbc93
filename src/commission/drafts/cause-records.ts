import {
  type ChangedDays,
  type ChangedRow,
  type ChangedTable,
  type MovingDelivery,
  readChangedRows,
  readMovingDeliveries,
} from '../../db/commission/books/changed-records.ts'
import { type ReleasedRecord, readReleased } from '../../db/commission/books/records-of-days.ts'
import { mapFactTables } from '../../db/commission/fact-tables.ts'
import type { FoundCustomer } from '../../db/commission/found-customer.ts'
import { dayText } from '../engine/calendar.ts'
import { customersOfAffiliates, groupsByAffiliate, groupsOf, storedId } from './cause-customers.ts'
import { type CauseGroup, foundOf, namesRecord } from './cause-groups.ts'
import { causeOfHistory, changedFields, type FieldChanges } from './cause-histories.ts'
import { addCause } from './cause-list.ts'
import { addMovedAway } from './cause-moved.ts'
import { recordCause } from './cause-record.ts'
import type { Computation } from './computation.ts'

/** A change of a customer or of one of the customer's records. */
interface Change {
  readonly table: ChangedTable
  readonly row: ChangedRow
  readonly customer: FoundCustomer
  /** Whether the delivery moved the record to this customer. */
  readonly isMoved: boolean
  /** The records that waited for the customer. */
  readonly releases: readonly ReleasedRecord[]
}

/** Adds to each group the records and histories that deliveries have changed since its approval. */
export async function addRecordCauses(
  computation: Computation,
  groups: readonly CauseGroup[],
): Promise<void> {
  const { source } = computation
  const { db, account } = source
  const since = groups.map(({ lateId }) => lateId).sort()[0] ?? ''
  const moving = await readMovingDeliveries(db, account.id, since)
  const moved = new Map(moving.map((one) => [one.id, one.moved]))
  const days = daysOf(computation, groups, moving)
  const byAffiliate = groupsByAffiliate(groups)
  const to = dayText(computation.range.lastDay)
  for await (const found of customersOfAffiliates(computation, [...byAffiliate.keys()], days)) {
    const byId = new Map(found.map((one) => [storedId(one), one]))
    const read = await readChangedRows(db, account.id, days, [...byId.keys()].sort(), since)
    const fields = await changedFields(source, read)
    const released = await readReleasedRecords(computation, groups, days, read)
    for (const { table, rows } of read) {
      for (const row of rows) {
        const customer = byId.get(row.customer_id)
        if (!customer) continue
        const isMoved = moved.get(row.delivery ?? '')?.has(row.idx) ?? false
        for (const group of groupsOf(byAffiliate, customer, to)) {
          const releases = released.get(row.customer_id) ?? []
          addChange(group, { table, row, customer, isMoved, releases }, fields)
        }
      }
    }
  }
  await addMovedAway(source, groups, moving)
}

/** Returns the days whose facts have an effect on any group, and the days to which records were moved. */
function daysOf(
  { range }: Computation,
  groups: readonly CauseGroup[],
  moving: readonly MovingDelivery[],
): ChangedDays {
  const first = Math.min(...groups.map((one) => one.first))
  const last = Math.max(...groups.map((one) => one.last))
  const movedTo = new Set(moving.flatMap((one) => one.days))
  return mapFactTables(range.days, ({ single, summed }) =>
    [...new Set([...single, ...summed, ...movedTo])]
      .filter((day) => (day >= first && day <= last) || movedTo.has(day))
      .sort((a, b) => a - b),
  )
}

/** Returns the records that waited for the customers who changed, by stored customer id. */
async function readReleasedRecords(
  { source: { db, account } }: Computation,
  groups: readonly CauseGroup[],
  days: ChangedDays,
  read: Awaited<ReturnType<typeof readChangedRows>>,
): Promise<Map<string, ReleasedRecord[]>> {
  const rows = read.find(({ table }) => table === 'customers')?.rows ?? []
  const ids = [...new Set(rows.map(({ customer_id }) => customer_id))].sort()
  const before =
    groups
      .map(({ sinceId }) => sinceId)
      .sort()
      .at(-1) ?? ''
  const released = await readReleased(db, account.id, days, ids, before)
  return Map.groupBy(released, ({ customer_id }) => customer_id)
}

/** Whether a record that waited for its customer has an effect on a group. */
const isReleased =
  (group: CauseGroup) =>
  ({ table, kind, day, delivery }: ReleasedRecord): boolean =>
    delivery < group.sinceId &&
    day >= group.first &&
    day <= group.last &&
    namesRecord(group, table, kind)

/** Adds a change to the list of a group that it belongs to, or to none. */
function addChange(group: CauseGroup, change: Change, fields: FieldChanges): void {
  const { table, row, customer, isMoved, releases } = change
  const { delivery, day, kind } = row
  if (delivery === null || delivery < group.lateId) return
  const isSince = delivery >= group.sinceId
  const found = foundOf(group, customer.customer_id)
  if (table === 'customer_affiliations' || table === 'customer_fields') {
    // A change holds from its day on.
    if (day > group.last || !isSince) return
    const causes = causeOfHistory(table, row, customer.customer_id, fields)
    for (const cause of causes) addCause(found.likely, cause)
    return
  }
  const cause = recordCause(table, row, customer.customer_id)
  const isInside = isMoved || (day >= group.first && day <= group.last)
  const isNamed = isInside && namesRecord(group, table, kind)
  const isWaitedFor = table === 'customers' && releases.some(isReleased(group))
  if (isSince && (isNamed || isWaitedFor)) addCause(found.likely, cause)
  // Other days were read only for other groups.
  else if (isInside || table === 'customers') addCause(isSince ? found.others : found.late, cause)
}
