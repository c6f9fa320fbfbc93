import { DAY_MS } from '../src/durations.ts'
import { ACCOUNT } from './peers/upsert.ts'
import { execute, type Running } from './worker.ts'

/** The number of records per customer. */
export const PER_CUSTOMER = 50

/** Records that are stored without HTTP, which would take a minute per million. */
export interface FillRange {
  /** The numbers of the first and the last record. */
  from: number
  to: number
  /** The number of days over which they are spread evenly. */
  firstDay: string
  days: number
}

/** Inserts transactions by one statement, and adds them to the list's total. */
export async function fill(running: Running, { from, to, firstDay, days }: FillRange) {
  const first = Date.parse(firstDay) / DAY_MS
  await execute(running, [
    `insert into transactions
       (account, transaction_id, customer_id, transaction_type, amount_currency, currency,
        transaction_date, status, transaction_subtype, day, held, delivery, idx, revision)
     with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${to})
     select '${ACCOUNT}', printf('TX-%09d', n), 'CU-' || (n / ${PER_CUSTOMER}),
       iif(n % 3, 'deposit', 'withdrawal'), n % 250000 / 100.0, iif(n % 2, 'EUR', 'USD'),
       (${first} + n % ${days}) * ${DAY_MS} + 34200000, 'approved', 'card',
       ${first} + n % ${days}, 0, 'bench', n % 1000, 1
     from numbers`,
    `insert into totals (account, resource, total) values ('${ACCOUNT}', 'transactions', ${to - from + 1})
     on conflict do update set total = total + excluded.total`,
  ])
}
