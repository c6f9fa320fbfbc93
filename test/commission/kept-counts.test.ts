import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parsePeriod } from '../../src/commission/engine/calendar.ts'
import type { Rule } from '../../src/commission/engine/plan.ts'
import {
  computeAffiliates,
  openComputation,
  TooManyFacts,
} from '../../src/commission/statements/compute.ts'
import { KEEPING } from '../../src/commission/statements/kept.ts'
import { beginRun, makeStep } from '../../src/commission/statements/run.ts'
import { openSource } from '../../src/commission/statements/source.ts'
import { beginKeeping, KEPT_LIMITS } from '../../src/db/commission/kept.ts'
import { findAccount } from '../../src/db/directory/accounts.ts'
import { day, deposited, eve } from '../brand.ts'
import { at } from '../dated.ts'
import { ada, askAdmin, deposit, traded } from '../partner.ts'
import { countCalls } from '../watched.ts'
import { countWrites } from './counted.ts'
import {
  AFFILIATES,
  bothWays,
  keepEagerly,
  NOW,
  OPEN,
  openBrand,
  openPartner,
  rowsOf,
} from './kept-firms.ts'
import { assign, monthly, storePlan } from './stored.ts'
import { storeStarted } from './stored-runs.ts'

// What kept facts spare, and what is kept.

const USUAL = { ...KEEPING }
const LIMITS = { ...KEPT_LIMITS }
beforeEach(() => keepEagerly())
afterEach(() => {
  Object.assign(KEEPING, USUAL)
  Object.assign(KEPT_LIMITS, LIMITS)
})

type Firm = Awaited<ReturnType<typeof openPartner>>

const CUSTOMERS = 10
const pad = (n: number) => String(n).padStart(2, '0')

const payment = (month: string, customer: number, id = 0, date = '04') => ({
  ...{ ...deposit, transaction_id: `${month}-${date}-${customer}-${id}`, currency: 'EUR' },
  ...{ customer_id: `c-${customer}`, amount_usd: undefined, amount_currency: 30 + customer },
  transaction_date: `${month}-${date}T10:00:00Z`,
})

const monthOf = (month: string) =>
  Array.from({ length: CUSTOMERS * 10 }, (_, i) =>
    payment(month, i % CUSTOMERS, i, pad(1 + Math.floor(i / CUSTOMERS))),
  )

/** Creates a partner with ten records of each customer in each of some closed months, and in December. */
async function firmWith(months: number, account = `firm-${months}`) {
  const firm = await openPartner(account)
  await firm.post(
    'customers',
    Array.from({ length: CUSTOMERS }, (_, i) => ({
      ...{ ...ada, customer_id: `c-${i}`, affiliate_id: `a-${i % 3}` },
      signup_date: '2030-01-02T08:00:00Z',
    })),
  )
  for (let n = 0; n < months; n++) await firm.post('transactions', monthOf(`2030-${pad(11 - n)}`))
  await firm.post('transactions', monthOf(OPEN))
  return firm
}

async function computationOf(platform: Env, account: string, run: string | null = null) {
  const source = await openSource(platform, (await findAccount(env.DB, account))!)
  return openComputation(source, parsePeriod(OPEN)!, run)
}

/** Counts the rows that the reading of facts reads. */
async function readRows({ account }: Firm, isKept = true): Promise<number> {
  const { read } = await countWrites(async (counted) => {
    const computation = await computationOf(env as Env, account)
    const source = await openSource(counted, (await findAccount(env.DB, account))!)
    const kept = isKept ? computation.kept : null
    return computeAffiliates({ ...computation, source, kept }, AFFILIATES, 1_000_000)
  })
  const opening = await countWrites(async (counted) => {
    await openSource(counted, (await findAccount(env.DB, account))!)
  })
  return read - opening.read
}

test('closed months cost no rows, and a late record costs those of its day', async () => {
  const firm = await firmWith(2)
  await firm.run(OPEN)
  const [rows, fromRecords] = [await readRows(firm), await readRows(firm, false)]
  for (let month = 1; month < 10; month++)
    await firm.post('transactions', monthOf(`2030-${pad(month)}`))
  await firm.run(OPEN)
  // Not one row for each of nine months, which have 900 records.
  expect((await readRows(firm)) - rows).toBeLessThan(9)
  expect((await readRows(firm, false)) - fromRecords).toBeGreaterThan(9 * CUSTOMERS * 10)

  const before = await readRows(firm)
  await firm.post('transactions', [{ ...payment('2030-03', 7, 99), status: 'reversed' }])
  const late = (await readRows(firm)) - before
  expect(late).toBeGreaterThan(0)
  // The day has a record of each customer. They are searched by day and customer.
  expect(late).toBeLessThan(8 * CUSTOMERS)
  const { kept, records } = await bothWays(firm.account)
  expect(kept).toEqual(records)
})

test('a delivery writes a row more only if it is the first to change a kept day', async () => {
  const firm = await firmWith(1)
  const post = async (record: object) => {
    const { rowsRead, rowsWritten } = await countCalls('/api/v1/forex/transactions', {
      method: 'POST',
      headers: { Authorization: `Bearer ${firm.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify([record]),
    })
    return { rowsRead, rowsWritten }
  }
  const before = await post(payment('2030-12', 1, 901, '20'))
  await firm.run(OPEN)
  const open = await post(payment('2030-12', 1, 902, '20'))
  expect(open.rowsWritten).toBe(before.rowsWritten)
  expect(open.rowsRead).toBeLessThanOrEqual(before.rowsRead + 2)
  const late = await post(payment('2030-11', 1, 903, '20'))
  expect(late.rowsWritten).toBe(before.rowsWritten + 1)
  const again = await post(payment('2030-11', 1, 904, '20'))
  expect(again.rowsWritten).toBe(before.rowsWritten)
})

test('a run keeps a customer once, and a new customer in the next run', async () => {
  const firm = await firmWith(2)
  await firm.run(OPEN)
  const before = await rowsOf('kept_facts', firm.account)
  expect(before).toHaveLength(CUSTOMERS)
  const again = async () => {
    const parameters = await storeStarted(firm.account, OPEN)
    await beginRun(env as Env, parameters, Date.now())
    return countWrites((counted) => makeStep(counted, parameters, 1, Date.now()))
  }
  // The step itself is marked as done.
  expect((await again()).written).toBeLessThanOrEqual(2)
  await firm.post('customers', [{ ...ada, customer_id: 'c-new', affiliate_id: 'a-0' }])
  await again()
  const after = await rowsOf('kept_facts', firm.account)
  expect(after.filter(({ customer_id }) => customer_id !== 'c-new')).toEqual(before)
  expect(after).toHaveLength(CUSTOMERS + 1)
})

test('a run keeps no year twice, even if it keeps several years', async () => {
  const firm = await firmWith(1)
  await firm.post('transactions', [payment('2029-11', 1)])
  await firm.run(OPEN)
  const before = await rowsOf('kept_days', firm.account)
  expect(before).toHaveLength(2)
  await firm.run(OPEN)
  expect(await rowsOf('kept_days', firm.account)).toEqual(before)
})

test('a record that moves to an open day while affiliates are computed counts once', async () => {
  const firm = await firmWith(1)
  const fee = { ...payment('2030-11', 1, 99, '20'), transaction_type: 'withdrawal' }
  await firm.post('transactions', [fee])
  await firm.run(OPEN)
  const computation = await computationOf(env as Env, firm.account)
  await firm.post('transactions', [{ ...fee, transaction_date: '2030-12-03T10:00:00Z' }])
  const textOf = async (one: typeof computation) =>
    (await computeAffiliates(one, AFFILIATES, 1_000_000)).flatMap(({ results }) =>
      results.map(({ statement }) => statement),
    )
  expect(await textOf(computation)).toEqual(await textOf({ ...computation, kept: null }))
})

test('customers with more facts than one statement reads are read in parts, or from their records', async () => {
  const firm = await firmWith(3)
  await firm.run(OPEN)
  // A customer has 30 facts.
  for (const facts of [70, 25]) {
    Object.assign(KEPT_LIMITS, { facts })
    const { kept, records } = await bothWays(firm.account)
    expect(kept).toEqual(records)
  }
  const other = await firmWith(3, 'limited')
  await other.run(OPEN)
  expect(await rowsOf('kept_facts', other.account)).toEqual([])
  const { kept, records, usable } = await bothWays(other.account)
  expect(usable).toHaveLength(1)
  expect(kept).toEqual(records)
})

test('customers who have far more facts than the mean are read in halves', async () => {
  const firm = await firmWith(3)
  const lots = (date: string) =>
    Array.from({ length: CUSTOMERS }, (_, i) => {
      return { ...traded, customer_id: `c-${i}`, date, lots_traded: 1 + i }
    })
  await firm.post('trading-activity', [...lots('2030-11-05'), ...lots(`${OPEN}-05`)])
  await firm.run(OPEN)
  await env.DB.prepare('update kept_days set mean = 1').run()
  // Each of the ten customers has more than 30 facts, so they are read in parts of two and one.
  Object.assign(KEPT_LIMITS, { facts: 70 })
  const { kept, records, usable } = await bothWays(firm.account)
  expect(usable).toMatchObject([{ mean: 1 }])
  expect(kept).toEqual(records)
  const ofOpen = records.map((one) => JSON.parse(one)).filter(({ id }) => id === OPEN)
  const totals = ofOpen.flatMap(({ statement }) => (statement ? [statement.total] : []))
  expect(totals).toEqual(['68.25', '45.00', '54.00'])
})

test('a run that another run has replaced writes nothing', async () => {
  const firm = await firmWith(1)
  const lost = await storeStarted(firm.account, OPEN)
  await beginRun(env as Env, lost, Date.now())
  const computation = await computationOf(env as Env, firm.account, lost.run)
  expect(computation.kept).toMatchObject({ usable: [], filled: [{ generation: lost.run }] })
  await beginRun(env as Env, await storeStarted(firm.account, OPEN), Date.now())
  expect(await rowsOf('kept_days', firm.account)).toMatchObject([{ generation: lost.run }])
  at('2030-12-05T13:00:00.000Z')
  await firm.run(OPEN)
  const kept = await rowsOf('kept_facts', firm.account)
  await computeAffiliates(computation, AFFILIATES, 1_000_000)
  expect(await rowsOf('kept_facts', firm.account)).toEqual(kept)
  expect(kept).toHaveLength(CUSTOMERS)
  at(NOW)
})

test('a run that begins again keeps the changed days that it noted', async () => {
  const firm = await firmWith(1)
  await firm.run(OPEN)
  const [{ generation, form, ...days }] = (await rowsOf('kept_days', firm.account)) as never as [
    { generation: string; form: string; first_day: number; last_day: number; summed_from: number },
  ]
  const begin = (run: string) =>
    beginKeeping(
      env.DB,
      firm.account,
      { generation: run, form, begun_at: 1 },
      [{ ...days, last_day: days.last_day + 1 }],
      1e9,
    )
  await firm.post('transactions', [{ ...payment('2030-11', 1, 1, '05'), status: 'reversed' }])
  await begin(generation)
  expect(await rowsOf('kept_days', firm.account)).toMatchObject([{ ...days, ready: 1 }])
  expect(await rowsOf('changed_days', firm.account)).toHaveLength(1)
  await begin('run_other')
  expect(await rowsOf('kept_days', firm.account)).toMatchObject([{ ready: 0, begun_at: 1 }])
  expect(await rowsOf('changed_days', firm.account)).toEqual([])
})

test('a computation that begins before or ends after the kept days reads the records', async () => {
  const firm = await firmWith(4)
  await env.DB.prepare(`update assignments set from_day = '2030-10-01' where account = ?`)
    .bind(firm.account)
    .run()
  await firm.run(OPEN)
  expect((await bothWays(firm.account)).usable).toHaveLength(1)
  await env.DB.prepare(`update assignments set from_day = '2029-01-01' where account = ?`)
    .bind(firm.account)
    .run()
  const early = await bothWays(firm.account)
  expect([early.usable, early.kept]).toEqual([[], early.records])
  await firm.run('2030-09')
  expect(await rowsOf('kept_days', firm.account)).toMatchObject([{ last_day: 22_193 }])
  const { kept, records } = await bothWays(firm.account)
  expect(kept).toEqual(records)
  await firm.run(OPEN)
  expect(await rowsOf('kept_days', firm.account)).toMatchObject([{ last_day: 22_248, ready: 1 }])
  const last = await bothWays(firm.account)
  expect(last.kept).toEqual(last.records)
})

test('a run of an earlier period does not keep a customer whose records it reads only in part', async () => {
  const firm = await firmWith(1)
  const late = { ...ada, customer_id: 'c-late', signup_date: '2030-01-02T08:00:00Z' }
  await firm.post('customers', [{ ...late, affiliate_id: 'nobody' }])
  const fee = { ...payment('2030-11', 1), customer_id: 'c-late', transaction_type: 'withdrawal' }
  await firm.post('transactions', [{ ...fee, transaction_id: 'f-1' }])
  await firm.run(OPEN)
  await askAdmin(`${firm.path}/customers/c-late/affiliations`, 'PUT', {
    reason: 'A mistake',
    affiliations: [{ from: null, affiliate_id: 'a-0' }],
  })
  await firm.run('2030-09')
  expect(await rowsOf('kept_facts', firm.account)).toHaveLength(CUSTOMERS)
  const { kept, records, usable } = await bothWays(firm.account)
  expect(usable).toMatchObject([{ changed: '[]' }])
  expect(kept).toEqual(records)
  await firm.run(OPEN)
  expect(await rowsOf('kept_facts', firm.account)).toHaveLength(CUSTOMERS + 1)
})

test('records that a plan did not need are read once the affiliate gets a plan that does', async () => {
  const firm = await firmWith(1)
  const base = [{ transactions: ['bonus'] }]
  const rules: Rule[] = [{ id: 'fees', kind: 'share', percent: '5', base }]
  await storePlan(firm.account, 'fees', monthly(rules, { effective_from: '2029-01-01' }))
  for (const affiliate of AFFILIATES) await assign(firm.account, 'fees', affiliate, '2029-01-01')
  await firm.post('trading-activity', [{ ...traded, customer_id: 'c-2', date: '2030-11-06' }])
  await firm.run(OPEN)
  const kindsOf = async () =>
    (await rowsOf('kept_facts', firm.account)).map(({ rows }) => Object.keys(JSON.parse(`${rows}`)))
  expect(new Set((await kindsOf()).flat())).toEqual(new Set(['summed_transactions']))
  await env.DB.prepare(`update assignments set plan = 'ib' where affiliate_id = 'a-2'`).run()
  const { kept, records, usable } = await bothWays(firm.account)
  expect(usable).toMatchObject([{ changed: '[]' }])
  expect(kept).toEqual(records)
  await firm.run(OPEN)
  expect((await kindsOf()).flat()).toContain('summed_activity')
})

test('kept facts count a fifth of those that a request computes', async () => {
  const firm = await firmWith(1)
  await firm.run(OPEN)
  const computation = await computationOf(env as Env, firm.account)
  // 100 of December, and a fifth of 100 of November and of 10 signups.
  const compute = (most: number, kept = computation.kept) =>
    computeAffiliates({ ...computation, kept }, AFFILIATES, most)
  await expect(compute(121)).rejects.toThrow(TooManyFacts)
  expect(await compute(123)).not.toEqual([])
  await expect(compute(209, null)).rejects.toThrow(TooManyFacts)
  expect(await compute(210, null)).not.toEqual([])
})

test('facts that an earlier run has kept are not read', async () => {
  const firm = await firmWith(1)
  const fee = { ...payment('2030-11', 1, 99, '20'), transaction_type: 'withdrawal' }
  await firm.post('transactions', [fee])
  await firm.run(OPEN)
  await env.DB.prepare(
    `update kept_facts set generation = 'run_1', rows = replace(rows, 'EUR', 'CZK')`,
  ).run()
  const { kept, records, usable } = await bothWays(firm.account)
  expect(usable).toHaveLength(1)
  expect(kept).toEqual(records)
})

test('an account near its storage quota keeps nothing', async () => {
  const firm = await firmWith(1)
  await env.DB.prepare(
    `insert into storage (account, bytes, until_hour) values (?, ?, 0)
     on conflict do update set bytes = excluded.bytes`,
  )
    .bind(firm.account, Math.ceil(0.61 * 2 ** 32))
    .run()
  await firm.run(OPEN)
  expect(await rowsOf('kept_days', firm.account)).toEqual([])
})

test('the kept facts of a customer contain only ids, days, times, words and amounts', async () => {
  const casino = await openBrand('acme-casino')
  const { tracking_data } = casino.links[0]!
  await casino.post('customers', { ...eve, regtime: '2030-01-03 08:30', tracking_data })
  await casino.post('activities', { ...day, createtime: '2030-03-04', note: 'x' })
  await casino.post('activities', { ...deposited, createtime: '2030-03-06 10:00', note: 'x' })
  await casino.run(OPEN)
  const [{ rows, customer_id }] = (await rowsOf('kept_facts', casino.account)) as [never]
  expect(customer_id).toBe('p-1')
  const events = [[21_979, 'e e-1', 'Deposit', 1_899_021_600_000, 'EUR', null, 100, null, 16]]
  const sums = [null, null, null, null, 0, 9, 0, 0]
  expect(JSON.parse(rows)).toEqual({
    events,
    summed_events: [[21_977, 'DailyStats', 'EUR', null, 2, 1, ...sums]],
  })
})
