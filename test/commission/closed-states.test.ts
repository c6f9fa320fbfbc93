import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/plans/types.ts'
import { forgetChanges, watchMarks } from '../marks.ts'
import { ada, askAdmin, deposit } from '../partner.ts'
import { bothWays, CPA, OPEN, planned, randomBrand, randomPartner } from './random-firms.ts'
import { randomSource } from './worlds.ts'

// `npm run worlds -- model` tries more worlds.

watchMarks()

const WORLDS = env.MODEL_RUNS || 1
/** From the seed of `npm test` on, the first worlds carry everything over. */
const FIRST_SEED = env.SEED * 1000 + 7
const CHANGES = env.MODEL_RUNS ? 60 : 16

test.each([
  { kind: 'partner', open: randomPartner, carried: 'carries, closing, deficits, fences, measures' },
  { kind: 'brand', open: randomBrand, carried: 'closing' },
])(
  '§14 what closed periods leave of a random $kind, with $carried, comes to the statements of all records',
  async ({ kind, open, carried }) => {
    const missing = new Set(carried.split(', '))
    let overtaken = 0
    const isLacking = () => missing.size > 0 || overtaken < 2
    for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS || isLacking(); seed++) {
      const from = randomSource(seed)
      const firm = await open(`${kind}-${seed}`, from)
      for (let n = 0; n < 24; n++) await firm.change()
      for (let n = 0; n < 4; n++) await firm.close()
      let before = Number.NEGATIVE_INFINITY
      for (let n = 0; n < CHANGES; n++) {
        if (!from.oneIn(4)) await firm.change()
        if (from.oneIn(4)) await firm.close()
        if (from.oneIn(2)) await firm.run(from.oneIn(4) ? '2030-09' : OPEN)
        const found = await bothWays(firm.account, from.pick([OPEN, OPEN, '2030-11']))
        expect(found.stored, `seed ${seed}, change ${n}`).toEqual(found.records)
        for (const one of found.carried) missing.delete(one)
        // What was left no longer holds.
        if (found.unread < before) overtaken += 1
        before = found.unread
      }
    }
  },
)

test('a late record has only those affiliates begin earlier whose statements depend on its customer', async () => {
  const firm = await randomPartner('late', randomSource(1))
  const customers = ['a-1', 'a-2'].map((affiliate_id) => ({
    ...{ ...ada, customer_id: `of-${affiliate_id}`, affiliate_id },
    signup_date: '2030-04-03T08:00:00Z',
  }))
  await firm.post('customers', customers)
  const pay = (month: string) =>
    firm.post(
      'transactions',
      customers.map(({ customer_id }) => ({
        ...{ ...deposit, transaction_id: `${customer_id} ${month}`, customer_id },
        ...{ currency: 'EUR', transaction_date: `2030-${month}-04T08:00:00Z` },
      })),
    )
  await pay('04')
  for (let n = 0; n < 4; n++) await firm.close()
  await firm.run(OPEN)
  const unreadOf = async (affiliates: string[]) => (await bothWays('late', OPEN, affiliates)).unread
  // a-0 has an override over a-1.
  const [above, apart] = [['a-0', 'a-1'], ['a-2']]
  const before = await unreadOf(above)
  expect(await unreadOf(apart)).toBe(before)
  await firm.post('transactions', [
    {
      ...{ ...deposit, transaction_id: 'late', customer_id: 'of-a-2', status: 'pending' },
      transaction_date: '2030-06-04T08:00:00Z',
    },
  ])
  expect(await unreadOf(above)).toBe(before)
  expect(await unreadOf(apart)).toBeLessThan(before)
  await firm.post('transactions', [
    {
      ...{ ...deposit, transaction_id: 'later', customer_id: 'of-a-1', status: 'pending' },
      transaction_date: '2030-07-04T08:00:00Z',
    },
  ])
  expect(await unreadOf(['a-0'])).toBeLessThan(before)
  await firm.run(OPEN)
  expect(await unreadOf([...above, ...apart])).toBe(before)
})

type Firm = Awaited<ReturnType<typeof planned>>

/** Has eve, a customer of a-1, pay. */
const payBy = (firm: Pick<Firm, 'post'>, day: string, more: object) =>
  firm.post('transactions', [
    {
      ...{ ...deposit, transaction_id: day, customer_id: 'eve', currency: 'EUR' },
      ...{ transaction_date: `2030-${day}T08:00:00Z`, ...more },
    },
  ])

/** Has eve sign up and pay in May, and closes the months up to July. */
async function closedMonths(firm: Firm, paid: object) {
  const signup_date = '2030-04-03T08:00:00Z'
  await firm.post('customers', [{ ...ada, customer_id: 'eve', affiliate_id: 'a-1', signup_date }])
  await payBy(firm, '05-04', paid)
  for (let n = 0; n < 4; n++) await firm.close()
  await firm.run(OPEN)
}

test.each([
  ['refusal', 'PUT', 'customers/eve/refusal', { reason: 'Fraud', from: '2030-05-01' }],
  [
    'affiliate',
    'PUT',
    'customers/eve/affiliations',
    { reason: 'A mistake', affiliations: [{ from: null, affiliate_id: 'a-2' }] },
  ],
  ['parent', 'PUT', 'affiliates', [{ affiliate_id: 'a-1', parent: 'a-2', from: '2030-05-01' }]],
])('§13 another %s corrects what closed periods left', async (account, method, path, body) => {
  await closedMonths(await randomPartner(account, randomSource(1)), {})
  const before = await bothWays(account)
  expect(before.unread).toBeGreaterThan(0)
  expect((await askAdmin(`accounts/${account}/${path}`, method, body)).status).toBe(200)
  const { stored, records } = await bothWays(account)
  expect(records).not.toEqual(before.records)
  expect(stored).toEqual(records)
})

test('§13 what a setting corrects, and is approved, is corrected back with the setting', async () => {
  const firm = await randomPartner('back', randomSource(1))
  await closedMonths(firm, { status: 'settled' })
  const mapTo = (map: object) => askAdmin('accounts/back/status-map', 'PUT', map)
  await mapTo({ settled: 'approved' })
  await firm.close()
  await mapTo({})
  await firm.run(OPEN)
  const { stored, records } = await bothWays('back')
  expect(records.join()).toContain('"period":"2030-05"')
  expect(stored).toEqual(records)
})

const affiliations = (account: string, ...parts: object[]) =>
  askAdmin(`accounts/${account}/customers/eve/affiliations`, 'PUT', {
    reason: 'A mistake',
    affiliations: parts,
  })

test.each([
  ['late', (firm) => payBy(firm, '06-04', { amount_currency: 25 })],
  ['last', (firm) => payBy(firm, '07-31', { amount_currency: 25 })],
  ['moved', () => affiliations('moved', { from: null, affiliate_id: 'a-1' })],
] as [string, (firm: Firm) => Promise<Response>][])(
  '§12 by what counts of closed periods a %s customer qualifies later',
  async (account, change) => {
    const qualify = [{ sum: [{ transactions: ['deposit'] }], min: '60' }]
    const firm = await planned(account, [{ ...CPA, qualify } as Rule], {}, 'a-1')
    await closedMonths(firm, { amount_currency: 25 })
    if (account === 'moved') {
      await payBy(firm, '05-05', { amount_currency: 25 })
      const [first, second] = [{ from: null }, { from: '2030-06-01' }]
      await affiliations(
        account,
        { ...first, affiliate_id: 'a-2' },
        { ...second, affiliate_id: 'a-1' },
      )
    }
    // What is kept of the customer is then older than what was left.
    for (let n = 0; n < 2; n++) await firm.run(OPEN)
    await change(firm)
    await firm.run(OPEN)
    await payBy(firm, '12-03', { amount_currency: 15 })
    const { stored, records, unread } = await bothWays(account)
    expect(unread).toBeGreaterThan(0)
    expect(records.join()).toContain('"kind":"once"')
    expect(stored).toEqual(records)
  },
)

test('no record of closed periods is read once runs have kept what open ones need: without them, no draft changes', async () => {
  let begun = 0
  for (let seed = env.SEED * 1000; begun < (env.MODEL_RUNS || 1); seed++) {
    const from = randomSource(seed)
    const account = `kept-${seed}`
    const firm = await randomPartner(account, from)
    for (let n = 0; n < 40; n++) await firm.change()
    const ids = Array.from({ length: 10 }, (_, i) => `c-${i}`)
    const pay = (date: string) =>
      firm.post(
        'transactions',
        ids.map((customer_id) => ({
          ...{ ...deposit, transaction_id: `${customer_id} ${date}`, customer_id, currency: 'EUR' },
          ...{ amount_currency: 90, transaction_date: `${date}T08:00:00Z` },
        })),
      )
    const signup_date = '2030-09-06T08:00:00Z'
    await firm.post(
      'customers',
      ids.map((customer_id) => ({ ...ada, customer_id, affiliate_id: 'a-1', signup_date })),
    )
    await pay('2030-09-08')
    for (let n = 0; n < 6; n++) await firm.close()
    // Who has qualified does not again.
    await pay('2030-12-03')
    await firm.run(OPEN)
    await firm.run(OPEN)
    const { stored, records, unread } = await bothWays(account)
    expect(stored, `seed ${seed}`).toEqual(records)
    if (unread < 0) continue
    begun += 1
    await env.DB.batch(
      ['transactions', 'events', 'activity'].map((table) =>
        env.DB.prepare(
          `delete from ${table} where account = ? and held = 0 and ${table === 'activity' ? 'date' : 'day'} <= ?`,
        ).bind(account, unread),
      ),
    )
    await forgetChanges()
    expect((await bothWays(account)).stored, `seed ${seed}`).toEqual(records)
  }
})
