import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test } from 'vitest'
import { CRON_SCHEDULES } from '../src/admin/crons.ts'
import { finishReleases, HELD_LIMITS } from '../src/db/records/release.ts'
import { finishReset, finishResets, RESET_LIMITS } from '../src/db/records/reset.ts'
import { brand, deposited, eve } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { runCron } from './crons.ts'
import { CURABLE, faulty } from './faulty.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner, traded } from './partner.ts'
import { countCalls, overriding } from './watched.ts'

// What is held costs no more than a page, a step or a limit allows, however much of it there is.

const hold = { unknown_customer: 'hold' } as const
const HELD = { ...HELD_LIMITS }
const RESET = { ...RESET_LIMITS }

afterEach(() => {
  Object.assign(HELD_LIMITS, HELD)
  Object.assign(RESET_LIMITS, RESET)
})

type Partner = Awaited<ReturnType<typeof partner>>

const call = (acme: Partner, path: string, body?: unknown) =>
  countCalls(`/api/v1/${acme.vertical}/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${acme.access_token}`,
      'Content-Type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

/** Stores held transactions of an account, `perCustomer` for each customer, and counts them. */
async function prepareHeld(account: string, n: number, perCustomer: number) {
  await env.DB.batch([
    env.DB.prepare(
      `insert into transactions (account, transaction_id, customer_id, transaction_type,
         amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
       select ?1, 'h-' || value, 'h-' || (value / cast(?3 as integer)), 'deposit', 1, 'EUR', 1790899200000,
         'ok', 20728, 1, 'dlv_01M7ZKVNYGS54195DSRMZ6GKJZ', 0, 1 from json_each(?2)`,
    ).bind(account, JSON.stringify(Array.from({ length: n }, (_, i) => i)), perCustomer),
    env.DB.prepare(
      "insert into totals (account, resource, total, held) values (?, 'transactions', 0, ?)",
    ).bind(account, n),
  ])
}

const waiting = (i: number, customer_id = 'late') => ({
  ...deposit,
  transaction_id: `t-${i}`,
  customer_id,
})
const many = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i))

/** Compares the kept counts with the records, in all accounts. */
async function expectExactCounts() {
  const { results } = await env.DB.prepare(
    `select * from (
       select account, resource, total, held from totals
       union all select account, 'transactions', -sum(held = 0), -sum(held) from transactions group by 1
       union all select account, 'trading-activity', -sum(held = 0), -sum(held) from activity group by 1
       union all select account, 'activities', -sum(held = 0), -sum(held) from events group by 1
       union all select account, 'customers', -count(*), 0 from customers group by 1
     ) group by account, resource having sum(total) <> 0 or sum(held) <> 0`,
  ).all()
  expect(results).toEqual([])
}

/** A database that notes the rows that each statement of a batch reads and writes. */
function metered() {
  const statements: { read: number; written: number }[] = []
  const db = overriding(env.DB, {
    batch: async (list: D1PreparedStatement[]) => {
      const results = await env.DB.batch(list)
      for (const { meta } of results) {
        statements.push({ read: meta.rows_read, written: meta.rows_written })
      }
      return results
    },
  })
  const most = () => ({
    read: Math.max(...statements.map(({ read }) => read)),
    written: Math.max(...statements.map(({ written }) => written)),
  })
  return { db, most }
}

/** A database whose batch number `nth`, from 0, fails before or after it is committed. */
function failingBatch(nth: number, after: boolean) {
  let sent = 0
  return overriding(env.DB, {
    batch: async (list: D1PreparedStatement[]) => {
      const fails = sent === nth
      sent += 1
      if (fails && !after) throw new Error(CURABLE[0])
      const results = await env.DB.batch(list)
      if (fails) throw new Error(CURABLE[0])
      return results
    },
  })
}

/** Waits until an account has no held record, without a cron. */
const expectReleased = (acme: Partner) =>
  expect
    .poll(async () => (await json(acme.get('held'))).meta.total, { timeout: 15_000, interval: 200 })
    .toBe(0)

const minutely = () => runCron(CRON_SCHEDULES.propagate)

describe('GET held', () => {
  test('a walk by cursor shows each record once while others are released and held', async () => {
    const acme = await partner('forex', hold)
    await acme.post(
      'transactions',
      many(20, (i) => waiting(i, `c-${i % 4}`)),
    )
    const first = await json(acme.get('held?per_page=10'))
    await acme.post('customers', { ...ada, customer_id: 'c-0' })
    await acme.post('transactions', waiting(20, 'c-0'))
    await acme.post('transactions', waiting(21, 'c-9'))
    const second = await json(acme.get(`held?per_page=50&cursor=${first.meta.next_cursor}`))
    const ids = [...first.data, ...second.data].map(({ record }) => record.transaction_id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(21)
  })
})

describe('the limit of held records', () => {
  test('a request that would exceed it has its unknown customers rejected', async () => {
    HELD_LIMITS.account = 5
    const acme = await partner('forex', hold)
    await acme.post('customers', ada)
    const kept = many(4, (i) => waiting(i))
    expect((await json(acme.post('transactions', kept))).summary.held).toBe(4)

    const body = [waiting(10), waiting(11), { ...deposit, transaction_id: 't-known' }]
    const refused = await acme.post('transactions', body)
    expect(refused.status).toBe(422)
    const { errors, errors_total, detail } = await json(refused)
    expect([errors_total, detail]).toEqual([2, '2 of 3 records are invalid. Nothing was stored.'])
    expect(errors[0]).toEqual({
      index: 0,
      key: { transaction_id: 't-10' },
      pointer: '/0/customer_id',
      code: 'unknown_customer',
      message: 'Customer `late` has not been received.',
      hint: 'An account can have at most 100,000 held records. Send the customers of `GET held` first, then resend this record.'.replace(
        '100,000',
        '5',
      ),
    })
    const [{ delivery_id }] = (await json(acme.get('deliveries'))).data
    expect((await json(acme.get(`deliveries/${delivery_id}`))).errors).toEqual(errors)

    // One more still has room; a record that is held already stays held and can be corrected.
    expect((await json(acme.post('transactions', waiting(4)))).summary.held).toBe(1)
    expect((await json(acme.post('transactions', kept))).summary.held).toBe(4)
    const changed = { ...waiting(1), status: 'changed' }
    expect((await json(acme.post('transactions', changed))).summary.held).toBe(1)
    expect((await acme.post('trading-activity', { ...traded, customer_id: 'x' })).status).toBe(422)
    await expectExactCounts()
    expect((await json(acme.get('held'))).meta.total).toBe(5)
  })

  test('a lenient request stores the others, and a dry run predicts it', async () => {
    HELD_LIMITS.account = 1
    const acme = await partner('forex', hold)
    await acme.post('customers', ada)
    const lenient = { Prefer: 'handling=lenient' }
    const body = [waiting(1), waiting(2), { ...deposit, transaction_id: 't-known' }]
    const {
      delivery_id: _,
      delivery_url: _u,
      ...foreseen
    } = await json(acme.post('transactions?dry_run=true', body, lenient))
    const response = await acme.post('transactions', body, lenient)
    const { delivery_id: __, delivery_url: __u, ...real } = await json(response)
    expect(response.status).toBe(207)
    expect(real.summary).toMatchObject({ created: 1, held: 0, rejected: 2 })
    expect(foreseen).toEqual({ ...real, dry_run: true })
    await expectExactCounts()
  })

  test('a record that moves to an unknown customer counts, one that is released makes room', async () => {
    HELD_LIMITS.account = 1
    const acme = await partner('forex', hold)
    await acme.post('customers', ada)
    await acme.post('transactions', [deposit, waiting(2)])
    expect((await acme.post('transactions', { ...deposit, customer_id: 'nobody' })).status).toBe(
      422,
    )
    await acme.post('customers', { ...ada, customer_id: 'late' })
    expect((await acme.post('transactions', { ...deposit, customer_id: 'nobody' })).status).toBe(
      200,
    )
    await expectExactCounts()
    expect((await json(acme.get('held'))).meta.total).toBe(1)
  })

  test('brands: the last record of a repeated key decides whether all are rejected', async () => {
    HELD_LIMITS.account = 0
    const acme = await brand()
    await acme.post('customers', eve)
    const lenient = { Prefer: 'handling=lenient' }
    const later = { ...deposited, eventid: 'e-9' }
    const body = [
      later,
      { ...later, customerid: 'x' },
      { ...deposited, customerid: 'x' },
      deposited,
    ]
    const response = await acme.post('activities', body, lenient)
    const rejected = (index: number) => ({
      outcome: 'rejected',
      errors: [{ code: 'unknown_customer', pointer: `/${index}/customerid` }],
    })
    expect((await json(response)).results).toMatchObject([
      rejected(0),
      rejected(1),
      { outcome: 'created' },
      { outcome: 'created', warnings: [{ code: 'repeated_key' }] },
    ])
    await expectExactCounts()
  })
})

describe('releases', () => {
  test('a request releases 1000 records, and the rest after its response in steps', async () => {
    const acme = await partner('forex', hold)
    await prepareHeld(acme.account, 3000, 3000)
    const released = await call(acme, 'customers', { ...ada, customer_id: 'h-0' })
    expect(await json(released.response)).toMatchObject({
      releasing: true,
      summary: { created: 1 },
    })
    expect(released.trips).toBe(1)
    await expectReleased(acme)
    expect((await json(acme.get('transactions'))).meta.total).toBe(3000)
    await expectExactCounts()
    const again = await json(acme.post('customers', { ...ada, customer_id: 'h-0' }))
    expect(again).not.toHaveProperty('releasing')
  })

  test('records of customers who are still unknown stay held', async () => {
    HELD_LIMITS.release = 2
    const acme = await partner('forex', hold)
    await acme.post(
      'transactions',
      many(12, (i) => waiting(i, `c-${i % 4}`)),
    )
    const bulk = [
      { ...ada, customer_id: 'c-0' },
      { ...ada, customer_id: 'c-2' },
    ]
    expect((await json(acme.post('customers', bulk))).releasing).toBe(true)
    await minutely()
    const { data } = await json(acme.get('held'))
    expect(
      new Set(data.map(({ record }: { record: typeof deposit }) => record.customer_id)),
    ).toEqual(new Set(['c-1', 'c-3']))
    await expectExactCounts()
  })

  test('a record that waits for its release stays held if it is sent again', async () => {
    Object.assign(HELD_LIMITS, { release: 1, releaseMs: -1 })
    const acme = await partner('forex', hold)
    const sent = many(4, (i) => waiting(i))
    await acme.post('transactions', sent)
    await acme.post('customers', { ...ada, customer_id: 'late' })

    const held = await json(acme.get('held'))
    expect(held.meta.total).toBe(3)
    const changed = sent.map((record) => ({ ...record, status: 'changed' }))
    for (const records of [sent, changed]) {
      const {
        delivery_id: _,
        delivery_url: _u,
        ...foreseen
      } = await json(acme.post('transactions?dry_run=true', records))
      const {
        delivery_id: __,
        delivery_url: __u,
        ...answer
      } = await json(acme.post('transactions', records))
      expect(answer.summary).toMatchObject({ held: 3, created: 0 })
      expect(foreseen).toEqual({ ...answer, dry_run: true })
      await expectExactCounts()
    }
    // A record that moves to another day is released by that, and a new one is not held.
    const moved = { ...waiting(3), transaction_date: '2026-10-20T00:00:00Z' }
    expect((await json(acme.post('transactions', [moved, waiting(9)]))).summary).toMatchObject({
      updated: 1,
      created: 1,
      held: 0,
    })
    expect((await json(acme.get('held'))).meta.total).toBe(2)
    await expectExactCounts()
    await minutely()
    expect((await json(acme.get('held'))).meta.total).toBe(0)
    expect((await json(acme.get('transactions?from=2026-10-01'))).data).toHaveLength(5)
    await expectExactCounts()
  })

  test('a lost answer does not hide that records are still to be released', async () => {
    Object.assign(HELD_LIMITS, { release: 2, releaseMs: -1 })
    const acme = await partner('forex', hold)
    await acme.post(
      'transactions',
      many(5, (i) => waiting(i)),
    )
    const world = faulty([{ message: CURABLE[0]!, after: true }])
    const answer = await json(
      fetchWith(
        world.env,
        new Request('https://api.example/api/v1/forex/customers', {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${acme.access_token}`,
            'Content-Type': 'application/json',
          },
          body: JSON.stringify({ ...ada, customer_id: 'late' }),
        }),
      ),
    )
    expect(answer).toMatchObject({ releasing: true, summary: { created: 1 } })
    expect((await json(acme.get('held'))).meta.total).toBe(3)
    await expectExactCounts()
  })
})

test('kept counts equal the records after any sequence of requests', async () => {
  Object.assign(HELD_LIMITS, { account: 12, release: 2, releaseMs: -1 })
  let state = 7
  const random = (n: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 65_536) % n
  }
  const acme = await partner('forex', hold)
  const casino = await brand()
  const lenient = { Prefer: 'handling=lenient' }
  const seen = { held: 0, rejected: 0, releasing: 0, updated: 0, created: 0 }
  for (let step = 0; step < 90; step++) {
    const records = many(1 + random(6), () => ({
      ...deposit,
      transaction_id: `t-${random(20)}`,
      customer_id: `c-${random(8)}`,
      transaction_date: `2026-10-0${1 + random(3)}T00:00:00Z`,
      status: `s-${random(2)}`,
    }))
    const events = records.map(({ transaction_id, customer_id, transaction_date, status }) => ({
      ...deposited,
      eventid: transaction_id,
      customerid: customer_id,
      createtime: `${transaction_date.slice(0, 10)} 10:00`,
      note: status,
    }))
    const customer_id = `c-${random(8)}`
    const answer = await json(
      [
        () => acme.post('transactions', records, lenient),
        () => casino.post('activities', events, lenient),
        () =>
          acme.post('trading-activity', { ...traded, customer_id, instrument: `i-${random(5)}` }),
        () => casino.post('activities', events, lenient),
        () => (step < 25 ? acme.get('held') : acme.post('customers', { ...ada, customer_id })),
        () =>
          step < 25 ? acme.get('held') : casino.post('customers', { customerId: customer_id }),
      ][random(6)]!(),
    )
    for (const name of ['held', 'rejected', 'created', 'updated'] as const) {
      seen[name] += answer.summary?.[name] ?? 0
    }
    if (answer.releasing) seen.releasing += 1
    if (random(15) === 0) await minutely()
    await expectExactCounts()
    for (const { get } of [acme, casino]) {
      const held = await json(get('held?per_page=500'))
      expect(held.data).toHaveLength(held.meta.total)
      expect(held.meta.total).toBeLessThanOrEqual(12)
    }
  }
  await minutely()
  const stuck = await env.DB.prepare(
    `select count(*) as n from transactions t join customers c
       on c.account = t.account and c.customer_id = t.customer_id where t.held = 1`,
  ).first('n')
  expect(stuck).toBe(0)
  for (const [event, times] of Object.entries(seen))
    expect([event, times > 3]).toEqual([event, true])
})

test.each([false, true])(
  'a fault in any step, after its commit: %s, leaves releases and resets exact',
  async (after) => {
    Object.assign(HELD_LIMITS, { release: 3, releaseMs: -1 })
    for (let nth = 0; nth < 5; nth++) {
      const acme = await partner('forex', { account: `a-${nth}-${after}`, ...hold })
      const records = many(13, (i) => waiting(i, i % 5 === 0 ? 'nobody' : 'late'))
      await acme.post('transactions', records)
      await acme.post('customers', { ...ada, customer_id: 'late' })
      await finishReleases(failingBatch(nth, after), acme.account, Date.now() + 10_000)
      expect((await json(acme.get('held'))).meta.total).toBe(3)
      expect((await json(acme.get('transactions'))).meta.total).toBe(10)
      await expectExactCounts()
    }
    RESET_LIMITS.resetMs = -1
    for (let nth = 0; nth < 3; nth++) {
      const acme = await partner('forex', { account: `r-${nth}-${after}`, ...hold })
      await prepareHeld(acme.account, 2200, 5)
      expect((await askAdmin(`accounts/${acme.account}/reset`, 'POST')).status).toBe(202)
      const db = failingBatch(nth, after)
      expect(await finishReset(db, acme.account, Date.now() + 10_000)).toBe(true)
      await expectExactCounts()
    }
    expect(await env.DB.prepare('select 1 from resets').first()).toBeNull()
  },
)

describe('a reset', () => {
  const reset = (account: string) => askAdmin(`accounts/${account}/reset`, 'POST')

  test('deletes in steps, refuses deliveries until it ends, and keeps the totals right', async () => {
    RESET_LIMITS.resetMs = -1
    const acme = await partner('forex', hold)
    await prepareHeld(acme.account, 2500, 5)
    await acme.post(
      'customers',
      many(1000, (i) => ({ ...ada, customer_id: `k-${i}` })),
    )
    const begun = await reset(acme.account)
    expect([begun.status, await json(begun)]).toEqual([202, { resetting: true }])
    expect((await json(acme.get('held'))).meta.total).toBe(1500)
    await expectExactCounts()

    for (const path of ['customers', 'customers?dry_run=true']) {
      const refused = await acme.post(path, ada)
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '60'])
      expect(await json(refused)).toMatchObject({
        code: 'unavailable',
        detail:
          'The account accepts no deliveries now: its records are being deleted, or its `book_zone` has just changed. Nothing was stored. Repeat the request after 60 seconds.',
      })
    }
    await finishResets(env.DB, Date.now() - 1)
    expect((await json(acme.get('held'))).meta.total).toBe(1500)
    const { db, most } = metered()
    await finishResets(db, Date.now() + 10_000)
    expect(most().written).toBeLessThanOrEqual(3 * 1000)
    expect(most().read).toBeLessThanOrEqual(9 * 1000)
    for (const table of ['transactions', 'customers', 'totals', 'deliveries', 'resets']) {
      expect(await env.DB.prepare(`select 1 from ${table}`).first()).toBeNull()
    }
    expect((await acme.post('customers', ada)).status).toBe(201)
    // A run that began before the reset ended deletes nothing that came later.
    expect(await finishReset(env.DB, acme.account, Date.now() + 1000)).toBe(true)
    expect((await json(acme.get('customers'))).meta.total).toBe(1)
    await expectExactCounts()
  })
})
