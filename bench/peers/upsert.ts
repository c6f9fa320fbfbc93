import { DAY_MS } from '../../src/platform/durations.ts'

/** The members of the bench's records, which are also columns. */
export const MEMBERS = [
  'transaction_id',
  'customer_id',
  'transaction_type',
  'amount_currency',
  'currency',
  'transaction_date',
  'status',
  'transaction_subtype',
] as const

/** Returns a time as it is stored, in milliseconds, and its day. */
export function timeAndDay(time: string) {
  const transaction_date = Date.parse(time)
  return { transaction_date, day: Math.floor(transaction_date / DAY_MS) }
}

/**
 * Returns the statement that stores rows whatever they change: it sets all columns, including day and
 * customer, and skips equal rows. `source` selects the account, the columns of the record, the day, and
 * the index in the request. SQLite and PostgreSQL both accept it.
 */
export function upsertFrom(source: string): string {
  const compared = [...MEMBERS.slice(1), 'day']
  const each = (write: (name: string) => string) => compared.map(write).join()
  return `
  insert into transactions as t
    (account, ${MEMBERS.join()}, day, idx, held, delivery, revision)
  ${source}
  on conflict (account, transaction_id) do update set
    ${each((name) => `${name} = excluded.${name}`)},
    idx = excluded.idx, revision = t.revision + 1
  where (${each((name) => `excluded.${name}`)}) is distinct from (${each((name) => `t.${name}`)})`
}
