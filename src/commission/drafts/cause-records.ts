import { decode, encode } from '../../db/column-types.ts'
import {
  type ChangedDays,
  type ChangedRow,
  type ChangedTable,
  customersPerCall,
  type MovingDelivery,
  readChangedRows,
  readMovedFacts,
  readMovingDeliveries,
} from '../../db/commission/books/changed-records.ts'
import { findCustomersOf } from '../../db/commission/customers-of.ts'
import type { FoundCustomer } from '../../db/commission/found-customer.ts'
import { customers, transactions } from '../../db/schema.ts'
import { dayText } from '../engine/calendar.ts'
import type { RecordCause } from './cause.ts'
import { type CauseGroup, foundOf, namesRecord } from './cause-groups.ts'
import { causeOfHistory, changedFields, type FieldChanges } from './cause-histories.ts'
import { addCause } from './cause-list.ts'
import type { Computation } from './computation.ts'

/** A change of a customer or of one of its records, as it is offered to groups. */
interface Change {
  readonly table: ChangedTable
  readonly row: ChangedRow
  readonly customer: FoundCustomer
  readonly isMoved: boolean
}

/** Adds the records and histories to groups that deliveries have changed since their approvals. */
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
    for (const { table, rows } of read) {
      for (const row of rows) {
        const customer = byId.get(row.customer_id)
        if (!customer) continue
        const isMoved = moved.get(row.delivery ?? '')?.has(row.idx) ?? false
        for (const group of groupsOf(byAffiliate, customer, to)) {
          offer(group, { table, row, customer, isMoved }, fields)
        }
      }
    }
  }
  await addMovedAway(source, groups.filter(hasNone), moving)
}

const hasNone = ({ rest, byCustomer }: CauseGroup): boolean =>
  [rest, ...byCustomer.values()].every(({ likely }) => likely.total === 0)

/** Adds records that now belong to other customers to groups for which nothing was found. */
async function addMovedAway(
  { db, account }: Computation['source'],
  groups: readonly CauseGroup[],
  moving: readonly MovingDelivery[],
): Promise<void> {
  if (groups.length === 0 || moving.length === 0) return
  for (const { table, rows } of await readMovedFacts(db, account.id, moving)) {
    for (const row of rows) {
      const customer_id = String(decode(customers.customer_id, row.customer_id))
      const cause = recordCause(table, row, customer_id)
      for (const group of groups) {
        const isSince = cause.delivery_id >= group.sinceId
        if (isSince && namesRecord(group, table, row.kind)) addCause(group.rest.likely, cause)
      }
    }
  }
}

const storedId = ({ customer_id }: FoundCustomer): string =>
  String(encode(customers.customer_id, customer_id))

/** Returns the days with facts that have an effect on a group, and those to which records were moved. */
function daysOf(
  { range }: Computation,
  groups: readonly CauseGroup[],
  moving: readonly MovingDelivery[],
): ChangedDays {
  const first = Math.min(...groups.map((one) => one.first))
  const last = Math.max(...groups.map((one) => one.last))
  const movedTo = new Set(moving.flatMap((one) => one.days))
  const daysIn = ({ single, summed }: Computation['range']['days']['events']): number[] =>
    [...new Set([...single, ...summed, ...movedTo])]
      .filter((day) => (day >= first && day <= last) || movedTo.has(day))
      .sort((a, b) => a - b)
  return {
    transactions: daysIn(range.days.transactions),
    activity: daysIn(range.days.activity),
    events: daysIn(range.days.events),
  }
}

function groupsByAffiliate(groups: readonly CauseGroup[]): Map<string, CauseGroup[]> {
  const found = new Map<string, CauseGroup[]>()
  for (const group of groups) {
    for (const affiliate of group.affiliates) {
      const own = found.get(affiliate)
      if (own) own.push(group)
      else found.set(affiliate, [group])
    }
  }
  return found
}

/**
 * Returns the groups on which a customer has or had an effect up to a day, each once. Affiliates of later
 * days are left out: whether such a customer is read depends on the other groups.
 */
function groupsOf(
  byAffiliate: ReadonlyMap<string, readonly CauseGroup[]>,
  { affiliations }: FoundCustomer,
  to: string,
): Set<CauseGroup> {
  const begun = affiliations.filter(({ from }) => from === null || from <= to)
  return new Set(begun.flatMap(({ affiliate_id }) => byAffiliate.get(affiliate_id ?? '') ?? []))
}

/** Yields the customers that affiliates have or had, as many as one reading may have. */
async function* customersOfAffiliates(
  { source, range }: Computation,
  affiliates: readonly string[],
  days: ChangedDays,
): AsyncGenerator<FoundCustomer[]> {
  const size = customersPerCall(days)
  const to = dayText(range.lastDay)
  const query = { account: source.account.id, affiliates, from: '0000-01-01', to }
  const seen = new Set<string>()
  for (let cursor: Parameters<typeof findCustomersOf>[2] = null; ; ) {
    const page = await findCustomersOf(source, query, cursor)
    const found = page.customers.filter(({ customer_id }) => !seen.has(customer_id))
    for (const { customer_id } of found) seen.add(customer_id)
    for (let i = 0; i < found.length; i += size) yield found.slice(i, i + size)
    if (page.next === null) return
    cursor = page.next
  }
}

/** Adds a change to the list of a group that it belongs to. */
function offer(group: CauseGroup, change: Change, fields: FieldChanges): void {
  const { table, row, customer, isMoved } = change
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
  if (isSince && isInside && namesRecord(group, table, kind)) addCause(found.likely, cause)
  // Other days are read only because of other groups.
  else if (isInside || table === 'customers') addCause(isSince ? found.others : found.late, cause)
}

const RESOURCES = {
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
  customers: 'customers',
} as const

function recordCause(table: ChangedTable, row: ChangedRow, customer_id: string): RecordCause {
  const day = dayText(row.day)
  return {
    kind: 'record',
    resource: RESOURCES[table as keyof typeof RESOURCES],
    id: idOf(table, row, customer_id, day),
    ...{ customer_id, day },
    delivery_id: row.delivery ?? '',
  }
}

/** Returns the id of a record as facts have it. */
function idOf(table: ChangedTable, { id }: ChangedRow, customer: string, day: string): string {
  if (table === 'customers') return customer
  if (table === 'transactions') return String(decode(transactions.transaction_id, id))
  if (table === 'events') return id
  const [instrument, currency]: string[] = JSON.parse(id)
  return `${day}|${customer}|${instrument}|${currency}`
}
