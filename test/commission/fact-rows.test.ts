import { env } from 'cloudflare:workers'
import { afterEach, expect, test } from 'vitest'
import { factNeeds } from '../../src/commission/engine/fact-needs.ts'
import { readReleased } from '../../src/db/commission/books/changed.ts'
import { readUnchanged } from '../../src/db/commission/customers-of.ts'
import { FACT_LIMITS } from '../../src/db/commission/fact-tables.ts'
import { readFactRows } from '../../src/db/commission/facts.ts'
import { ALL_TRANSACTIONS, summedEvents } from '../../src/db/commission/facts-sql.ts'
import { brand, deposited, eve } from '../brand.ts'
import { ada, deposit, partner } from '../partner.ts'
import { overriding, watchDatabase } from '../watched.ts'
import { monthly } from './stored.ts'

// How the records of customers are read in bounded answers.

const USUAL = { ...FACT_LIMITS }
afterEach(() => {
  Object.assign(FACT_LIMITS, USUAL)
})

/** Returns the days on which an account has records of a table. */
async function daysOf(table: string): Promise<number[]> {
  const { results } = await env.DB.prepare(`select distinct day from ${table} order by day`).all<{
    day: number
  }>()
  return results.map(({ day }) => day)
}

/** Stores three deposits of a customer on one day. Returns a function that reads them. */
async function threeDeposits() {
  const { post, account } = await partner('forex')
  await post('customers', ada)
  const ids = ['t-1', 't-2', 't-3']
  await post(
    'transactions',
    ids.map((transaction_id) => ({ ...deposit, transaction_id })),
  )
  const days = await daysOf('transactions')
  expect(days).toHaveLength(1)
  const query = { kind: 'transactions', statements: ALL_TRANSACTIONS, values: {}, days } as const
  const read = (db = env.DB, share = 0) =>
    readFactRows(db, account, [{ query, ids: ['c-1'], share }])
  return { ids, read }
}

test('a day of one customer with too many records for a packed answer is read row by row', async () => {
  const { ids, read } = await threeDeposits()
  const [packed] = await read()
  Object.assign(FACT_LIMITS, { rows: 2 })
  const [rows] = await read()
  expect(rows?.map(({ transaction_id }) => transaction_id)).toEqual(ids)
  expect(rows).toEqual(packed)
})

test('too many records for a packed answer are read by halves of the customers, then of the days', async () => {
  const { post, account } = await partner('forex')
  const customers = ['c-1', 'c-2', 'c-3'].map((customer_id) => ({ ...ada, customer_id }))
  await post('customers', customers)
  const sent = customers.flatMap(({ customer_id }) =>
    ['02', '03', '04'].map((day) => ({
      ...deposit,
      customer_id,
      transaction_id: `${customer_id} of ${day}`,
      transaction_date: `2026-10-${day}T10:00:00Z`,
    })),
  )
  await post('transactions', sent)
  const days = await daysOf('transactions')
  expect(days).toHaveLength(3)
  const query = { kind: 'transactions', statements: ALL_TRANSACTIONS, values: {}, days } as const
  const ids = customers.map(({ customer_id }) => customer_id)
  for (const rows of [4, 2, 1]) {
    Object.assign(FACT_LIMITS, { rows })
    const [found] = await readFactRows(env.DB, account, [{ query, ids, share: 0 }])
    const read = found?.map(({ transaction_id }) => transaction_id)
    expect(read?.sort()).toEqual(sent.map(({ transaction_id }) => transaction_id).sort())
  }
  // As many records as may be read of one customer and day.
  Object.assign(FACT_LIMITS, { rowsOfDay: 1 })
  const ofOneDay = { ...query, days: days.slice(0, 1) }
  const [first] = await readFactRows(env.DB, account, [{ query: ofOneDay, ids, share: 0 }])
  expect(first?.map(({ customer_id }) => customer_id)).toEqual(ids)
})

test('customers are found by searches, within a range, or as the whole of a range', async () => {
  const { ids, read } = await threeDeposits()
  for (const share of [0, 0.5, 1]) {
    const [rows] = await read(env.DB, share)
    expect(rows?.map(({ transaction_id }) => transaction_id)).toEqual(ids)
  }
})

test('an account without customers has none whose affiliate never changed', async () => {
  const databases = { db: env.DB, directory: env.DB }
  for (const affiliates of [null, ['a-1']]) {
    const found = await readUnchanged(databases, { account: 'none', affiliates }, [], '', 10)
    expect(found).toEqual({ customers: [], searched: 0, last: null, share: null })
  }
})

test.each([
  ['is too long is read row by row', 'D1_ERROR: string or blob too big: SQLITE_TOOBIG', true],
  ['fails for another reason is an error', 'D1_ERROR: no', false],
])('a packed answer that %s', async (_, message, isRead) => {
  const { read } = await threeDeposits()
  const [packed] = await read()
  // D1 fails if a value would have more than 2 MB, which the local one does not.
  const errors = [new Error(message)]
  const failing = overriding(env.DB, {
    batch: async (statements: D1PreparedStatement[]) => {
      const error = errors.pop()
      if (error) throw error
      return env.DB.batch(statements)
    },
  })
  const found = read(failing)
  await (isRead ? expect(found).resolves.toEqual([packed]) : expect(found).rejects.toThrow(message))
})

test('a customer with more records on a day than may be read is an error', async () => {
  const { read } = await threeDeposits()
  Object.assign(FACT_LIMITS, { rows: 2, rowsOfDay: 2 })
  await expect(read()).rejects.toThrow('One customer has too many records on a day.')
})

test('as many KPIs as one statement sums are read in one packed row', async () => {
  const kpis = Array.from({ length: FACT_LIMITS.kpis }, (_, i) => `K${i}`)
  const definition = { granularity: 'event', eventid: 'used', kpis }
  const { post, account } = await brand({ events: { Deposit: definition } })
  await post('customers', eve)
  const sent = Object.fromEntries(kpis.map((name, i) => [name, String(i + 1)]))
  for (const eventid of ['e-1', 'e-2']) await post('activities', { ...deposited, ...sent, eventid })
  const named = Object.fromEntries(kpis.map((name, i) => [`kpi_${i}`, name]))
  const query = {
    kind: 'summed_events' as const,
    statements: summedEvents(kpis.length, false, false),
    values: { types: '["Deposit"]', ...named },
    days: await daysOf('events'),
  }
  const [rows] = await readFactRows(env.DB, account, [{ query, ids: ['p-1'], share: 0 }])
  expect(rows).toHaveLength(1)
  expect(rows?.[0]).toMatchObject({
    ...{ customer_id: 'p-1', eventname: 'Deposit', currency: 'EUR', records: 2 },
    ...Object.fromEntries(kpis.map((_, i) => [`kpi_${i}_1`, 2 * (i + 1)])),
    amount_1: 200,
  })
})

test('without customers no released records are looked for', async () => {
  const days = { transactions: [1], activity: [1], events: [1] }
  let trips = 0
  const db = watchDatabase(env.DB, () => {
    trips += 1
  })
  expect(await readReleased(db, 'a', days, [], 'dlv_1')).toEqual([])
  expect(trips).toBe(0)
  expect(await readReleased(db, 'a', days, ['c-1'], 'dlv_1')).toEqual([])
  expect(trips).toBe(1)
})

test.each([
  [{ countries: ['DE'] }, false],
  [{ instruments: ['XAUUSD'] }, true],
  [{ not_instruments: ['XAUUSD'] }, true],
])('the condition %j reads the sums of each instrument: %j', (when, isNeeded) => {
  const base = [{ activity: 'pnl' as const, when }]
  const { instruments } = factNeeds([monthly([{ id: 'a', kind: 'share', percent: '1', base }])])
  expect(instruments).toBe(isNeeded)
})
