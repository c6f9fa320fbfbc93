import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test } from 'vitest'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import { readMonth } from '../../src/db/archive/months.ts'
import { brand, deposited, eve } from '../brand.ts'
import { overriding } from '../overriding.ts'
import { ada, askAdmin, deposit, json, partner, traded } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import {
  ageTotals,
  archive,
  keepTotals,
  monthOf,
  restore,
  takeSmallSteps,
  takeUsualSteps,
} from './archive-steps.ts'

// Old records leave the database for objects in R2, and come back as they were, to the bit.

const rowsOf = async (table: string) =>
  (await env.DB.prepare(`select * from ${table}`).all()).results

/** Every row of the database but those of the archive itself. */
async function dump() {
  const { results } = await env.DB.prepare(
    `select name from sqlite_schema where type = 'table' and name not like 'archive%'
      and name not like 'retired%' and name not like 'sqlite%' and name not like '_cf%' and name not like 'd1_%'`,
  ).all<{ name: string }>()
  const tables = await Promise.all(results.map(async ({ name }) => [name, await rowsOf(name)]))
  return Object.fromEntries(tables)
}

const AMOUNTS = [0.1 + 0.2, 1e21, 5e-324, -12.345678, 123456789.123456, 1 / 3, -0.0]

/** Stores amounts that no feed may send, but SQL may store. */
async function storeAnyAmounts(account: string) {
  for (const [i, amount] of AMOUNTS.entries()) {
    await env.DB.prepare('update transactions set amount_usd = ? where account = ? and idx = ?')
      .bind(amount, account, i)
      .run()
  }
}

/** Returns a firm with records of October whose control totals are kept. */
async function firm(
  account = 'acme',
  records = 40,
  unknown_customer: 'reject' | 'hold' = 'reject',
) {
  const acme = await partner('forex', { account, unknown_customer })
  await acme.post('customers', [ada, { ...ada, customer_id: crypto.randomUUID() }])
  const sent = await acme.post(
    'transactions',
    Array.from({ length: records }, (_, i) => ({
      ...{ ...deposit, transaction_id: i % 2 ? crypto.randomUUID() : `Tür-${i}'"` },
      transaction_date: `2026-10-${String(1 + (i % 28)).padStart(2, '0')}T09:30:00.000Z`,
      amount_currency: 100 + i / 4,
      ...(i % 3 === 0 && { note: `Größe 🙂 ${i}` }),
    })),
  )
  expect(sent.status).toBe(200)
  await acme.post('transactions', [
    { ...deposit, transaction_id: 'new', transaction_date: '2026-11-02T09:30:00.000Z' },
  ])
  await acme.post('trading-activity', [traded, { ...traded, date: '2026-10-31', pnl: undefined }])
  expect((await acme.get('totals?from=2026-10-01&to=2026-11-30')).status).toBe(200)
  await ageTotals()
  return acme
}

/** Thrown where an invocation ends. */
class Killed extends Error {}

/** Returns the place whose database ends the invocation at its next call number `calls`, before or after it. */
function killing(calls: number, after: boolean) {
  let left = calls
  const ending =
    <A extends unknown[], R>(real: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      left -= 1
      if (left === 0 && !after) throw new Killed()
      const result = await real(...args)
      if (left === 0) throw new Killed()
      return result
    }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    overriding(real, {
      bind: (...values: unknown[]) => statement(real.bind(...values)),
      all: ending(() => real.all()),
      first: ending(() => real.first()),
      run: ending(() => real.run()),
    })
  const db = overriding(env.DB, {
    prepare: (text: string) => statement(env.DB.prepare(text)),
    batch: ending((list: D1PreparedStatement[]) => env.DB.batch(list)),
  })
  return { db, bucket: env.ARCHIVE }
}

afterEach(takeUsualSteps)

const october = (account = 'acme') => monthOf(account, 'transactions')

/** Rejects with `Killed` exactly if an invocation was ended. */
async function isKilled(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return false
  } catch (error) {
    if (error instanceof Killed) return true
    throw error
  }
}

describe('§19.3 a month that is archived', () => {
  test('leaves the database, and comes back to the bit', async () => {
    await firm()
    await storeAnyAmounts('acme')
    const before = await dump()
    const months = [monthOf('acme', 'transactions'), monthOf('acme', 'trading-activity')]
    for (const month of months) {
      await archive(month)
      expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived' })
    }
    const { transactions, activity, ...others } = await dump()
    expect(transactions).toHaveLength(1)
    expect(activity).toEqual([])
    expect(others).toEqual({ ...before, transactions: undefined, activity: undefined })
    for (const month of months) await restore(month)
    expect(await dump()).toEqual(before)
    for (const table of [
      'archived_months',
      'archive_objects',
      'archived_records',
      'archived_customers',
    ]) {
      expect(await rowsOf(table)).toEqual([])
    }
    expect(await rowsOf('retired_archives')).toHaveLength(2)
  })

  test.for([false, true])('survives an end before or after any query: %s', async (after) => {
    takeSmallSteps()
    await firm('acme', 12)
    const before = await dump()
    // The first call that is never made tells that all were tried.
    for (let calls = 1, goesOn = true; goesOn; calls++) {
      goesOn = await isKilled(archive(october(), Date.now(), killing(calls, after)))
      await archive(october())
      expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived', records: 12 })
      const { transactions, ...others } = await dump()
      expect(transactions).toHaveLength(1)
      expect(others).toEqual({ ...before, transactions: undefined })
      await isKilled(restore(october(), killing(calls, after)))
      await restore(october())
      expect(await dump()).toEqual(before)
      expect(await rowsOf('archived_records')).toEqual([])
    }
  })
})

describe('an erasure', () => {
  const note = { note: 'Ada Lovelace' }

  /** Returns a brand whose customers have activities in October. */
  async function casinoOf(account: string) {
    const casino = await brand({
      account,
      events: { Deposit: { granularity: 'event', eventid: 'used' } },
    })
    await casino.post('customers', [eve, { ...eve, customerId: 'p-2' }])
    const sent = Array.from({ length: 12 }, (_, i) => ({
      ...{ ...deposited, ...note, eventid: `e-${i}` },
      customerid: i % 3 === 0 ? 'p-2' : 'p-1',
      createtime: `2026-10-${String(1 + i).padStart(2, '0')} 10:00`,
    }))
    expect((await casino.post('activities', sent)).status).toBe(200)
    await keepTotals(account, 'igaming', '2026-10-01', '2026-10-31')
    return casino
  }

  const erase = (account: string) =>
    askAdmin(`accounts/${account}/customers/p-1/personal-data`, 'DELETE').then(json)

  const recordsOf = async (account: string) =>
    (
      await env.DB.prepare('select id, record, details from events where account = ? order by id')
        .bind(account)
        .all()
    ).results

  test('masks archived activities once they are back, and deletes the objects that had them', async () => {
    takeSmallSteps()
    await casinoOf('casino')
    await casinoOf('twin')
    const month = monthOf('casino', 'activities')
    await archive(month)
    expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived', records: 12 })
    const { prefix } = (await readMonth(env.DB, month))!
    expect(await erase('twin')).toMatchObject({ complete: true })
    expect(await erase('casino')).toMatchObject({ complete: false })
    const listed = () => askAdmin('accounts/casino/erasures').then(json)
    expect((await listed()).data).toMatchObject([{ complete: false }])
    for (let minute = 0; minute < 2; minute++) await runCron(CRON_SCHEDULES.propagate)
    expect((await listed()).data).toMatchObject([{ complete: true }])
    expect(await readMonth(env.DB, month)).toBeNull()
    const records = await recordsOf('casino')
    expect(records).toHaveLength(12)
    expect(records.filter(({ record }) => String(record).includes('Ada'))).toHaveLength(4)
    expect(records).toEqual(await recordsOf('twin'))
    await runCron(CRON_SCHEDULES.propagate)
    expect((await env.ARCHIVE.list({ prefix })).objects).toEqual([])
  })
})
