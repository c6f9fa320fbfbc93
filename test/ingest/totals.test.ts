import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { TOTALS_LIMITS } from '../../src/ingest/db/totals.ts'
import { fetchWith } from '../checked-fetch.ts'
import { restoring } from '../limits.ts'
import { ada, deposit, json, ORIGIN, partner } from '../partner.ts'
import { countCalls, overriding, overridingSessions } from './watched.ts'

// Kept totals: which rows a read of totals reads and writes. model.test.ts compares them with the records.

/** 2026-10-01 as the number of days since 1970-01-01. */
const FIRST_DAY = 20_727

/** Reads and rows beside those of the records and kept days of a call. */
const CONSTANT = 40

const WEEK = 'totals?from=2026-10-01&to=2026-10-07'
const YEAR = 'totals?from=2026-10-01&to=2027-09-30'

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

/** Returns an environment that runs a function before each batch of D1 that has a certain statement. */
function beforeBatch(text: string, run: () => Promise<unknown>) {
  const texts = new WeakMap<object, string>()
  const DB = overridingSessions(env.DB, (real) => ({
    prepare: (sql: string) => {
      const statement = real.prepare(sql)
      return overriding(statement, {
        bind: (...values: unknown[]) => {
          const bound = statement.bind(...values)
          texts.set(bound, sql)
          return bound
        },
      })
    },
    batch: async (list: D1PreparedStatement[]) => {
      if (list.some((statement) => texts.get(statement)?.includes(text))) await run()
      return real.batch(list)
    },
  }))
  return { ...env, DB } as Env
}

const ask = (world: Env, acme: Partner, path: string) =>
  fetchWith(
    world,
    new Request(new URL(`/api/v1/${acme.vertical}/${path}`, ORIGIN), {
      headers: { Authorization: `Bearer ${acme.access_token}` },
    }),
  )

const KEEP = 'insert into day_totals'

describe('the rows that totals read', () => {
  test('totals of unchanged days read a few rows a day and write none', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 3000, `${FIRST_DAY} + value / 30`)
    const first = await read(acme, YEAR)
    const again = await read(acme, YEAR)

    const { data } = await json(again.response)
    expect(data).toHaveLength(200)
    expect(data).toEqual((await json(first.response)).data)
    expect(again.trips).toBe(1)
    expect(again.rowsRead).toBeLessThanOrEqual(10 * 100 + CONSTANT)
    expect(again.rowsWritten).toBe(0)
    expect(first.rowsWritten).toBeLessThanOrEqual(100 + CONSTANT)
    expect(first.rowsRead).toBeLessThanOrEqual(3 * 3000 + 20 * 100 + CONSTANT)
  })
})

test('a record that arrives between the sums of its day and their keeping is counted by the next reading', async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  await acme.post('transactions', deposit)
  let id = 0
  const add = () => acme.post('transactions', { ...deposit, transaction_id: `late-${id++}` })
  const counts = async (response: Promise<Response>) =>
    (await json(response)).data.flatMap(
      ({ resource, count }: { resource: string; count: number }) =>
        resource === 'transactions' ? [count] : [],
    )
  expect(await counts(ask(beforeBatch(KEEP, add), acme, WEEK))).toEqual([1])
  expect(await counts(acme.get(WEEK))).toEqual([2])
  // A slower reader, whose sums are older than the kept ones.
  const readAndAdd = async () => {
    await add()
    expect(await counts(acme.get(WEEK))).toEqual([4])
  }
  await add()
  expect(await counts(ask(beforeBatch(KEEP, readAndAdd), acme, WEEK))).toEqual([3])
  expect(await counts(acme.get(WEEK))).toEqual([4])
})

test('more records than one request sums are refused; fewer days of them are kept, and are then read', async () => {
  const acme = await partner()
  await insertTransactions(acme.account, 30, `${FIRST_DAY} + value / 10`)
  Object.assign(TOTALS_LIMITS, { records: 20 })
  const refused = await acme.get(WEEK)
  expect([refused.status, (await json(refused)).detail]).toEqual([
    422,
    'From `from` to `to`, there are more than 20 records to sum. Ask for fewer days.',
  ])
  expect((await acme.get('totals?from=2026-10-01&to=2026-10-02')).status).toBe(200)
  expect((await acme.get(WEEK)).status).toBe(200)
})
