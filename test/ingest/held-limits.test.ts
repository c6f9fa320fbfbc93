import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { RESET_LIMITS, resetStep } from '../../src/accounts/db/reset.ts'
import { HELD_LIMITS } from '../../src/ingest/db/storage.ts'
import { makeSteps } from '../../src/platform/db/steps.ts'
import { brand, deposited, eve } from '../brand.ts'
import { restoring } from '../limits.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner, traded } from '../partner.ts'
import { CURABLE, faulty } from '../platform/faulty.ts'

// What is held costs no more than a page, a step or a limit allows, however much of it there is.

const hold = { unknown_customer: 'hold' } as const
restoring(HELD_LIMITS)
restoring(RESET_LIMITS)

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

test('kept counts equal the records after any sequence of requests', async () => {
  HELD_LIMITS.account = 12
  let state = 7
  const random = (n: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 65_536) % n
  }
  const acme = await partner('forex', hold)
  const casino = await brand()
  const lenient = { Prefer: 'handling=lenient' }
  const seen = { held: 0, rejected: 0, updated: 0, created: 0 }
  for (let step = 0; step < 40; step++) {
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
        () => (step < 12 ? acme.get('held') : acme.post('customers', { ...ada, customer_id })),
        () =>
          step < 12 ? acme.get('held') : casino.post('customers', { customerId: customer_id }),
      ][random(6)]!(),
    )
    for (const name of ['held', 'rejected', 'created', 'updated'] as const) {
      seen[name] += answer.summary?.[name] ?? 0
    }
    await expectExactCounts()
    for (const { get } of [acme, casino]) {
      const held = await json(get('held?per_page=500'))
      expect(held.data).toHaveLength(held.meta.total)
      expect(held.meta.total).toBeLessThanOrEqual(12)
    }
  }
  const stuck = await env.DB.prepare(
    `select count(*) as n from transactions t join customers c
       on c.account = t.account and c.customer_id = t.customer_id where t.held = 1`,
  ).first('n')
  expect(stuck).toBe(0)
  for (const [event, times] of Object.entries(seen))
    expect([event, times > 0]).toEqual([event, true])
})

test('all records that wait for a customer are released at once', async () => {
  const acme = await partner('forex', hold)
  await prepareHeld(acme.account, 5000, 5000)
  await acme.post('customers', { ...ada, customer_id: 'h-0' })
  expect((await json(acme.get('held'))).meta.total).toBe(0)
  await expectExactCounts()
})

test.each([false, true])(
  'a fault in any step, after its commit: %s, leaves resets exact',
  async (after) => {
    RESET_LIMITS.resetMs = -1
    for (const nth of [0, 2]) {
      const acme = await partner('forex', { account: `r-${nth}-${after}`, ...hold })
      await prepareHeld(acme.account, 2200, 5)
      expect((await askAdmin(`accounts/${acme.account}/reset`, 'POST')).status).toBe(202)
      const faults = [...Array(nth).fill(null), { message: CURABLE[0], after }]
      const { DB } = faulty(faults).env
      expect(await makeSteps([resetStep(DB, acme.account)], () => true)).toBe(true)
      await expectExactCounts()
    }
    expect(await env.DB.prepare('select 1 from resets').first()).toBeNull()
  },
)
