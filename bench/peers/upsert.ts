import type { Transaction } from '../records.ts'

/** The account whose rows the peers write; ours writes those of the token's account, the same. */
export const ACCOUNT = 'bench'

const COLUMNS = [
  'transaction_id',
  'customer_id',
  'transaction_type',
  'amount_currency',
  'currency',
  'transaction_date',
  'status',
  'transaction_subtype',
  'day',
] as const

/** The values of one row, in the order of the columns. */
export const rowOf = (record: Transaction): (string | number)[] => [
  record.transaction_id,
  record.customer_id,
  record.transaction_type,
  record.amount_currency,
  record.currency,
  record.transaction_date,
  record.status,
  record.transaction_subtype,
  record.transaction_date.slice(0, 10),
]

/** How many parameters, or places, a row has. */
export const WIDTH = COLUMNS.length

const said = COLUMNS.slice(1)
const each = (write: (name: string) => string) => said.map(write).join()

/**
 * The one statement that stores rows rightly whatever they change: it names all columns, since day
 * and customer may be others, and skips what is equal. `source` gives account, columns, place.
 */
export const upsertFrom = (source: string) => `
  insert into transactions as t (account, ${COLUMNS.join()}, idx, held, delivery, revision)
  ${source}
  on conflict (account, transaction_id) do update set
    ${each((name) => `${name} = excluded.${name}`)},
    idx = excluded.idx, revision = t.revision + 1
  where (${each((name) => `excluded.${name}`)}) is not (${each((name) => `t.${name}`)})`
