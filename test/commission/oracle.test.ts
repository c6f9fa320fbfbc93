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

const lots = (customer_id: string, date: string, lots_traded: number, more = {}) => ({
  date,
  customer_id,
  instrument: 'EURUSD',
  currency: 'EUR',
  lots_traded,
  ...more,
})

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

const cpa = (more = {}) => ({
  id: 'cpa',
  kind: 'once',
  trigger: { transactions: ['deposit'] },
  amount: '200.00',
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

describe('share', () => {
  test('a negative amount is carried and set against later ones', () => {
    // 50 % of −100 is −50: carried. 50 % of 60 is 30: −20 is left. 50 % of 90 is 45: 25 is paid.
    const of = world({
      plans: [plan([share({ negative: 'carry' })])],
      transactions: [
        transaction('c1', '2026-01-10', 100, { transaction_type: 'withdrawal' }),
        transaction('c1', '2026-02-10', 60),
        transaction('c1', '2026-03-10', 90),
      ],
    })
    const lines = evaluate(of, MONTHS).map((one) => one.statements[0]!.lines[0]!)
    expect(lines.map((one) => [one.carried_in, one.amount, one.carried_out])).toEqual([
      ['0.00', '0.00', '-50.00'],
      ['-50.00', '0.00', '-20.00'],
      ['-20.00', '25.00', '0.00'],
    ])
  })

  test('the sign is taken where `per` says', () => {
    const transactions = [
      transaction('c1', '2026-01-10', 100),
      transaction('c2', '2026-01-10', 40, { transaction_type: 'withdrawal' }),
    ]
    const customers = [customer('c1', '2026-01-01'), customer('c2', '2026-01-01')]
    const total = (more: object) =>
      statement(world({ customers, transactions, plans: [plan([share(more)])] }), '2026-01').total
    // 50 % of 100 − 40; 50 % of 100, and nothing of −40; 50 and −20.
    expect(total({ negative: 'zero' })).toBe('30.00')
    expect(total({ negative: 'zero', per: 'customer' })).toBe('50.00')
    expect(total({ negative: 'offset', per: 'customer' })).toBe('30.00')
  })

  test('parts of named terms and fixed terms enter the base', () => {
    // 1000 of spread, 100 of commission, 20 % of that commission back, 50 for the platform:
    // 1000 + 100 − 20 − 50 = 1030, of which 30 % are 309.
    const of = world({
      activity: [lots('c1', '2026-01-05', 1, { spread_cost: 1000, commission: 100 })],
      plans: [
        plan([
          share({
            percent: '30',
            base: [
              { activity: 'spread_cost' },
              { name: 'fees', activity: 'commission' },
              { of: ['fees'], times: '-0.2' },
              { fixed: '-50.00' },
            ],
          }),
        ]),
      ],
    })
    expect(statement(of, '2026-01').lines[0]).toMatchObject({
      base: '1030',
      rate: '30',
      amount: '309.00',
      fx: [{ currency: 'EUR', amount: '1080', converted: '1080' }],
    })
  })

  test('a fence holds the losses of a high roller against them alone', () => {
    // January: −9000, 500 and 1500 make B = −7000 ≤ −2000. The high roller's −9000 ≤ −7000 is fenced:
    // F = min(7000, 9000) = 7000, so B is 0. February: 3000 of theirs pay back 3000 of the 7000, and
    // 30 % of 4000 − 3000 are 300. March: 5000 pay back the last 4000, and 30 % of 1000 are 300.
    const of = world({
      customers: ['high', 's1', 's2'].map((id) => customer(id, '2026-01-01')),
      transactions: [
        transaction('high', '2026-01-10', 9000, { transaction_type: 'withdrawal' }),
        transaction('s1', '2026-01-11', 500),
        transaction('s2', '2026-01-12', 1500),
        transaction('high', '2026-02-10', 3000),
        transaction('s1', '2026-02-11', 1000),
        transaction('high', '2026-03-10', 5000),
      ],
      plans: [
        plan([
          share({
            percent: '30',
            negative: 'zero',
            fence: { customer: '-7000', affiliate: '-2000' },
          }),
        ]),
      ],
    })
    const lines = evaluate(of, MONTHS).map((one) => one.statements[0]!.lines[0]!)
    expect(lines.map(({ fence, base, amount }) => [fence, base, amount])).toEqual([
      [{ base: '-7000', paid_back: '0', fenced: '7000' }, '0', '0.00'],
      [{ base: '4000', paid_back: '3000', fenced: '0' }, '1000', '300.00'],
      [{ base: '5000', paid_back: '4000', fenced: '0' }, '1000', '300.00'],
    ])
  })

  test('a fence is shared in proportion, with the rest at the last customer id', () => {
    // B = −100 − 200 + 50 = −250; F = min(250, 300) = 250: 83.333333333333 against c1 (100 / 300) and
    // 166.666666666667, the rest, against c2. In February 100 of c1 pay back 83.333333333333.
    const of = world({
      customers: ['c1', 'c2', 'c3'].map((id) => customer(id, '2026-01-01')),
      transactions: [
        transaction('c1', '2026-01-10', 100, { transaction_type: 'withdrawal' }),
        transaction('c2', '2026-01-10', 200, { transaction_type: 'withdrawal' }),
        transaction('c3', '2026-01-10', 50),
        transaction('c1', '2026-02-10', 100),
        transaction('c2', '2026-02-10', 200),
      ],
      plans: [plan([share({ negative: 'carry', fence: { customer: '-100', affiliate: '-250' } })])],
    })
    expect(statement(of, '2026-02').lines[0]).toMatchObject({
      fence: { base: '300', paid_back: '250', fenced: '0' },
      base: '50',
      amount: '25.00',
    })
  })
})

describe('tiers', () => {
  const steps = [
    { from: '0', amount: '3.00' },
    { from: '10', amount: '5.00' },
    { from: '20', amount: '7.00' },
  ]
  const of = (lotsTraded: number, mode: string, more = {}) =>
    world({
      activity: [lots('c1', '2026-01-05', lotsTraded)],
      plans: [
        plan([
          {
            id: 'lots',
            kind: 'unit',
            unit: { activity: 'lots_traded' },
            tiers: { mode, steps, ...more },
          },
        ]),
      ],
    })

  test('`whole` pays all lots at the step that is reached', () => {
    expect(amounts(of(9.99, 'whole'), '2026-01')).toEqual(['lots 29.97'])
    expect(amounts(of(10, 'whole'), '2026-01')).toEqual(['lots 50.00'])
    expect(amounts(of(25, 'whole'), '2026-01')).toEqual(['lots 175.00'])
  })

  test('`slice` pays each part at its own step', () => {
    // 10 × 3 + 10 × 5 + 5 × 7 = 115.
    expect(statement(of(25, 'slice'), '2026-01').lines[0]).toMatchObject({
      measure: '25',
      rate: null,
      amount: '115.00',
      step: [
        { from: '0', part: '10', rate: '3' },
        { from: '10', part: '10', rate: '5' },
        { from: '20', part: '5', rate: '7' },
      ],
    })
  })

  test('a window adds earlier periods', () => {
    const two = of(8, 'whole', { window: 'quarter' })
    two.activity.push(lots('c1', '2026-02-05', 4), lots('c1', '2026-04-05', 4))
    // 8 lots: 3. February: 12 in the quarter: 5. April begins a quarter: 3.
    expect(amounts(two, '2026-02')).toEqual(['lots 20.00'])
    expect(amounts(two, '2026-04')).toEqual(['lots 12.00'])
  })

  test('`network` adds affiliates below under any plan', () => {
    const two = of(8, 'whole', { over: 'network' })
    two.affiliates.push({ affiliate_id: 'B', parents: [{ from: null, parent: 'A' }] })
    two.customers.push(
      customer('c2', '2026-01-01', { affiliates: [{ from: null, affiliate_id: 'B' }] }),
    )
    two.activity.push(lots('c2', '2026-01-06', 12))
    // 8 + 12 = 20: A has 7 for each of its own 8 lots. B has nobody below: 12 at 5.
    expect(amounts(two, '2026-01')).toEqual(['lots 56.00'])
    expect(amounts(two, '2026-01', 'B')).toEqual(['lots 60.00'])
  })

  test('the k-th line of a `once` rule has the step of k − 1', () => {
    const customers = ['c1', 'c2', 'c3'].map((id) => customer(id, '2026-01-01'))
    const transactions = customers.map((one, day) =>
      transaction(one.customer_id, `2026-01-0${3 - day}`, 100),
    )
    const rule = {
      ...cpa(),
      amount: undefined,
      tiers: {
        mode: 'slice',
        steps: [
          { from: '0', amount: '100' },
          { from: '2', amount: '150' },
        ],
      },
    }
    const { lines } = statement(
      world({ customers, transactions, plans: [plan([rule])] }),
      '2026-01',
    )
    // c3 deposited first, c1 last: the third line pays 150. Lines stand by scope.
    expect(lines.map(({ scope, amount }) => [scope, amount])).toEqual([
      ['customer:c1', '150.00'],
      ['customer:c2', '100.00'],
      ['customer:c3', '100.00'],
    ])
  })
})

describe('`once`', () => {
  test('a share sets off what was paid in advance: 20 against 21 pays 1', () => {
    const of = (revenue: number) =>
      world({
        transactions: [transaction('c1', '2026-01-10', 100)],
        activity: [
          lots('c1', '2026-01-11', 1, { spread_cost: revenue }),
          lots('c1', '2026-02-11', 1, { spread_cost: 16 }),
        ],
        plans: [
          plan([
            cpa({ amount: '20.00' }),
            share({ base: [{ activity: 'spread_cost' }], recoups: 'cpa' }),
          ]),
        ],
      })
    expect(amounts(of(42), '2026-01')).toEqual(['cpa 20.00', 'share 1.00'])
    // 50 % of 30 are 15 against 20: a deficit of 5. 50 % of 16 are 8: 3 are paid.
    expect(statement(of(30), '2026-01').lines[1]).toMatchObject({
      amount: '0.00',
      recouped: '15.00',
      deficit: '5.00',
    })
    expect(statement(of(30), '2026-02').lines[0]).toMatchObject({
      amount: '3.00',
      recouped: '5.00',
      deficit: '0.00',
    })
  })

  test('an advance without revenue is owed later', () => {
    // January: 20 in advance and no revenue, a deficit of 20. February: 50 % of 60 are 30: 10 are paid.
    const of = world({
      transactions: [transaction('c1', '2026-01-10', 100)],
      activity: [lots('c1', '2026-02-11', 1, { spread_cost: 60 })],
      plans: [
        plan([
          cpa({ amount: '20.00' }),
          share({ base: [{ activity: 'spread_cost' }], recoups: 'cpa' }),
        ]),
      ],
    })
    expect(statement(of, '2026-01').lines[1]).toMatchObject({ amount: '0.00', deficit: '20.00' })
    expect(amounts(of, '2026-02')).toEqual(['share 10.00'])
  })

  test('a fact without a rate makes the candidate wait until the sum is reached without it', () => {
    const dollars = (id: string, day: string) =>
      transaction('c1', day, 50, { currency: 'USD', transaction_id: id })
    const of = (first: string) =>
      world({
        transactions: [
          transaction('c1', '2026-01-10', 100, { transaction_id: 'trigger' }),
          dollars('dollars', first),
          transaction('c1', '2026-01-15', 400, { transaction_id: 'reaches' }),
        ],
        rates: [{ day: '2026-02-01', currency: 'JPY', rate: '160' }],
        plans: [plan([cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '500' }] })])],
      })
    expect(states(of('2026-01-12'), '2026-01')).toEqual({
      trigger: 'not_qualified',
      dollars: 'fx_missing',
      reaches: 'not_qualified',
    })
    expect(statement(of('2026-01-12'), '2026-01')).toMatchObject({
      lines: [],
      holds: [{ rule: 'cpa', reason: 'fx_missing', currency: 'USD', count: 1, sum: '50' }],
    })
    expect(states(of('2026-01-16'), '2026-01')).toEqual({
      trigger: 'counted',
      reaches: 'counted',
      dollars: 'already_counted',
    })
    expect(amounts(of('2026-01-16'), '2026-01')).toEqual(['cpa 200.00'])
  })

  test('a customer qualifies on the day on which the sum reaches its minimum', () => {
    const of = world({
      transactions: [
        transaction('c1', '2026-01-10', 99, { transaction_id: 'small' }),
        transaction('c1', '2026-01-20', 100, { transaction_id: 'trigger' }),
        transaction('c1', '2026-02-01', 301, { transaction_id: 'reaches' }),
        transaction('c1', '2026-02-02', 500, { transaction_id: 'later' }),
      ],
      plans: [
        plan([
          cpa({
            trigger: { transactions: ['deposit'], min: '100' },
            qualify: [{ sum: [{ transactions: ['deposit'] }], min: '500', within_days: 60 }],
          }),
        ]),
      ],
    })
    // 99 + 100 + 301 = 500 on 1 February.
    expect(evaluate(of, ['2026-01'])[0]!.statements).toEqual([])
    expect(states(of, '2026-01')).toEqual({ small: 'not_qualified', trigger: 'not_qualified' })
    expect(amounts(of, '2026-02')).toEqual(['cpa 200.00'])
    expect(states(of, '2026-02')).toEqual({ reaches: 'counted', later: 'already_counted' })
  })

  test('a window of days ends before its hour, and whole days end with theirs', () => {
    const of = (rows: Partial<World>, qualify: object) =>
      evaluate(
        world({
          ...rows,
          plans: [plan([cpa({ trigger: { signup: true }, qualify: [qualify] })])],
        }),
        ['2026-01'],
      )[0]!.statements.length
    // The signup is at 12:00 on 1 January. Two days later at 12:00 the window is over.
    const sum = { sum: [{ transactions: ['deposit'] }], min: '1', within_days: 2 }
    const deposit = (time: string) => ({
      transactions: [transaction('c1', '2026-01-03', 1, { at: at('2026-01-03', time) })],
    })
    expect(of(deposit('11:59'), sum)).toBe(1)
    expect(of(deposit('12:00'), sum)).toBe(0)
    const count = { count: { activity: 'lots_traded' }, min: '1', within_days: 2 }
    expect(of({ activity: [lots('c1', '2026-01-03', 1)] }, count)).toBe(1)
    expect(of({ activity: [lots('c1', '2026-01-04', 1)] }, count)).toBe(0)
  })

  test('a reversed or voided candidate ends the rule, unless it says `requalify`', () => {
    const reversed = [
      transaction('c1', '2026-01-10', 100, { status: 'reversed' }),
      transaction('c1', '2026-01-11', 100),
    ]
    const voided = [
      transaction('c1', '2026-01-10', 100),
      transaction('c1', '2026-01-11', 100, { transaction_type: 'refund' }),
      transaction('c1', '2026-01-12', 250),
    ]
    const void_by = { terms: [{ transactions: ['refund'] }], within_days: 7 }
    const lines = (transactions: WorldTransaction[], more: object) =>
      evaluate(world({ transactions, plans: [plan([cpa(more)])] }), ['2026-01'])[0]!.statements
        .length
    expect(lines(reversed, {})).toBe(0)
    expect(lines(reversed, { requalify: true })).toBe(1)
    expect(lines(voided, { void_by })).toBe(0)
    expect(lines(voided, { void_by, requalify: true })).toBe(1)
    expect(lines(voided, { void_by: { ...void_by, within_days: 1 } })).toBe(1)
  })

  test('a sum with `at: end` must still hold at the end of its window', () => {
    const of = (withdrawn: number) =>
      evaluate(
        world({
          transactions: [
            transaction('c1', '2026-01-02', 500),
            transaction('c1', '2026-01-20', withdrawn, { transaction_type: 'withdrawal' }),
          ],
          plans: [
            plan([
              cpa({
                qualify: [
                  {
                    sum: [
                      { transactions: ['deposit'] },
                      { transactions: ['withdrawal'], times: '-1' },
                    ],
                    min: '400',
                    within_days: 35,
                    at: 'end',
                  },
                ],
              }),
            ]),
          ],
        }),
        ['2026-01', '2026-02'],
      ).map((one) => one.statements.length)
    // The window of 35 days ends on 5 February: the line belongs to February.
    expect(of(100)).toEqual([0, 1])
    expect(of(101)).toEqual([0, 0])
  })

  test('`max_count` pays the earliest, `max` cuts the last', () => {
    const customers = ['c1', 'c2', 'c3'].map((id) => customer(id, '2026-01-01'))
    const transactions = customers.map((one, day) =>
      transaction(one.customer_id, `2026-01-0${3 - day}`, 100),
    )
    const of = (more: object) =>
      statement(
        world({ customers, transactions, plans: [plan([cpa(more)])] }),
        '2026-01',
      ).lines.map(({ amount, capped }) => [amount, capped])
    expect(of({ max_count: 2 })).toEqual([
      ['0.00', '200.00'],
      ['200.00', '0.00'],
      ['200.00', '0.00'],
    ])
    expect(of({ max: '350' })).toEqual([
      ['0.00', '200.00'],
      ['150.00', '50.00'],
      ['200.00', '0.00'],
    ])
  })

  test('who qualified under one plan never qualifies under another', () => {
    const of = world({
      transactions: [transaction('c1', '2026-01-10', 100), transaction('c1', '2026-02-10', 500)],
      plans: [
        plan([cpa()]),
        plan([cpa({ trigger: { transactions: ['deposit'], min: '500' } })], {}, 'Q'),
      ],
      assignments: [
        { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'new' },
        { affiliate_id: 'A', plan: 'Q', from: '2026-02-01', customers: 'all' },
      ],
    })
    expect(amounts(of, '2026-01')).toEqual(['cpa 200.00'])
    expect(evaluate(of, ['2026-02'])[0]).toMatchObject({
      statements: [],
      facts: [{ state: 'already_counted', rule: 'cpa' }],
    })
  })

  test('the affiliate of the trigger earns, and conditions look at its day', () => {
    const of = world({
      affiliates: ['A', 'B'].map((affiliate_id) => ({ affiliate_id, parents: [] })),
      customers: [
        customer('c1', '2026-01-01', {
          affiliates: [
            { from: null, affiliate_id: 'A' },
            { from: '2026-01-20', affiliate_id: 'B' },
          ],
          fields: [
            { from: null, values: { phase: 'phase_1' } },
            { from: '2026-01-11', values: { phase: 'funded' } },
          ],
        }),
      ],
      transactions: [transaction('c1', '2026-01-10', 100)],
      plans: [
        plan([
          cpa({ when: { phases: ['phase_1'] }, qualify: [{ customer: { phases: ['funded'] } }] }),
        ]),
      ],
    })
    expect(amounts(of, '2026-01')).toEqual(['cpa 200.00'])
  })
})

describe('override', () => {
  const family = {
    affiliates: [
      { affiliate_id: 'A', parents: [] },
      { affiliate_id: 'B', parents: [{ from: null, parent: 'A' }] },
      { affiliate_id: 'C', parents: [{ from: null, parent: 'B' }] },
    ],
    customers: [customer('c1', '2026-01-01', { affiliates: [{ from: null, affiliate_id: 'B' }] })],
    transactions: [transaction('c1', '2026-01-10', 1000)],
  }
  const master = (more = {}) => ({
    id: 'master',
    kind: 'override',
    level: 1,
    of: { lines: ['share'] },
    percent: '10',
    ...more,
  })
  const rev = share({ percent: '30' })

  test('10 % of 30 % of 1000 are 30', () => {
    const of = world({ ...family, plans: [plan([rev, master()])] })
    expect(amounts(of, '2026-01', 'B')).toEqual(['share 300.00'])
    expect(statement(of, '2026-01').lines).toMatchObject([
      { rule: 'master', scope: 'affiliate:B', base: '300', amount: '30.00' },
    ])
  })

  test('`funded_by: downline` takes the same amount from the affiliate below', () => {
    const of = world({ ...family, plans: [plan([rev, master({ funded_by: 'downline' })])] })
    expect(amounts(of, '2026-01')).toEqual(['master 30.00'])
    expect(amounts(of, '2026-01', 'B')).toEqual(['share 300.00', 'master -30.00'])
  })

  test('the other forms follow the customers and the `once` lines of the affiliates below', () => {
    const of = (more: object) =>
      amounts(world({ ...family, plans: [plan([rev, cpa(), master(more)])] }), '2026-01')
    expect(of({ of: { base: [{ transactions: ['deposit'] }] }, percent: '2.5' })).toEqual([
      'master 25.00',
    ])
    const none = { percent: undefined }
    const unit = { count: { transactions: ['deposit'] } }
    expect(of({ of: { unit }, amount: '4', ...none })).toEqual(['master 4.00'])
    expect(of({ of: { once: 'cpa' }, amount: '15', ...none })).toEqual(['master 15.00'])
  })

  test('a negative sum counts 0 unless it says `offset`', () => {
    const loss = [transaction('c1', '2026-01-10', 1000, { transaction_type: 'withdrawal' })]
    const of = (more: object) =>
      amounts(
        world({ ...family, transactions: loss, plans: [plan([rev, master(more)])] }),
        '2026-01',
      )
    expect(of({})).toEqual(['master 0.00'])
    expect(of({ negative: 'offset' })).toEqual(['master -30.00'])
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
