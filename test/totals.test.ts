import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { decodeJwt } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import { payFor, waitFor } from '../src/db/lease.ts'
import { CHECK_LIMITS } from '../src/db/records/check-totals.ts'
import {
  addKpi,
  addSums,
  addToSize,
  applyStep,
  dropRuns,
  emptySums,
  isTooLarge,
  type KeptGroup,
  MAX_BYTES,
  MAX_TOTALS,
  mergeSums,
  newProgress,
  newRun,
  sumAgain,
  toKeptGroups,
} from '../src/db/records/totals.ts'
import { forex } from '../src/trading/forex.ts'
import { brand } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { deliverJob, listing, runCron, type Sent } from './crons.ts'
import { CURABLE, faulty, OVERLOAD } from './faulty.ts'
import { ada, askAdmin, deposit, json, ORIGIN, partner, traded } from './partner.ts'
import { printedAs } from './secrecy.ts'
import { leaseTotals } from './totals-lease.ts'
import { countCalls, overriding, overridingSessions } from './watched.ts'
import { emptyWorld } from './world.ts'

// Kept totals: which rows a read of totals reads and writes, and that kept totals equal the records.

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

/**
 * Stores transactions of an account; `day` is the SQL of the day of the transaction `value`. A test that
 * stores thousands ends with `emptyWorld`: to search them for secrets takes longer than the test.
 */
async function insertTransactions(account: string, count: number, day: string, from = 0) {
  for (let first = from; first < from + count; first += 10_000) {
    const ids = Array.from({ length: Math.min(10_000, from + count - first) }, (_, i) => first + i)
    await run(
      `insert into transactions (account, transaction_id, customer_id, transaction_type,
         amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
       select ?1, 't-' || value, 'c-' || (value % 100), 'deposit', value + 0.25, 'EUR', 1790899200000,
         'status ' || (value % 2), ${day}, 0, 'd', 0, 1 from json_each(?2)`,
      account,
      JSON.stringify(ids),
    )
  }
}

/** Stores activities of a brand, which are summed in steps of 500; `day` is the SQL of their day. */
const insertEvents = (account: string, count: number, day: string, from = 0) =>
  run(
    `insert into events (account, id, eventname, customer_id, record, day, first_day, held,
       delivery, idx, revision)
     select ?1, 'e ' || value, 'Bet', 'p-1', '{}', ${day}, ${FIRST_DAY}, 0, 'd', 0, 1
     from json_each(?2)`,
    account,
    JSON.stringify(Array.from({ length: count }, (_, i) => from + i)),
  )

/** Ends the pause of a computation that took long: tests run on busy machines, too. */
const endPause = () => run('delete from totals_leases')

type Partner = Awaited<ReturnType<typeof partner>>

const read = (acme: Partner, path: string) =>
  countCalls(`/api/v1/${acme.vertical}/${path}`, {
    headers: { Authorization: `Bearer ${acme.access_token}` },
  })

const keptDays = async (resource = 'transactions') => {
  const { results } = await env.DB.prepare(
    'select day, totals from day_totals where resource = ? and computation is null order by day',
  )
    .bind(resource)
    .all<{ day: number; totals: string }>()
  return results
}

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

const askOfBrand = (world: Env, { brand_token }: { brand_token: string }, path: string) =>
  fetchWith(
    world,
    new Request(new URL(`/tracking/events/${path}`, ORIGIN), {
      headers: { 'x-api-key': brand_token },
    }),
  )

const KEEP = 'insert into day_totals (account, resource, day, form, totals'

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
    // One mark and one row a day, with its index.
    expect(first.rowsWritten).toBeLessThanOrEqual(3 * 100 + CONSTANT)
    expect(first.rowsRead).toBeLessThanOrEqual(3 * 3000 + 20 * 100 + CONSTANT)
  })

  test('totals sum the records of the changed day among 100 days', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 3000, `${FIRST_DAY} + value / 30`)
    await acme.post('customers', ada)
    await read(acme, YEAR)
    await acme.post('transactions', { ...deposit, transaction_id: 'new' })
    expect(await keptDays()).toHaveLength(99)
    await endPause()
    const changed = await read(acme, YEAR)

    expect(changed.response.status).toBe(200)
    expect(changed.rowsRead).toBeLessThanOrEqual(3 * 31 + 10 * 100 + CONSTANT)
    expect(await keptDays()).toHaveLength(100)
  })

  test('a day of 20,000 records is summed in steps of at most 10,000', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 20_000, `${FIRST_DAY}`)
    const seen: number[] = []
    const DB = overridingSessions(env.DB, (real) => ({
      prepare: (sql: string) => real.prepare(sql),
      batch: async (list: D1PreparedStatement[]) => {
        const results = await real.batch(list)
        seen.push(...results.map(({ meta }) => meta.rows_read))
        return results
      },
    }))
    const { data } = await json(ask({ ...env, DB } as Env, acme, WEEK))

    // The records and their sort, and the groups.
    expect(Math.max(...seen)).toBeLessThanOrEqual(2 * 10_000 + CONSTANT)
    expect(seen.filter((rows) => rows >= 10_000).length).toBe(4)
    const sum = (rest: number) => 10_000 * 0.25 + 10_000 * 9999 + rest * 10_000
    expect(data).toEqual(
      [0, 1].map((rest) => ({
        day: '2026-10-01',
        resource: 'transactions',
        transaction_type: 'deposit',
        status: `status ${rest}`,
        currency: 'EUR',
        count: 10_000,
        sums: { amount_currency: String(sum(rest)) },
      })),
    )
    expect(await keptDays()).toHaveLength(1)
    await emptyWorld()
  })

  test('a delivery writes nothing for days whose totals are not kept, and a row for kept ones', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const post = (record: object) =>
      countCalls('/api/v1/forex/transactions', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${acme.access_token}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify(record),
      })
    const plain = await post(deposit)
    await read(acme, WEEK)
    expect(await keptDays()).toHaveLength(1)
    const replayed = await post(deposit)
    expect(await keptDays()).toHaveLength(1)
    expect(replayed.rowsWritten).toBeLessThan(plain.rowsWritten)
    const dry = await countCalls('/api/v1/forex/transactions?dry_run=true', {
      method: 'POST',
      headers: { Authorization: `Bearer ${acme.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...deposit, transaction_id: 'dry' }),
    })
    expect(dry.response.status).toBe(201)
    expect(await keptDays()).toHaveLength(1)

    // The row of the day and its index.
    const changing = await post({ ...deposit, transaction_id: 't-2' })
    expect(changing.rowsWritten).toBeLessThanOrEqual(plain.rowsWritten + 2)
    expect(await keptDays()).toEqual([])
    expect((await post({ ...deposit, transaction_id: 't-3' })).rowsWritten).toBeLessThan(
      changing.rowsWritten,
    )
  })

  test('totals of a day above 512 KiB are not kept', async () => {
    const casino = await brand()
    const kpis = (length: number) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`${i}`.padEnd(length, 'x'), 1])),
      )
    for (const [day, length] of [
      [FIRST_DAY, 450],
      [FIRST_DAY + 1, 200],
    ] as const) {
      await run(
        `insert into events (account, id, eventname, customer_id, kpis, record, day, first_day, held,
           delivery, idx, revision)
         values (?1, 'e ' || ?2, 'Bet', 'p-1', ?3, '{}', ?2, ?2, 0, 'd', 0, 1)`,
        casino.account,
        day,
        kpis(length),
      )
    }
    const { data } = await json(casino.get(WEEK))
    expect(data.map(({ sums }: { sums: object }) => Object.keys(sums).length)).toEqual([1200, 1200])
    expect((await keptDays('activities')).map(({ day }) => day)).toEqual([FIRST_DAY + 1])
    const { results } = await env.DB.prepare('select * from day_totals').all()
    expect(results).toHaveLength(1)
  })

  test('kept totals with too many groups or bytes for an answer are refused', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 2, `${FIRST_DAY} + value`)
    await acme.get(WEEK)
    const group = (status: string) => [['deposit', status, 'EUR'], 1, ['1'], {}]
    const many = (length: number) => Array.from({ length }, (_, i) => group(`${i}`))
    for (const [totals, status] of [
      [many(25_000), 200],
      [many(25_001), 400],
      [[group('x'.repeat(1_000_000))], 200],
      [[group('x'.repeat(1_100_000))], 400],
    ] as const) {
      await run('update day_totals set totals = ?', JSON.stringify(totals))
      expect((await acme.get(WEEK)).status).toBe(status)
    }
  })

  test('totals that were kept with other sums are not read', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY}`)
    const { data } = await json(acme.get(WEEK))
    await run("update day_totals set form = '[]', totals = '[]'")

    expect((await json(acme.get(WEEK))).data).toEqual(data)
  })
})

describe('kept totals equal the records', () => {
  const totalsOf = async (acme: Pick<Partner, 'get'>) =>
    (await json(acme.get(WEEK))).data
      .filter(({ resource }: { resource: string }) => resource !== 'customers')
      .map(({ day, count, sums }: { day: string; count: number; sums: Record<string, string> }) => [
        day.slice(8),
        count,
        ...Object.values(sums),
      ])

  test('after records move to another day or customer', async () => {
    const acme = await partner()
    await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
    await acme.post('transactions', [deposit, { ...deposit, transaction_id: 'stays' }])
    expect(await totalsOf(acme)).toEqual([['02', 2, '200.5']])

    await acme.post('transactions', { ...deposit, transaction_date: '2026-10-05T00:00:00Z' })
    expect(await totalsOf(acme)).toEqual([
      ['02', 1, '100.25'],
      ['05', 1, '100.25'],
    ])
    await acme.post('transactions', {
      ...deposit,
      transaction_date: '2026-10-05T00:00:00Z',
      customer_id: 'c-2',
      amount_currency: 7,
    })
    expect(await totalsOf(acme)).toEqual([
      ['02', 1, '100.25'],
      ['05', 1, '7'],
    ])
  })

  test('after events are released, and move to another day', async () => {
    const casino = await brand({ unknown_customer: 'hold' })
    const event = { eventname: 'Bet', customerid: 'p-1', createtime: '2026-10-02', Value: '1' }
    const events = [
      { ...event, eventid: 'e-1' },
      { ...event, eventid: 'e-2' },
    ]
    await casino.post('activities', events)
    expect(await totalsOf(casino)).toEqual([])

    await casino.post('customers', { customerId: 'p-1' })
    expect(await totalsOf(casino)).toEqual([['02', 2, '2']])
    await casino.post('activities', { ...event, eventid: 'e-1', createtime: '2026-10-03' })
    expect(await totalsOf(casino)).toEqual([
      ['02', 1, '1'],
      ['03', 1, '1'],
    ])
  })

  test('after held records are released', async () => {
    const acme = await partner('forex', { unknown_customer: 'hold' })
    await acme.post('transactions', deposit)
    await acme.post('trading-activity', traded)
    expect(await totalsOf(acme)).toEqual([])

    await acme.post('customers', ada)
    expect(await totalsOf(acme)).toEqual([
      ['02', 1, '100.25'],
      ['02', 1, '1.07', '-12.345678'],
    ])
  })

  test('after an event without a time is sent again on another day', async () => {
    const casino = await brand()
    await casino.post('customers', { customerId: 'p-1' })
    const event = { eventname: 'Bet', customerid: 'p-1', eventid: 'e-1', Value: '1' }
    await casino.post('activities', event)
    await run('update events set day = ?1, first_day = ?1', FIRST_DAY)
    expect(await totalsOf(casino)).toEqual([['01', 1, '1']])

    await casino.post('activities', { ...event, Value: '2' })
    expect(await totalsOf(casino)).toEqual([['01', 1, '2']])
  })

  test('after a customer of a brand is created without a day', async () => {
    const casino = await brand()
    const today = new Date().toISOString().slice(0, 10)
    const totals = async () => (await json(casino.get(`totals?from=${today}&to=${today}`))).data
    await casino.post('customers', { customerId: 'p-1' })
    expect(await totals()).toMatchObject([{ count: 1 }])

    await casino.post('customers', { customerId: 'p-2' })
    expect(await totals()).toMatchObject([{ count: 2 }])
    await casino.post('customers', { customerId: 'p-1', regtime: '2026-10-02' })
    expect(await totals()).toMatchObject([{ count: 1 }])
  })

  test('after records are deleted', async () => {
    const acme = await partner()
    const casino = await brand()
    const event = { eventname: 'Bet', customerid: 'c-1', createtime: '2026-10-02', Value: '1' }
    await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
    await acme.post('transactions', [deposit, { ...deposit, transaction_id: 't-2' }])
    await acme.post('trading-activity', [traded, { ...traded, instrument: 'X' }])
    await casino.post('customers', { customerId: 'c-1' })
    await casino.post('activities', [
      { ...event, eventid: 'e-1' },
      { ...event, eventid: 'e-2' },
    ])
    const counts = async () =>
      [...(await json(acme.get(WEEK))).data, ...(await json(casino.get(WEEK))).data].map(
        ({ count }: { count: number }) => count,
      )
    expect(await counts()).toEqual([2, 2, 2, 2])

    await run("delete from customers where customer_id = 'c-2'")
    await run("delete from transactions where transaction_id = 't-2'")
    await run("delete from activity where instrument = 'X'")
    await run("delete from events where eventid = 'e-2'")
    expect(await counts()).toEqual([1, 1, 1, 1])
  })
})

describe('a day that changes while it is summed', () => {
  const addTo = (
    { account }: { account: string },
    insert: (
      ...row: Parameters<typeof insertTransactions>
    ) => Promise<unknown> = insertTransactions,
  ) => {
    let added = 900_000
    return async () => {
      added += 1
      await insert(account, 1, `${FIRST_DAY}`, added)
      // Every write of a delivery deletes the row of its day, as this does.
      return run('delete from day_totals where account = ?', account)
    }
  }

  test('of one step: its totals are right, and not kept', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY}`)
    const response = await ask(beforeBatch(KEEP, addTo(acme)), acme, WEEK)

    const { data } = await json(response)
    expect(data.map(({ count }: { count: number }) => count)).toEqual([5, 5])
    expect(await keptDays()).toEqual([])
    const again = (await json(acme.get(WEEK))).data
    expect(again.map(({ count }: { count: number }) => count)).toEqual([5, 6])
  })

  test('of several steps: it is summed again', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 11_000, `${FIRST_DAY}`)
    const add = addTo(acme)
    let changes = 0
    const once = async () => {
      changes += 1
      if (changes === 1) await add()
    }
    const { data } = await json(ask(beforeBatch(KEEP, once), acme, WEEK))

    expect(changes).toBe(2)
    const counts = data.map(({ count }: { count: number }) => count)
    expect(counts).toEqual([5500, 5501])
    expect(await keptDays()).toHaveLength(1)
    await emptyWorld()
  })

  test('at each of three attempts: the response is 503', async () => {
    const casino = await brand()
    // The steps of the last attempt are five times as large.
    await insertEvents(casino.account, 2600, `${FIRST_DAY}`)
    const world = beforeBatch(KEEP, addTo(casino, insertEvents))
    const response = await askOfBrand(world, casino, WEEK)

    expect(response.status).toBe(503)
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
    const { code, detail } = await json(response)
    expect(code).toBe('unavailable')
    expect(detail).toMatch(/^Records of one of these days are being written right now\. Repeat/)
    const { results } = await env.DB.prepare('select running from totals_leases').all()
    expect(results).toEqual([{ running: 0 }])
    await emptyWorld()
  })
})

test('a failing call, or a lost answer, at any step changes no total', async () => {
  const casino = await brand()
  await insertEvents(casino.account, 1100, `${FIRST_DAY} + value / 1050`)
  const { data } = await json(casino.get(WEEK))
  expect(data).toHaveLength(2)
  // The kept days, the lease, and the batches that sum.
  for (let calls = 0; calls < 5; calls++) {
    for (const after of [false, true]) {
      await run('delete from day_totals')
      await endPause()
      const faults = [...Array<null>(calls).fill(null), { message: CURABLE[0]!, after }]
      const response = await askOfBrand(faulty(faults).env, casino, WEEK)
      expect([response.status, (await json(response)).data]).toEqual([200, data])
    }
  }
  await emptyWorld()
})

test.each([
  ['whose lease was taken but the response lost', [null, { message: OVERLOAD[0]!, after: true }]],
  ['that cannot sum', [null, null, { message: OVERLOAD[0]!, after: false }]],
])('a computation %s ends its lease', async (_, faults) => {
  const acme = await partner()
  await insertTransactions(acme.account, 10, `${FIRST_DAY}`)
  const response = await ask(faulty(faults).env, acme, WEEK)

  expect(response.status).toBe(503)
  expect((await acme.get(WEEK)).status).toBe(200)
})

describe('one computation of an account at a time', () => {
  test('a second call is refused while the first sums, and reads what is kept', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY} + value`)
    await acme.get('totals?from=2026-10-01&to=2026-10-01')
    const seen: Response[] = []
    const meanwhile = beforeBatch(KEEP, async () => {
      seen.push(await acme.get(WEEK), await acme.get('totals?from=2026-10-01&to=2026-10-01'))
    })
    const first = await ask(meanwhile, acme, WEEK)

    expect([first, ...seen].map(({ status }) => status)).toEqual([200, 429, 200])
    expect(seen[0]!.headers.get('Retry-After')).toBe('5')
    expect(await json(seen[0]!)).toMatchObject({ code: 'rate_limited' })
    expect((await acme.get(WEEK)).status).toBe(200)
  })

  test('simultaneous calls wait for each other, and get the same totals', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY} + value`)
    const responses = await Promise.all(Array.from({ length: 4 }, () => acme.get(WEEK)))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const [first, ...others] = await Promise.all(responses.map((response) => json(response)))
    for (const other of others) expect(other).toEqual(first)
  })

  test('the integrations team waits for an account that has used its time, too', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY}`)
    await leaseTotals(acme.account, 0, 0, Date.now() + 60_000)
    for (const refused of [
      await acme.get(WEEK),
      await askAdmin(`accounts/${acme.account}/${WEEK}`),
    ]) {
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(40)
    }
  })

  test('the lease of a crashed computation ends by its time', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY}`)
    await leaseTotals(acme.account, Date.now() + 2500, 1, 0)
    const refused = await acme.get(WEEK)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1'])

    await scheduler.wait(1500)
    expect((await acme.get(WEEK)).status).toBe(200)
  })

  test('computations take a tenth of the time, after a second at once', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY}`)
    await leaseTotals(acme.account, 0, 0, Date.now() + 40_500)
    expect((await acme.get(WEEK)).headers.get('Retry-After')).toBe('31')

    await run('update totals_leases set paid_at = ?', Date.now() + 9000)
    expect((await acme.get(WEEK)).status).toBe(200)
    const { results } = await env.DB.prepare('select paid_at from totals_leases').all()
    expect(results).toEqual([{ paid_at: expect.toSatisfy((at: number) => at > Date.now() + 8000) }])
    expect(waitFor(payFor(0, 1000, 500_000), 500_000)).toBe(0)
    expect(waitFor(payFor(0, 1500, 500_000), 500_000)).toBe(5000)
    expect(waitFor(payFor(510_000, 10, 500_000), 500_000)).toBe(100)
  })

  test('a computation that would be too long keeps the days so far, and the next goes on', async () => {
    const casino = await brand()
    for (let day = 0; day < 52; day += 13) {
      await insertEvents(casino.account, 13_000, `${FIRST_DAY} + value / 1000`, day * 1000)
    }
    const first = await casino.get(YEAR)
    expect(first.status).toBe(503)
    expect((await json(first)).detail).toMatch(/^These days have too many changed records/)
    const kept = (await keptDays('activities')).length
    expect(kept).toBeGreaterThanOrEqual(49)
    expect(kept).toBeLessThan(52)
    const { results } = await env.DB.prepare('select * from day_totals').all()
    expect(results).toHaveLength(kept)

    await endPause()
    expect((await json(casino.get(YEAR))).data).toHaveLength(52)
    await emptyWorld()
  })
})

test('the sums of two steps of a day are added, and its groups are in the order of SQL', () => {
  const view = { ...forex.resources[0]!, groups: ['type', 'status'], sums: ['amount', 'fee'] }
  const limbs = (name: string, value: number | null) =>
    Object.fromEntries([value && 0, value, 0, 0].map((limb, i) => [`${name}_${i}`, value && limb]))
  const sumStep = (
    ...rows: [type: string | null, status: string | null, fee: number | null, kpi: number][]
  ) => {
    const sums = emptySums()
    for (const [type, status, fee, kpi] of rows) {
      const group = { type, status, count: 1, ...limbs('amount', null), ...limbs('fee', fee) }
      addSums(sums, view, group)
      addKpi(sums, view, { ...group, kpi: 'lots', ...limbs('sum', kpi) })
    }
    return sums
  }
  const day = sumStep(['b', 'z', 1, 1], ['b', null, null, 1], ['b', 'c', 2, 3])
  mergeSums(day, sumStep(['b', 'c', 5, 4], [null, 'c', null, 1], ['a', 'c', null, 1]))

  expect(toKeptGroups(day, view)).toEqual([
    [[null, 'c'], 1, [null, null], { lots: '1' }],
    [['a', 'c'], 1, [null, null], { lots: '1' }],
    [['b', null], 1, [null, null], { lots: '1' }],
    [['b', 'c'], 2, [null, '7'], { lots: '7' }],
    [['b', 'z'], 1, [null, '1'], { lots: '1' }],
  ])
})

test('the size of kept totals is that of their groups, KPIs and bytes', () => {
  const group = (kpis: number): KeptGroup => [
    ['Bet'],
    1,
    [],
    Object.fromEntries(Array.from({ length: kpis }, (_, i) => [`k${i}`, '1'])),
  ]
  const size = addToSize({ groups: 1, kpis: 2, bytes: 3 }, [group(3), group(0)], 10)
  expect(size).toEqual({ groups: 3, kpis: 5, bytes: 13 })
  expect(addToSize(size, [group(3)], 4, -1)).toEqual({ groups: 2, kpis: 2, bytes: 9 })
  const none = { groups: 0, kpis: 0, bytes: 0 }
  for (const [limit, member] of [
    [MAX_TOTALS, 'groups'],
    [MAX_TOTALS, 'kpis'],
    [MAX_BYTES, 'bytes'],
  ] as const) {
    expect(isTooLarge({ ...none, [member]: limit })).toBe(false)
    expect(isTooLarge({ ...none, [member]: limit + 1 })).toBe(true)
  }
})

test('a kept group has its KPIs in the order of their names', () => {
  const view = { ...forex.resources[0]!, groups: ['type'], sums: [] }
  const day = emptySums()
  addSums(day, view, { type: 'Bet', count: 1 })
  for (const kpi of ['b', 'c', 'a']) {
    addKpi(day, view, { type: 'Bet', kpi, sum_0: 0, sum_1: 1, sum_2: 0, sum_3: 0 })
  }
  const [group] = toKeptGroups(day, view)
  expect(Object.keys(group![3])).toEqual(['a', 'b', 'c'])
})

describe('a computation whose totals are too large for an answer', () => {
  const view = forex.resources[0]!
  const begin = () => {
    const runs = [1, 2].map((day) => newRun(view, [day]))
    const size = { groups: 0, kpis: 0, bytes: 0 }
    return { runs, progress: newProgress(runs, new Map([[view, size]])) }
  }

  test('stops within a day of which one step has summed too much', () => {
    for (const [characters, state] of [
      [MAX_BYTES, 'summed'],
      [MAX_BYTES + 1, 'too_large'],
    ] as const) {
      const { runs, progress } = begin()
      const days = new Map([[1, { ...emptySums(), characters }]])
      applyStep(progress, runs[0]!, { days, end: [1, 'c-1'], records: 1, isTooLarge: false })
      expect(progress.state).toBe(state)
    }
  })

  test('gives up all days, and removes the marks of those that have them', () => {
    const { runs, progress } = begin()
    progress.state = 'too_large'
    runs[0]!.isMarked = true
    dropRuns(progress)

    expect(progress.runs).toEqual([])
    expect(progress.abandoned).toEqual([{ view, days: [1] }])
  })

  test('does not sum a day again that has changed', () => {
    const { runs, progress } = begin()
    progress.state = 'too_large'
    const day = { day: 1, groups: [], totals: '[]', bytes: 2, isSnapshot: false }
    sumAgain(progress, { ...day, run: runs[0]! })

    expect(progress.runs).toEqual(runs)
  })
})

describe('the hourly check', () => {
  const limits = { ...CHECK_LIMITS }
  afterEach(() => Object.assign(CHECK_LIMITS, limits))

  const check = (world = env as Env) => runCron('17 * * * *', Date.now(), world)

  test('kept totals that differ from the records are reported and summed anew', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 6000, `${FIRST_DAY} + value / 3000`)
    const { data } = await json(acme.get(WEEK))
    await run(
      "update day_totals set totals = replace(totals, '1500', '1501') where day = ?",
      FIRST_DAY,
    )
    expect((await json(acme.get(WEEK))).data).not.toEqual(data)
    await check()

    expect(printedAs('error')).toEqual([
      JSON.stringify({
        fault: 'totals_differ',
        account: acme.account,
        resource: 'transactions',
        day: '2026-10-01',
      }),
    ])
    await endPause()
    expect((await json(acme.get(WEEK))).data).toEqual(data)
    await emptyWorld()
  })

  test('kept totals that equal the records are noted as checked, the others go first', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY} + value`)
    await acme.get('totals?from=2026-10-01&to=2026-10-31')
    await run('update day_totals set checked_at = day')
    await check()

    const { results } = await env.DB.prepare(
      'select min(checked_at) as least from day_totals',
    ).all()
    expect(results).toEqual([{ least: expect.toSatisfy((at: number) => at > 1e12) }])
  })

  test('kept totals of a form that no resource has are deleted', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 1, `${FIRST_DAY}`)
    await acme.get(WEEK)
    await run("update day_totals set form = '[]'")
    await check()

    expect(await keptDays()).toEqual([])
  })

  test('a day that is summed again while it is compared is left as it is', async () => {
    const acme = await partner()
    await insertTransactions(acme.account, 10, `${FIRST_DAY}`)
    await acme.get(WEEK)
    await run("update day_totals set totals = '[]', checked_at = 1")
    const sumAgain = () => run("update day_totals set totals = null, computation = 'other'")
    await check(beforeBatch('select totals, checked_at from day_totals', sumAgain))

    expect(printedAs('error')).toEqual([])
    const { results } = await env.DB.prepare('select totals, checked_at from day_totals').all()
    expect(results).toEqual([{ totals: null, checked_at: 1 }])
  })

  test('a check that has made its steps leaves the other days to the next one', async () => {
    CHECK_LIMITS.steps = 1
    const acme = await partner()
    await insertTransactions(acme.account, 2, `${FIRST_DAY} + value`)
    await acme.get(WEEK)
    await run("update day_totals set totals = '[]', checked_at = day")
    await check()
    expect((await keptDays()).map(({ day }) => day)).toEqual([FIRST_DAY + 1])
    await check()

    expect(await keptDays()).toEqual([])
    expect(printedAs('error')).toHaveLength(2)
  })

  describe('of a day with more records than a message compares', () => {
    const kept = () =>
      env.DB.prepare('select totals, checked_at from day_totals').first<{ checked_at: number }>()

    /** Stores a day of three messages, and returns the first of them with what it leaves. */
    async function begun(totals = 'totals') {
      CHECK_LIMITS.stepsOfDay = 1
      const acme = await partner()
      await insertTransactions(acme.account, 6000, `${FIRST_DAY}`)
      await acme.get(WEEK)
      await run(`update day_totals set totals = ${totals}, checked_at = 1`)
      const sent: Sent[] = []
      const world = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
      await deliverJob({ job: 'check', binding: 'DB', round: 1, at: 1e12 }, world)
      return { acme, sent, world, jobs: () => sent.splice(0).map(({ body }) => body) }
    }

    test('further messages compare the rest', async () => {
      const { jobs, world } = await begun()
      let messages = 1
      for (let next = jobs(); next.length > 0; next = jobs()) {
        expect(next).toHaveLength(1)
        messages += 1
        await deliverJob(JSON.parse(JSON.stringify(next[0])), world)
      }
      expect(messages).toBe(3)
      expect(printedAs('error')).toEqual([])
      expect(await kept()).toMatchObject({ checked_at: 1e12, totals: expect.any(String) })
      await emptyWorld()
    })

    test('a difference is found by the last message', async () => {
      const { jobs, world } = await begun(`replace(totals, '3000', '3001')`)
      for (let next = jobs(); next.length > 0; next = jobs()) {
        expect(printedAs('error')).toEqual([])
        await deliverJob(next[0]!, world)
      }
      expect(printedAs('error')).toEqual([expect.stringContaining('totals_differ')])
      expect(await kept()).toBeNull()
      await emptyWorld()
    })

    test('a day that changes between two messages is left as it is', async () => {
      const { jobs, world } = await begun(`replace(totals, '3000', '3001')`)
      await run("update day_totals set totals = null, computation = 'other', checked_at = 5")
      await deliverJob(jobs()[0]!, world)
      expect([jobs(), printedAs('error')]).toEqual([[], []])
      expect(await kept()).toEqual({ totals: null, checked_at: 5 })
      await emptyWorld()
    })

    test('sums that are larger than a message are not compared', async () => {
      CHECK_LIMITS.characters = 10
      const { jobs } = await begun(`replace(totals, '3000', '3001')`)
      expect([jobs(), printedAs('error')]).toEqual([[], []])
      expect(await kept()).toMatchObject({ checked_at: 1e12 })
      await emptyWorld()
    })

    test('sums of KPIs go on, too', async () => {
      CHECK_LIMITS.stepsOfDay = 1
      const casino = await brand()
      await insertEvents(casino.account, 300, `${FIRST_DAY}`)
      await run(`update events set kpis = '{"stake":0.1,"win":-2.5}'`)
      await casino.get(WEEK)
      const sent: Sent[] = []
      const world = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
      await deliverJob({ job: 'check', binding: 'DB', round: 1, at: 1e12 }, world)
      expect(sent).toHaveLength(1)
      for (let next = sent.shift(); next; next = sent.shift()) await deliverJob(next.body, world)
      expect(printedAs('error')).toEqual([])
      expect((await keptDays('activities')).map(({ day }) => day)).toEqual([FIRST_DAY])
    })
  })

  test('kept totals are wrong if those of the records are too large for an answer', async () => {
    const casino = await brand()
    const insertEvent = (id: number, day: number, kpis: object) =>
      run(
        `insert into events (account, id, eventname, customer_id, kpis, record, day, first_day, held,
           delivery, idx, revision)
         values (?1, 'e ' || ?2, 'Bet', 'p-1', ?3, '{}', ?4, ?4, 0, 'd', 0, 1)`,
        ...[casino.account, id, JSON.stringify(kpis), day],
      )
    await insertEvent(0, FIRST_DAY, { stake: 1 })
    await casino.get(WEEK)
    for (const id of [1, 2]) {
      const names = Array.from({ length: 600 }, (_, i) => `${id} ${i}`.padEnd(1800, 'x'))
      await insertEvent(id, FIRST_DAY + 1, Object.fromEntries(names.map((name) => [name, 1])))
    }
    await run(
      `insert into day_totals (account, resource, day, form, totals, checked_at)
       select account, resource, day + 1, form, totals, checked_at from day_totals`,
    )
    await check()

    expect(printedAs('error')).toMatchObject([expect.stringContaining('"day":"2026-10-02"')])
    expect((await keptDays('activities')).map(({ day }) => day)).toEqual([FIRST_DAY])
  })
})

describe('the rate', () => {
  const remaining = (response: Response) =>
    Number(/r=(\d+)/.exec(response.headers.get('RateLimit') ?? '')?.[1])

  test('totals count as 10 requests, held records as 5, other reads as one', async () => {
    const acme = await partner()
    const casino = await brand()
    for (const account of [acme, casino]) {
      const left = []
      for (const path of ['account', WEEK, 'held', 'deliveries'])
        left.push(remaining(await account.get(path)))
      expect(left).toEqual([999, 989, 984, 983])
    }
  })

  test('totals are refused while fewer than 10 requests are left', async () => {
    const acme = await partner()
    const now = Date.now()
    await runInDurableObject(
      env.TOKEN_GATE.getByName(String(decodeJwt(acme.access_token).jti)),
      (_, { storage }) =>
        storage.kv.put('rate', { times: Array<number>(990).fill(now), lease: 0, used: 0 }),
    )
    expect(remaining(await acme.get('held'))).toBe(5)
    const refused = await acme.get(WEEK)

    expect([refused.status, remaining(refused)]).toEqual([429, 5])
    expect((await json(refused)).detail).toMatch(
      /^The limit is 1000 requests per minute\. This request counts as 10 requests; 5 are left\. Retry after \d+ seconds\.$/,
    )
    expect((await acme.get('account')).status).toBe(200)
  })
})
