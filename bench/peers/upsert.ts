import type { Transaction } from '../records.ts'

/** The account whose rows the peers write; ours writes those of the token's account, the same. */
export const ACCOUNT = 'bench'

/** The columns that a record says itself, by the names it has on the wire. */
export const SAID = [
  'transaction_id',
  'customer_id',
  'transaction_type',
  'amount_currency',
  'currency',
  'transaction_date',
  'status',
  'transaction_subtype',
] as const

/** The values of one row: what the record says, and its day. */
export const rowOf = (record: Transaction): (string | number)[] => [
  ...SAID.map((name) => record[name]),
  record.transaction_date.slice(0, 10),
]

const compared = [...SAID.slice(1), 'day']
const each = (write: (name: string) => string) => compared.map(write).join()

/**
 * The one statement that stores rows rightly whatever they change: it names all columns, since day
 * and customer may be others, and skips what is equal. `source` gives account, the columns that are
 * said, day, and the place in the request.
 */
export const upsertFrom = (source: string) => `
  insert into transactions as t
    (account, ${SAID.join()}, day, idx, held, delivery, revision)
  ${source}
  on conflict (account, transaction_id) do update set
    ${each((name) => `${name} = excluded.${name}`)},
    idx = excluded.idx, revision = t.revision + 1
  where (${each((name) => `excluded.${name}`)}) is not (${each((name) => `t.${name}`)})`
