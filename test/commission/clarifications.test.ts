import { describe, expect, test } from 'vitest'
import { compareFacts } from '../../src/commission/engine/facts.ts'
import type { OnceRule, PlanTerms } from '../../src/commission/engine/plan.ts'
import {
  at,
  customer,
  deposit,
  fact,
  lines,
  plan,
  states,
  terms,
  world,
  worldOf,
} from './cases/build.ts'
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
