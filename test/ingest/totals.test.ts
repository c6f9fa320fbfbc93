import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { TOTALS_LIMITS } from '../../src/ingest/db/totals.ts'
import { restoring } from '../limits.ts'
import { json, partner } from '../partner.ts'
import { countCalls } from './watched.ts'

// Which rows a read of totals reads. model.test.ts compares them with the records.

/** 2026-10-01 as the number of days since 1970-01-01. */
const FIRST_DAY = 20_727

/** Rows beside those of the records of a call. */
const CONSTANT = 40

const WEEK = 'totals?from=2026-10-01&to=2026-10-07'

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run()

/** Stores transactions of an account; `day` is the SQL of the day of the transaction `value`. */
const insertTransactions = (account: string, count: number, day: string) =>
  run(
    `insert into transactions (account, transaction_id, customer_id, transaction_type,
       amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
     select ?1, 't-' || value, 'c-' || (value % 100), 'deposit', value + 0.25, 'EUR', 1790899200000,
       'status ' || (value % 2), ${day}, 0, 'd', 0, 1 from json_each(?2)`,
    account,
    JSON.stringify(Array.from({ length: count }, (_, i) => i)),
  )

restoring(TOTALS_LIMITS)

type Partner = Awaited<ReturnType<typeof partner>>

const read = (acme: Partner, path: string) =>
  countCalls(`/api/v1/${acme.vertical}/${path}`, {
    headers: { Authorization: `Bearer ${acme.access_token}` },
  })

test('totals read the records of their days alone, and write nothing', async () => {
  const acme = await partner()
  await insertTransactions(acme.account, 3000, `${FIRST_DAY} + value / 30`)
  const week = await read(acme, WEEK)

  const { data } = await json(week.response)
  expect(data).toHaveLength(14)
  expect(data[0]).toMatchObject({ count: 15, sums: { amount_currency: '213.75' } })
  expect(week.trips).toBe(1)
  expect(week.rowsRead).toBeLessThanOrEqual(3 * 7 * 30 + CONSTANT)
  expect(week.rowsWritten).toBe(0)
})

test('more records than one request sums are refused, fewer days of them are not', async () => {
  const acme = await partner()
  await insertTransactions(acme.account, 30, `${FIRST_DAY} + value / 10`)
  Object.assign(TOTALS_LIMITS, { records: 20 })
  const refused = await acme.get(WEEK)
  expect([refused.status, (await json(refused)).detail]).toEqual([
    422,
    'From `from` to `to`, there are more than 20 records to sum. Ask for fewer days.',
  ])
  expect((await acme.get('totals?from=2026-10-01&to=2026-10-02')).status).toBe(200)
})
