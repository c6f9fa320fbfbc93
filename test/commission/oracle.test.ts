import { describe, expect, test } from 'vitest'
import { addMonths, firstDay, lastDay, nextPeriod, periodOf } from './oracle/calendar.ts'
import { matchesGlob } from './oracle/conditions.ts'
import { evaluate } from './oracle/evaluate.ts'
import { fixed, parse, plain, round } from './oracle/rational.ts'
import type { World, WorldCustomer, WorldTransaction } from './world.ts'
import { periodsOf, randomWorld } from './worlds.ts'

// Pins the oracle by examples that are calculated by hand: those of the contract and of the trade.

const at = (day: string, time = '12:00') => Date.parse(`${day}T${time}:00Z`)

const customer = (
  customer_id: string,
  signup: string,
  more: Partial<WorldCustomer> = {},
): WorldCustomer => ({
  customer_id,
  signup: at(signup),
  affiliates: [{ from: null, affiliate_id: 'A' }],
  fields: [{ from: null, values: {} }],
  ...more,
})

let transactionCount = 0
const transaction = (
  customer_id: string,
  day: string,
  amount_currency: number,
  more: Partial<WorldTransaction> = {},
): WorldTransaction => {
  transactionCount += 1
  return {
    transaction_id: `t${transactionCount}`,
    customer_id,
    transaction_type: 'deposit',
    amount_currency,
    currency: 'EUR',
    at: at(day, '13:00'),
    status: 'approved',
    ...more,
  }
}

const terms = (rules: unknown[], more = {}) => ({
  name: 'Standard',
  currency: 'EUR',
  period: 'month',
  effective_from: '2026-01-01',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '0',
  hold_days: 14,
  rules,
  ...more,
})

const plan = (rules: unknown[], more = {}, name = 'P'): World['plans'][number] => ({
  plan: name,
  versions: [{ version: 1, terms: terms(rules, more) }],
})

const world = (more: Partial<World>): World => ({
  vertical: 'forex',
  affiliates: [{ affiliate_id: 'A', parents: [{ from: null, parent: null }] }],
  status_map: {},
  customers: [customer('c1', '2026-01-01')],
  transactions: [],
  activity: [],
  events: [],
  rates: [],
  plans: [],
  assignments: [{ affiliate_id: '*', plan: 'P', from: '2026-01-01', customers: 'all' }],
  ...more,
})

const MONTHS = ['2026-01', '2026-02', '2026-03']

/** Returns the statement of an affiliate in a period. */
function statement(of: World, period: string, affiliate = 'A', name = 'P') {
  const [outcome] = evaluate(of, [period])
  const found = outcome!.statements.find(
    (one) => one.affiliate_id === affiliate && one.plan === name,
  )
  expect(found, `${affiliate} ${name} ${period}`).toBeDefined()
  return found!
}

/** Returns the amounts of the lines of a period by rule. */
const amounts = (of: World, period: string, affiliate = 'A', name = 'P') =>
  statement(of, period, affiliate, name).lines.map((line) => `${line.rule} ${line.amount}`)

/** Returns the state of each transaction by id. */
const states = (of: World, period: string) =>
  Object.fromEntries(
    evaluate(of, [period])[0]!
      .facts.filter((one) => one.resource === 'transactions')
      .map(({ id, state }) => [id, state]),
  )

const share = (more = {}) => ({
  id: 'share',
  kind: 'share',
  percent: '50',
  base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
  ...more,
})

describe('numbers and days', () => {
  test.each([
    ['0.025', 2, '0.02'],
    ['0.035', 2, '0.04'],
    ['-0.025', 2, '-0.02'],
    ['-0.035', 2, '-0.04'],
    ['-0.0251', 2, '-0.03'],
    ['2.5', 0, '2'],
    ['1e-7', 7, '0.0000001'],
  ])('%s rounds half to even to %i places', (text, places, rounded) => {
    expect(fixed(round(parse(text), places), places)).toBe(rounded)
  })

  test('a plain decimal has no trailing zeros', () => {
    expect(['5.00', '-0.50', '0', '120'].map((one) => plain(parse(one)))).toEqual([
      '5',
      '-0.5',
      '0',
      '120',
    ])
  })

  test('months end on their last day, and weeks follow ISO 8601', () => {
    expect(addMonths('2027-11-30', 3)).toBe('2028-02-29')
    expect(addMonths('2026-01-31', 1)).toBe('2026-02-28')
    expect(periodOf('week', '2027-01-03')).toBe('2026-W53')
    expect(periodOf('week', '2024-12-30')).toBe('2025-W01')
    expect([firstDay('2026-W53'), lastDay('2026-W53')]).toEqual(['2026-12-28', '2027-01-03'])
    expect([nextPeriod('2026-W53'), nextPeriod('2026-12')]).toEqual(['2027-W01', '2027-01'])
  })

  test('a glob matches the whole symbol', () => {
    const matches = (glob: string, symbol: string) => matchesGlob([...glob], [...symbol])
    expect(matches('eurusd*', 'eurusd.m')).toBe(true)
    expect(matches('eurus?', 'eurusd')).toBe(true)
    expect(matches('eurusd', 'eurusd.m')).toBe(false)
    expect(matches('*usd', 'eurusd.m')).toBe(false)
  })
})

describe('exchange rates', () => {
  const one = (amount: number, more = {}) =>
    transaction('c1', '2026-01-05', amount, { currency: 'USD', ...more })
  const of = (transactions: WorldTransaction[], rates: World['rates'], more = {}) =>
    world({
      customers: [customer('c1', '2026-01-01'), customer('c2', '2026-01-01')],
      transactions,
      rates,
      plans: [plan([share({ percent: '100' })], more)],
    })
  const rate = (day: string, value: string, currency = 'USD') => ({ day, currency, rate: value })
  const published = [rate('2026-01-05', '2'), rate('2026-01-30', '2')]

  test('a converted amount rounds half to even to 12 places, once for each customer and day', () => {
    const base = (transactions: WorldTransaction[]) =>
      statement(of(transactions, published), '2026-01').lines[0]!.base
    // At 2 dollars for a euro, 1e-12 is 0.5e-12: 0. 3e-12 is 1.5e-12: 2e-12. Two of 1e-12: 1e-12.
    expect(base([one(1e-12)])).toBe('0')
    expect(base([one(3e-12)])).toBe('0.000000000002')
    expect(base([one(1e-12), one(1e-12)])).toBe('0.000000000001')
    expect(base([one(1e-12), one(1e-12, { customer_id: 'c2' })])).toBe('0')
  })

  test('a rate applies for 7 days, and nothing is missing before it is published', () => {
    const state = (rates: World['rates']) => Object.values(states(of([one(10)], rates), '2026-01'))
    expect(state([rate('2025-12-29', '2'), rate('2026-01-05', '1', 'JPY')])).toEqual(['counted'])
    expect(state([rate('2025-12-28', '2'), rate('2026-01-06', '1', 'JPY')])).toEqual(['fx_missing'])
    expect(state([rate('2026-01-02', '2')])).toEqual(['fx_pending'])
    expect(statement(of([one(10), one(2.5)], []), '2026-01')).toMatchObject({
      lines: [],
      holds: [{ rule: 'share', reason: 'fx_pending', currency: 'USD', count: 2, sum: '12.5' }],
    })
  })

  test('`amount_usd` replaces the amount of its own fact', () => {
    const facts = [one(1000, { currency: 'JPY', amount_usd: 9 }), one(5)]
    // To dollars: 9 + 5. To euros, where the yen has no rate: 9 / 2 + 5 / 2.
    expect(statement(of(facts, published, { currency: 'USD' }), '2026-01').total).toBe('14.00')
    expect(statement(of(facts, published), '2026-01').total).toBe('7.00')
  })

  test('a line has the minor unit of its currency', () => {
    const rates = [
      rate('2026-01-05', '1'),
      rate('2026-01-05', '160.5', 'JPY'),
      rate('2026-01-31', '1'),
    ]
    // 1.005 × 160.5 = 161.3025 yen.
    expect(statement(of([one(1.005)], rates, { currency: 'JPY' }), '2026-01').total).toBe('161')
    const dinars = [rate('2026-01-05', '1'), rate('2026-01-05', '0.3305', 'KWD')]
    // 1 × 0.3305 = 0.3305 dinars: half to even.
    expect(statement(of([one(1)], dinars, { currency: 'KWD' }), '2026-01').total).toBe('0.330')
  })
})

describe('statements', () => {
  test('less than the minimum payout stays open', () => {
    const of = world({
      plans: [plan([share()], { minimum_payout: '50.00' })],
      transactions: [60, 30, 20].map((amount, at) =>
        transaction('c1', `2026-0${at + 1}-10`, amount),
      ),
    })
    const found = evaluate(of, MONTHS).map((one) => one.statements[0]!)
    expect(found.map((one) => [one.opening, one.total, one.payable, one.closing])).toEqual([
      ['0.00', '30.00', '0.00', '30.00'],
      ['30.00', '15.00', '0.00', '45.00'],
      ['45.00', '10.00', '55.00', '0.00'],
    ])
  })

  test.each([
    ['carry', { closing: '-50.00', dropped: '0.00' }],
    ['zero', { closing: '0.00', dropped: '-50.00' }],
  ])('a negative balance under `%s`', (negative, expected) => {
    const of = world({
      plans: [plan([share()], { negative })],
      transactions: [transaction('c1', '2026-01-10', 100, { transaction_type: 'withdrawal' })],
    })
    expect(statement(of, '2026-01')).toMatchObject({
      total: '-50.00',
      payable: '0.00',
      ...expected,
    })
  })

  const changing = (currency: string, period: string, from: string) =>
    world({
      transactions: [transaction('c1', '2026-01-10', 60)],
      plans: [
        plan([share()], { minimum_payout: '50.00' }),
        plan([share()], { minimum_payout: '50.00', currency, period }, 'Q'),
      ],
      assignments: [
        { affiliate_id: 'A', plan: 'P', from: '2025-01-01', customers: 'new' },
        { affiliate_id: 'A', plan: 'Q', from, customers: 'all' },
      ],
    })

  test('a closing moves to the next opening of the plan that takes over', () => {
    const of = changing('EUR', 'month', '2026-02-01')
    expect(statement(of, '2026-01')).toMatchObject({
      ...{ plan: 'P', total: '30.00', payable: '0.00', closing: '0.00' },
      transferred: { to: 'Q', period: '2026-02', amount: '30.00' },
    })
    expect(statement(of, '2026-02', 'A', 'Q')).toMatchObject({
      ...{ opening: '30.00', total: '0.00', closing: '30.00', transferred: null },
      received: [{ from: 'P', period: '2026-01', amount: '30.00' }],
    })
  })

  test('a closing moves to the first week that begins after the month', () => {
    const of = changing('EUR', 'week', '2026-01-20')
    // 2026-02-01 is a Sunday.
    expect(statement(of, '2026-01').transferred?.period).toBe('2026-W06')
    expect(statement(of, '2026-W06', 'A', 'Q')).toMatchObject({ opening: '30.00' })
  })

  test('an amount below the minimum is paid if the next plan has another currency', () => {
    expect(statement(changing('USD', 'month', '2026-02-01'), '2026-01')).toMatchObject({
      ...{ payable: '30.00', closing: '0.00', transferred: null },
    })
  })

  test('an assignment for new customers leaves the others under their plan', () => {
    const of = world({
      customers: [customer('old', '2026-01-01'), customer('new', '2026-02-02')],
      transactions: [transaction('old', '2026-02-10', 10), transaction('new', '2026-02-10', 10)],
      plans: [plan([share()]), plan([share({ percent: '10' })], {}, 'Q')],
      assignments: [
        { affiliate_id: '*', plan: 'P', from: '2025-01-01', customers: 'new' },
        { affiliate_id: 'A', plan: 'Q', from: '2026-02-01', customers: 'new' },
      ],
    })
    expect(amounts(of, '2026-02')).toEqual(['share 5.00'])
    expect(amounts(of, '2026-02', 'A', 'Q')).toEqual(['share 1.00'])
    const all = {
      ...of,
      assignments: of.assignments.map((one) => ({ ...one, customers: 'all' as const })),
    }
    expect(amounts(all, '2026-02', 'A', 'Q')).toEqual(['share 2.00'])
  })

  test('under `signup` a customer keeps the version of their signup', () => {
    const versions = (of: string) => [
      { version: 1, terms: terms([share()], { terms: of }) },
      {
        version: 2,
        terms: terms([share({ percent: '10' })], { terms: of, effective_from: '2026-02-01' }),
      },
    ]
    const of = (name: string) =>
      amounts(
        world({
          transactions: [transaction('c1', '2026-02-10', 10)],
          plans: [{ plan: 'P', versions: versions(name) }],
        }),
        '2026-02',
      )
    expect(of('signup')).toEqual(['share 5.00'])
    expect(of('current')).toEqual(['share 1.00'])
  })
})

test('each fact has the first reason that applies', () => {
  const deposit = (id: string, customer_id: string, more = {}) =>
    transaction(customer_id, '2026-01-10', 10, { transaction_id: id, ...more })
  const of = world({
    status_map: { ok: 'approved', approved: 'pending' },
    customers: [
      customer('c1', '2026-01-01'),
      customer('c2', '2026-01-01', { affiliates: [{ from: null, affiliate_id: null }] }),
      customer('c3', '2026-01-01', { affiliates: [{ from: null, affiliate_id: 'X' }] }),
      customer('c4', '2026-01-01', { refused: { from: '2026-01-10' } }),
      customer('c5', '2025-06-01'),
    ],
    transactions: [
      deposit('counted', 'c1', { status: 'ok' }),
      deposit('organic', 'c2', { status: 'odd' }),
      deposit('unknown', 'c3'),
      deposit('refused', 'c4', { status: 'ok' }),
      deposit('pending', 'c1'),
      deposit('unmapped', 'c1', { status: 'odd' }),
      deposit('declined', 'c1', { status: 'declined' }),
      deposit('no_rule', 'c1', { status: 'ok', transaction_type: 'credit' }),
      deposit('excluded', 'c1', { status: 'ok', transaction_subtype: 'card' }),
      deposit('expired', 'c5', { status: 'ok' }),
      deposit('missing', 'c1', { status: 'ok', currency: 'USD' }),
    ],
    rates: [{ day: '2026-02-01', currency: 'USD', rate: '1' }],
    plans: [plan([share({ months: 3, when: { not_subtypes: ['card'] } })])],
  })
  expect(states(of, '2026-01')).toEqual({
    counted: 'counted',
    organic: 'organic',
    unknown: 'unknown_affiliate',
    refused: 'refused',
    pending: 'pending',
    unmapped: 'unmapped',
    declined: 'declined',
    no_rule: 'no_rule',
    excluded: 'excluded',
    expired: 'expired',
    missing: 'fx_missing',
  })
})

describe('random worlds', () => {
  test('a seed always makes the same world', () => {
    expect(randomWorld(7)).toEqual(randomWorld(7))
  })

  test('statements add up, and every fact has one state', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const of = randomWorld(seed)
      const periods = periodsOf(of)
      const outcomes = evaluate(of, periods)
      const months = outcomes.filter(({ period }) => !period.includes('W'))
      const count =
        of.customers.length + of.transactions.length + of.activity.length + of.events.length
      expect(months.flatMap(({ facts }) => facts).length, `seed ${seed}`).toBe(count)
      for (const one of outcomes.flatMap(({ statements }) => statements)) {
        const { lines, total, opening, payable, closing, dropped, transferred } = one
        const cents = (text: string) => BigInt(text.replace('.', ''))
        const all = lines.reduce((so, line) => so + cents(line.amount), 0n)
        expect(cents(total), `seed ${seed}`).toBe(all)
        const moved = cents(transferred?.amount ?? '0')
        expect(cents(opening) + all).toBe(cents(payable) + cents(closing) + cents(dropped) + moved)
      }
    }
  })

  test('a period comes to the same, whichever other periods are asked for', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const of = randomWorld(seed)
      const periods = periodsOf(of)
      const [first] = periods
      expect(evaluate(of, [first!])[0]).toEqual(evaluate(of, periods)[0])
    }
  })
})
