import { accountPath } from '../../pages/base/page.ts'
import { Data, Day, EmptyState } from '../../pages/parts/data.tsx'
import { FieldValue, isAmount, labelOf, shownNames } from '../../pages/parts/record-fields.tsx'
import { findPath, recordPath, type StoredRecord } from '../../pages/parts/record-lookup.ts'
import { type Columns, Table } from '../../pages/parts/table.tsx'

// The parts of pages that show records as they are stored.

/** The maximum number of columns of a table of records. */
const MAX_COLUMNS = 9

const CUSTOMER_KEYS = ['customer_id', 'customerid', 'customerId']

/** What the records of a resource are called. */
const CALLED: Readonly<Record<string, string>> = {
  'trading-activity': 'trading activity',
  activities: 'events',
}

/** Returns what the records of a resource are called: `trading activity`. */
export const recordsCalled = (resource: string): string => CALLED[resource] ?? resource

/** Returns the address of the page of a record; null if its id is not among its fields. */
export function pathOfRecord(account: string, resource: string, record: StoredRecord) {
  const { transaction_id, eventid, date, customer_id, instrument, currency } = record
  if (resource === 'transactions') return recordPath(account, resource, String(transaction_id))
  if (resource === 'trading-activity') {
    return recordPath(account, resource, [date, customer_id, instrument, currency].join('|'))
  }
  return eventid ? findPath(account, String(eventid)) : null
}

/** Returns the field that names a record in a table. */
const nameField = (resource: string): string =>
  resource === 'transactions' ? 'transaction_id' : resource === 'activities' ? 'eventname' : 'date'

/** Renders records of one customer, each with a link to its page. */
export function Records(props: {
  account: string
  resource: string
  rows: readonly StoredRecord[]
}) {
  const { account, resource, rows } = props
  const first = nameField(resource)
  const names = [...new Set(rows.flatMap((row) => shownNames(row, [...CUSTOMER_KEYS, first])))]
  const columns: Columns<StoredRecord> = [
    [
      labelOf(first),
      (record) => {
        const text = String(record[first] ?? '')
        const path = pathOfRecord(account, resource, record)
        const name = resource === 'trading-activity' ? <Day day={text} /> : <Data text={text} />
        return path ? <a href={path}>{name}</a> : name
      },
    ],
    ...names.slice(0, MAX_COLUMNS).map((name) => {
      const cell = (record: StoredRecord) => <FieldValue name={name} record={record} />
      return [labelOf(name), isAmount(name) ? { number: cell } : cell] as const
    }),
  ]
  return (
    <Table
      caption={`Records of ${recordsCalled(resource)}, by day`}
      rows={rows}
      columns={columns}
      empty={
        <EmptyState title={`The customer has no ${recordsCalled(resource)}.`}>
          <p>
            <a href={accountPath(account, 'held')}>Held records</a> are not listed here.
          </p>
        </EmptyState>
      }
    />
  )
}
