import { accountPath } from '../page.ts'
import { Amount, type Column, EmptyState, Table, visible } from './data.tsx'
import { deliveriesPath } from './deliveries.tsx'
import { Json } from './fields.tsx'

// The parts of pages that show records as they are stored.

/** A record as its sender reads it. */
export type StoredRecord = Readonly<Record<string, unknown>>

/** The maximum number of columns of a table of records. */
const MAX_COLUMNS = 9

const CUSTOMER_KEYS: ReadonlySet<string> = new Set(['customer_id', 'customerid', 'customerId'])

/** The members whose values find a record in the log of deliveries. */
const IDS: ReadonlySet<string> = new Set(['transaction_id', 'eventid'])

const DECIMAL = /^-?\d+\.\d+$/

const Value = ({ value }: { value: unknown }) => {
  if (value === null || value === undefined) return <span class="quiet">–</span>
  if (typeof value === 'number' || DECIMAL.test(String(value)))
    return <Amount value={String(value)} />
  return <Json value={value} />
}

const columnOf = (account: string, name: string): Column<StoredRecord> => ({
  title: visible(name),
  cell: (record) =>
    IDS.has(name) && record[name] ? (
      <a href={deliveriesPath(account, { record_id: String(record[name]) })}>
        <Value value={record[name]} />
      </a>
    ) : (
      <Value value={record[name]} />
    ),
})

/** Renders records of one customer. The ids lead to the deliveries that brought them. */
export function Records(props: {
  account: string
  resource: string
  rows: readonly StoredRecord[]
}) {
  const { account, resource, rows } = props
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const shown = names.filter((name) => !CUSTOMER_KEYS.has(name)).slice(0, MAX_COLUMNS)
  return (
    <Table
      caption={`Records of ${resource}, by day`}
      rows={rows}
      columns={shown.map((name) => columnOf(account, name))}
      empty={
        <EmptyState title={`The customer has no ${resource}.`}>
          <p>
            <a href={accountPath(account, 'held')}>Held records</a> are not listed here.
          </p>
        </EmptyState>
      }
    />
  )
}

/** Renders the fields of one record. */
export const Fields = ({ record }: { record: StoredRecord }) => (
  <dl class="fields">
    {Object.entries(record).map(([name, value]) => (
      <div>
        <dt>{visible(name)}</dt>
        <dd>
          <Value value={value} />
        </dd>
      </div>
    ))}
  </dl>
)
