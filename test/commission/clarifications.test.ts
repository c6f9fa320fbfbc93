import { describe, expect, test } from 'vitest'
import { compareFacts } from '../../src/commission/engine/facts.ts'
import type { OnceRule, PlanTerms, Rule } from '../../src/commission/plans/types.ts'
import { at, customer, deposit, fact, lines, plan, states, terms, world, worldOf } from './build.ts'
import { evaluate } from './engine.ts'
import { evaluate as evaluateByOracle } from './oracle/evaluate.ts'
import type { World } from './world.ts'

// §16.13 and §16.23 by examples that are calculated by hand. Engine and oracle must agree on each.

const HOUR_MS = 3_600_000

const once = (more: Partial<OnceRule>): OnceRule => ({
  id: 'cpa',
  kind: 'once',
  trigger: { transactions: ['deposit'] },
  ...more,
})

const cpa = (more: Partial<OnceRule> = {}): OnceRule => once({ amount: '10', ...more })

const sumOf = (min: string): NonNullable<OnceRule['qualify']> => [
  { sum: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }], min },
]

/** Returns the lines and the states of a period, in which the engine and the oracle agree. */
function agreed(of: World, period: string): { lines: string[]; states: string[] } {
  expect(evaluate(of, [period])).toEqual(evaluateByOracle(of, [period]))
  return { lines: lines(of, period), states: states(of, period) }
}

const traded = (date: string): World['activity'][number] => ({
  date,
  customer_id: 'c1',
  instrument: 'EURUSD',
  currency: 'EUR',
  lots_traded: 1,
})

describe('§16.13', () => {
  test('facts of the same instant are ordered by resource and id, by code points', () => {
    const facts = [
      fact({ resource: 'transactions', id: 'a' }),
      fact({ resource: 'transactions', id: 'B' }),
      fact({ resource: 'customers', id: 'c' }),
      fact({ resource: 'trading-activity', id: 'd' }),
    ]
    expect(facts.sort(compareFacts).map(({ id }) => id)).toEqual(['c', 'd', 'B', 'a'])
  })

  test('of two deposits at the same instant, the one with the lower id is the candidate', () => {
    const of = worldOf([once({ percent: '10' })], {
      transactions: [
        deposit('c1', '2026-01-10', 100, { transaction_id: 'a' }),
        deposit('c1', '2026-01-10', 700, { transaction_id: 'B' }),
      ],
    })
    expect(agreed(of, '2026-01')).toEqual({
      lines: ['A cpa customer:c1 70.00'],
      states: ['B: counted null', 'a: already_counted cpa'],
    })
  })

  test('a sum is compared after all facts of the same instant', () => {
    const of = (hours: number) =>
      worldOf([cpa({ qualify: sumOf('500') })], {
        transactions: [
          deposit('c1', '2026-01-10', 600),
          deposit('c1', '2026-01-10', 200, {
            transaction_type: 'withdrawal',
            at: at('2026-01-10') + hours * HOUR_MS,
          }),
        ],
      })
    // 600 − 200 are less than 500, unless the withdrawal comes later.
    expect(agreed(of(0), '2026-01').lines).toEqual([])
    expect(agreed(of(1), '2026-01').lines).toEqual(['A cpa customer:c1 10.00'])
  })

  test('a whole day counts from the day of the signup on', () => {
    const of = (date: string) =>
      worldOf(
        [
          cpa({
            trigger: { signup: true },
            qualify: [{ count: { activity: 'lots_traded' }, min: '1' }],
            grace_hours: 0,
          }),
        ],
        {
          customers: [customer('c1', { signup: at('2026-01-05') + 12 * HOUR_MS })],
          activity: [traded(date)],
        },
      )
    expect(agreed(of('2026-01-04'), '2026-01').lines).toEqual([])
    expect(agreed(of('2026-01-05'), '2026-01').lines).toEqual(['A cpa customer:c1 10.00'])
  })

  test('a fact without a time counts at the start of its day', () => {
    const event = (id: string, Value: number, instant?: number): World['events'][number] => ({
      id,
      customer_id: 'c1',
      eventname: 'deposit',
      day: '2026-01-10',
      Value,
      Currency: 'EUR',
      ...(instant === undefined ? {} : { at: instant }),
    })
    const of = worldOf([once({ trigger: { event: 'deposit', kpi: 'Value' }, percent: '10' })], {
      vertical: 'igaming',
      events: [event('a', 300, at('2026-01-10') + 60_000), event('z', 500)],
    })
    expect(agreed(of, '2026-01').lines).toEqual(['A cpa customer:c1 50.00'])
  })
})

describe('§16.23', () => {
  const versions = (first: OnceRule, second: OnceRule, more: Partial<World>): World =>
    world({
      plans: [
        plan(
          'P',
          terms([first], { terms: 'current' }),
          terms([second], { terms: 'current', effective_from: '2026-02-01' } as Partial<PlanTerms>),
        ),
      ],
      ...more,
    })

  test('a candidate earns only under the version that governs it', () => {
    // The deposit of January is the candidate of both versions. The first governs it, and pays it in
    // February, when the customer qualifies.
    const of = versions(
      cpa({ qualify: sumOf('500') }),
      cpa({ amount: '20', qualify: sumOf('500') }),
      {
        transactions: [deposit('c1', '2026-01-10', 100), deposit('c1', '2026-02-10', 400)],
      },
    )
    expect(agreed(of, '2026-01').lines).toEqual([])
    expect(agreed(of, '2026-02').lines).toEqual(['A cpa customer:c1 10.00'])
  })

  test('of two qualifications by one rule id the earlier counts, and pays one line', () => {
    // The first version waits for 500 until March. The second pays the fee of February.
    const fee = { transaction_type: 'fee' }
    const of = versions(
      cpa({ qualify: sumOf('500') }),
      cpa({ trigger: { transactions: ['fee'] }, amount: '20' }),
      {
        transactions: [
          deposit('c1', '2026-01-20', 100),
          deposit('c1', '2026-02-10', 30, fee),
          deposit('c1', '2026-03-05', 400),
        ],
      },
    )
    expect(agreed(of, '2026-01').lines).toEqual([])
    expect(agreed(of, '2026-02').lines).toEqual(['A cpa customer:c1 20.00'])
    expect(agreed(of, '2026-03').lines).toEqual([])
  })

  test('a fact of amount 0 is no trigger unless `min` is 0', () => {
    const of = (trigger: OnceRule['trigger']) =>
      worldOf([cpa({ trigger })], {
        transactions: [deposit('c1', '2026-01-10', 0), deposit('c1', '2026-02-10', 500)],
      })
    const deposits = { transactions: ['deposit'] }
    expect(agreed(of(deposits), '2026-01')).toEqual({
      lines: [],
      states: ['2026-01-10 c1 0: no_rule null'],
    })
    expect(agreed(of(deposits), '2026-02').lines).toEqual(['A cpa customer:c1 10.00'])
    expect(agreed(of({ ...deposits, min: '0' }), '2026-01').lines).toEqual([
      'A cpa customer:c1 10.00',
    ])
    expect(agreed(of({ signup: true }), '2026-01').lines).toEqual(['A cpa customer:c1 10.00'])
  })

  test('the months of a rule apply to the trigger, and not to what qualifies the customer', () => {
    const of = (day: string) =>
      worldOf([cpa({ months: 1, qualify: sumOf('500') })], {
        transactions: [deposit('c1', day, 100), deposit('c1', '2026-02-20', 400)],
      })
    expect(agreed(of('2026-01-31'), '2026-02').lines).toEqual(['A cpa customer:c1 10.00'])
    expect(agreed(of('2026-02-01'), '2026-02')).toEqual({
      lines: [],
      states: ['2026-02-01 c1 100: expired cpa', '2026-02-20 c1 400: expired cpa'],
    })
  })

  test('the conditions of a rule apply to the trigger, and not to what qualifies the customer', () => {
    const of = (subtype: string) =>
      worldOf([cpa({ when: { subtypes: ['card'] }, qualify: sumOf('500') })], {
        transactions: [
          deposit('c1', '2026-01-10', 100, { transaction_subtype: subtype }),
          deposit('c1', '2026-01-20', 400, { transaction_subtype: 'wire' }),
        ],
      })
    expect(agreed(of('card'), '2026-01').lines).toEqual(['A cpa customer:c1 10.00'])
    expect(agreed(of('wire'), '2026-01').lines).toEqual([])
  })
})

/** Returns the clarified world of a customer who signed up on 2026-01-05 at noon. */
const signedUpAtNoon = (rules: readonly OnceRule[], more: Partial<World>) =>
  worldOf(rules, {
    customers: [customer('c1', { signup: at('2026-01-05') + 12 * HOUR_MS })],
    ...more,
  })

const PAID = ['A cpa customer:c1 10.00']

describe('§16.26', () => {
  const of = (sign: 1 | -1, more: Partial<World>) =>
    worldOf(
      [
        {
          id: 'net',
          kind: 'share',
          percent: '10',
          base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
        },
        cpa({ void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 7 } }),
      ],
      {
        transactions: [
          deposit('c1', '2026-01-10', 500),
          deposit('c1', '2026-01-11', sign * 500, { transaction_type: 'withdrawal' }),
        ],
        ...more,
      },
    )

  test('withdrawals are deducted by their magnitudes, whichever sign the account sends', () => {
    const expected = agreed(of(1, {}), '2026-01').lines
    expect(expected).toEqual(['A net affiliate 0.00'])
    expect(agreed(of(-1, { amount_signs: 'signed' }), '2026-01').lines).toEqual(expected)
  })
})

describe('§16.27', () => {
  const of = (beforeMs: number, grace_hours?: number) =>
    signedUpAtNoon(
      [cpa({ qualify: sumOf('500'), ...(grace_hours !== undefined && { grace_hours }) })],
      {
        transactions: [
          deposit('c1', '2026-01-05', 500, { at: at('2026-01-05') + 12 * HOUR_MS - beforeMs }),
        ],
      },
    )

  test('a deposit up to 24 hours before the signup triggers and qualifies', () => {
    expect(agreed(of(2000), '2026-01').lines).toEqual(PAID)
    expect(agreed(of(24 * HOUR_MS), '2026-01').lines).toEqual(PAID)
    expect(agreed(of(24 * HOUR_MS + 1), '2026-01')).toEqual({
      lines: [],
      states: ['2026-01-05 c1 500: not_qualified cpa'],
    })
  })

  test('grace_hours widens or closes it', () => {
    expect(agreed(of(1, 0), '2026-01').lines).toEqual([])
    expect(agreed(of(0, 0), '2026-01').lines).toEqual(PAID)
    expect(agreed(of(48 * HOUR_MS, 48), '2026-01').lines).toEqual(PAID)
  })

  test('whole days count from the day on in which the hours begin', () => {
    const days = (date: string, grace_hours: number) =>
      signedUpAtNoon(
        [
          cpa({
            trigger: { signup: true },
            qualify: [{ count: { activity: 'lots_traded' }, min: '1' }],
            grace_hours,
          }),
        ],
        { activity: [traded(date)] },
      )
    expect(agreed(days('2026-01-04', 12), '2026-01').lines).toEqual([])
    expect(agreed(days('2026-01-04', 13), '2026-01').lines).toEqual(PAID)
    expect(agreed(days('2026-01-03', 36), '2026-01').lines).toEqual([])
    expect(agreed(days('2026-01-03', 37), '2026-01').lines).toEqual(PAID)
  })

  test('the window of within_days still ends with the signup + n days', () => {
    const late = signedUpAtNoon(
      [cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '500', within_days: 1 }] })],
      {
        transactions: [
          deposit('c1', '2026-01-05', 499, { at: at('2026-01-05') }),
          deposit('c1', '2026-01-06', 1, { at: at('2026-01-06') + 12 * HOUR_MS }),
        ],
      },
    )
    expect(agreed(late, '2026-01').lines).toEqual([])
  })
})

describe('§16.28', () => {
  test('what was declined never happened, what was reversed was undone', () => {
    const of = (status: string) =>
      worldOf([cpa()], {
        transactions: [
          deposit('c1', '2026-01-05', 150, { status }),
          deposit('c1', '2026-01-10', 500),
        ],
      })
    expect(agreed(of('declined'), '2026-01')).toEqual({
      lines: PAID,
      states: ['2026-01-05 c1 150: declined null', '2026-01-10 c1 500: counted null'],
    })
    expect(agreed(of('reversed'), '2026-01')).toEqual({
      lines: [],
      states: ['2026-01-05 c1 150: reversed null', '2026-01-10 c1 500: not_qualified cpa'],
    })
  })

  test('an event has the state of its status', () => {
    const event = (id: string, status?: string): World['events'][number] => ({
      ...{ id, customer_id: 'c1', eventname: 'ftd', day: '2026-01-10', at: at('2026-01-10') },
      ...{ Value: 100, Currency: 'EUR' },
      ...(status !== undefined && { status }),
    })
    const of = worldOf([cpa({ trigger: { event: 'ftd' } })], {
      vertical: 'igaming',
      status_map: { cancelled: 'declined' },
      events: [event('a', 'cancelled'), event('b', 'odd'), event('c', 'pending'), event('d')],
    })
    expect(agreed(of, '2026-01')).toEqual({
      lines: PAID,
      states: ['a: declined null', 'b: unmapped null', 'c: pending null', 'd: counted null'],
    })
  })
})

describe('§16.30', () => {
  test('a record of before 2000 neither triggers a rule nor counts', () => {
    const of = worldOf([cpa()], {
      transactions: [deposit('c1', '1999-12-31', 100), deposit('c1', '2026-01-10', 500)],
    })
    expect(agreed(of, '2026-01').lines).toEqual(PAID)
    expect(agreed(of, '1999-12').states).toEqual(['1999-12-31 c1 100: implausible_time null'])
  })

  test('a record more than 36 hours ahead does not count until its day has come', () => {
    const of = (now: number) =>
      worldOf([cpa()], { transactions: [deposit('c1', '2026-01-10', 500)], now })
    const day = at('2026-01-10')
    expect(agreed(of(day - 36 * HOUR_MS - 1), '2026-01')).toEqual({
      lines: [],
      states: ['2026-01-10 c1 500: implausible_time null'],
    })
    expect(agreed(of(day - 36 * HOUR_MS), '2026-01').lines).toEqual(PAID)
  })
})

describe('§16.5 a measure is of the kind that the version of the line names', () => {
  const rated = (second: string) => [
    { from: '0', amount: '1' },
    { from: second, amount: '2' },
  ]
  const deposits = { by: { base: [{ transactions: ['deposit'] }] } }
  const unit = (activity: 'lots_traded' | 'volume_usd', more: object) =>
    ({ id: 'u', kind: 'unit', unit: { activity }, ...more }) as Rule
  const tiers = (second: string, more: object) => ({
    tiers: { mode: 'whole', steps: rated(second), ...more },
  })
  const row = (customer_id: string, date: string, lots_traded: number, volume_usd: number) => ({
    ...{ customer_id, date, lots_traded, volume_usd },
    ...{ instrument: 'EURUSD', currency: 'EUR' },
  })

  /** The first rule is in force from January on, the second from March on. */
  const changed = (first: Rule, second: Rule, kind: PlanTerms['terms']) =>
    world({
      customers: [customer('c1'), customer('c2', { signup: at('2026-03-01') })],
      transactions: [deposit('c1', '2026-01-10', 1000)],
      activity: [
        row('c1', '2026-01-10', 5, 900_000),
        row('c1', '2026-03-10', 4, 300_000),
        row('c2', '2026-03-10', 2, 100_000),
      ],
      plans: [
        plan(
          'P',
          terms([first], { terms: kind }),
          terms([second], { terms: kind, effective_from: '2026-03-01' }),
        ),
      ],
    })
  const total = (of: World) =>
    agreed(of, '2026-03').lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)

  const byDeposits = unit('lots_traded', tiers('100', deposits))
  const quarter = { window: 'quarter' }

  test('earlier periods of a window, which another version measured, are measured by its own', () => {
    // 5 lots of January and 6 of March, and not 1000 EUR of deposits.
    const own = unit('lots_traded', tiers('100', quarter))
    expect(total(changed(byDeposits, own, 'current'))).toBe(6)
    const reached = unit('lots_traded', tiers('11', quarter))
    expect(total(changed(byDeposits, reached, 'current'))).toBe(12)
  })

  test.each(['current', 'signup'] as const)(
    'a version with another unit adds nothing under `%s`',
    (kind) => {
      const volume = unit('volume_usd', { each: '100000', amount: '0' })
      const own = unit('lots_traded', tiers('10', quarter))
      // 900,000 USD of January are 9 units of the first version, and no lots of the second.
      const lots = kind === 'current' ? 6 : 2
      expect(total(changed(volume, own, kind))).toBe(lots)
      const slices = unit('lots_traded', { tiers: { mode: 'slice', steps: rated('1') } })
      // The first lot costs 1, each further one 2, whatever came before in another unit.
      expect(total(changed(volume, slices, kind))).toBe(1 + 2 * (lots - 1))
      const share = { id: 'u', kind: 'share', percent: '0', base: [{ transactions: ['deposit'] }] }
      expect(total(changed(share as Rule, own, kind))).toBe(lots)
    },
  )

  test('tiers of two `once` rules may count the CPAs of each other', () => {
    const counting = (id: string, other: string) =>
      cpa({
        ...{ id, amount: undefined as never },
        tiers: { mode: 'whole', steps: rated(id === 'a' ? '2' : '3'), by: { once: other } },
      })
    const of = worldOf([counting('a', 'b'), counting('b', 'a')], {
      customers: ['c1', 'c2'].map((id) => customer(id)),
      transactions: ['c1', 'c2'].map((id) => deposit(id, '2026-01-10', 100)),
    })
    expect(agreed(of, '2026-01').lines.map((line) => line.replace(' customer', ''))).toEqual([
      ...['A a:c1 2.00', 'A a:c2 2.00'],
      ...['A b:c1 1.00', 'A b:c2 1.00'],
    ])
  })

  test('the same unit is measured by `each` of the version of the line', () => {
    const first = unit('volume_usd', { each: '1000', amount: '0' })
    const second = (from: string) =>
      unit('volume_usd', { each: '100000', ...tiers(from, { window: 'quarter' }) })
    // 9 units of 100,000 in January, and 4 in March, 1 of them under the second version.
    expect(total(changed(first, second('13'), 'signup'))).toBe(2)
    expect(total(changed(first, second('13.1'), 'signup'))).toBe(1)
    expect(total(changed(first, second('13'), 'current'))).toBe(8)
  })
})

describe('a tier window under `terms: "current"`', () => {
  const steps = [
    { from: '0', percent: '1' },
    { from: '1000', percent: '10' },
  ]
  const overNetwork = { mode: 'whole', steps, over: 'network', window: 'lifetime' } as const
  const base = [{ transactions: ['deposit'] }]
  const share = (more: object) => ({ id: 's', kind: 'share', base, ...more }) as Rule

  /** U earns by one rule in January and another one from March on; A is below U. */
  const changed = (before: Rule, after: Rule) =>
    world({
      affiliates: [
        { affiliate_id: 'U', parents: [] },
        { affiliate_id: 'A', parents: [{ from: null, parent: 'U' }] },
      ],
      assignments: [{ affiliate_id: 'U', plan: 'P', from: '2026-01-01', customers: 'all' }],
      customers: [
        customer('c1'),
        customer('u1', { affiliates: [{ from: null, affiliate_id: 'U' }] }),
      ],
      transactions: [
        deposit('c1', '2026-01-10', 900),
        deposit('u1', '2026-01-10', 100),
        deposit('u1', '2026-03-10', 10),
      ],
      plans: [
        plan(
          'P',
          terms([before], { terms: 'current' }),
          terms([after], { terms: 'current', effective_from: '2026-03-01' }),
        ),
      ],
    })

  test.each<[string, Rule, Rule, string]>([
    ['the same rule', share({ tiers: overNetwork }), share({ tiers: overNetwork }), '1.00'],
    [
      'what is measured changes, for earlier periods, too',
      share({ tiers: overNetwork }),
      share({ tiers: { ...overNetwork, by: { base: [{ transactions: ['withdrawal'] }] } } }),
      '0.10',
    ],
    [
      'the network is added, for earlier periods, too',
      share({ tiers: { ...overNetwork, over: 'own' } }),
      share({ tiers: overNetwork }),
      '1.00',
    ],
    [
      'tiers are added, for earlier periods, too',
      share({ percent: '1' }),
      share({ tiers: overNetwork }),
      '1.00',
    ],
    [
      'the rule is added: earlier periods count the network alone',
      { ...share({ percent: '1' }), id: 'other' },
      share({ tiers: overNetwork }),
      '0.10',
    ],
  ])('%s', (_, before, after, amount) => {
    expect(agreed(changed(before, after), '2026-03').lines).toEqual([`U s affiliate ${amount}`])
  })
})

test('of two versions the later day counts, whichever was stored first', () => {
  const percent = (percent: string, effective_from: string) =>
    terms([{ id: 's', kind: 'share', percent, base: [{ transactions: ['deposit'] }] }], {
      effective_from,
      terms: 'current',
    })
  const of = world({
    plans: [
      plan(
        'P',
        percent('10', '2026-01-01'),
        percent('30', '2026-03-01'),
        percent('20', '2026-02-01'),
      ),
    ],
    transactions: ['2026-01-05', '2026-02-05', '2026-03-05'].map((day) => deposit('c1', day, 100)),
  })
  const paid = ['2026-01', '2026-02', '2026-03'].flatMap((period) => agreed(of, period).lines)
  expect(paid).toEqual(['A s affiliate 10.00', 'A s affiliate 20.00', 'A s affiliate 30.00'])
})
