import type { Transaction } from '../records.ts'

/** The account whose rows the peers write; ours writes those of the token's account, the same. */
export const ACCOUNT = 'bench'

/** The columns that the records of the bench say themselves, by the names they have on the wire. */
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

/** Those, and what a record may say besides: a peer that judges all of it keeps all of it. */
export const ALL = [...SAID, 'amount_usd', 'note'] as const

/** The values of one row: what the record says, and its day. */
export const rowOf = (record: Transaction): (string | number)[] => [
  ...SAID.map((name) => record[name]),
  record.transaction_date.slice(0, 10),
]

/**
 * The one statement that stores rows rightly whatever they change: it names all columns, since day
 * and customer may be others, and skips what is equal. `source` gives account, the columns that are
 * said, day, and the place in the request. SQLite and PostgreSQL read it alike.
 */
export function upsertFrom(source: string, said: readonly string[] = SAID): string {
  const compared = [...said.slice(1), 'day']
  const each = (write: (name: string) => string) => compared.map(write).join()
  return `
  insert into transactions as t
    (account, ${said.join()}, day, idx, held, delivery, revision)
  ${source}
  on conflict (account, transaction_id) do update set
    ${each((name) => `${name} = excluded.${name}`)},
    idx = excluded.idx, revision = t.revision + 1
  where (${each((name) => `excluded.${name}`)}) is distinct from (${each((name) => `t.${name}`)})`
}
