import { describe, expect, test } from 'vitest'
import { openAccount } from '../../src/commission/engine/account.ts'
import { parsePeriod } from '../../src/commission/engine/calendar.ts'
import { compileConditions } from '../../src/commission/engine/conditions.ts'
import { evaluateCustomer, factEvaluator } from '../../src/commission/engine/evaluate.ts'
import { reportFacts } from '../../src/commission/engine/fact-reports.ts'
import { type Fact, NO_FIELDS } from '../../src/commission/engine/facts.ts'
import type { Rule } from '../../src/commission/engine/plan.ts'
import type { CompiledShare } from '../../src/commission/engine/rules.ts'
import { settlePlan } from '../../src/commission/engine/settle.ts'
import { countQualified } from '../../src/commission/engine/settle-plan.ts'
import { NO_STATE, openState } from '../../src/commission/engine/state.ts'
import { addToGroup, newCustomerTally, talliesOf } from '../../src/commission/engine/tally.ts'
import { addCause, noCauses } from '../../src/commission/statements/cause-list.ts'
import { type CauseGroup, causesFrom, groupKey } from '../../src/commission/statements/causes.ts'
import { compile, cpa, customer, deposit, fact, input, worldOf } from './cases/build.ts'

// What a partner sends decides how much is computed. Twice as much of it may take a little more than
// twice as many steps, and not four times as many.

const JANUARY = parsePeriod('2026-01')!

/** Returns an object that counts how often members of it are read. */
function countReads<T extends object>(target: T, counter: { reads: number }): T {
  return new Proxy(target, {
    get: (of, name) => {
      counter.reads++
      const value = Reflect.get(of, name)
      return typeof value === 'function' ? value.bind(of) : value
    },
  })
}

/** Expects that twice the size takes less than three times the steps. */
function expectLinear(stepsOf: (size: number) => number): void {
  const [once, twice] = [stepsOf(500), stepsOf(1000)]
  expect(once).toBeGreaterThan(0)
  expect(twice / once).toBeLessThan(3)
}

describe('the facts of one customer', () => {
  const rule = cpa({
    requalify: true,
    void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 30 },
    qualify: [
      { sum: [{ transactions: ['deposit'] }], min: '1000000', within_days: 30, at: 'end' },
      { count: { transactions: ['deposit'] }, min: 1_000_000 },
    ],
  })

  /** Evaluates and reports deposits of one day, each taken back by a withdrawal on the last. */
  function reportDeposits(size: number, counter?: { reads: number }): string[] {
    const days = (at: number) => 1_767_225_600_000 + at * 60_000
    const world = worldOf([rule], {
      transactions: Array.from({ length: size }, (_, i) => [
        deposit('c1', '2026-01-01', 0.01, { transaction_id: `d${i}`, at: days(i) }),
        deposit('c1', '2026-01-20', 0.01, {
          transaction_id: `w${i}`,
          transaction_type: 'withdrawal',
          at: days(30_000 + (i % 10)),
        }),
      ]).flat(),
    })
    const of = input(world)
    const [one] = of.customers
    const facts = one!.facts.map((each) => (counter ? countReads(each, counter) : each))
    const evaluated = evaluateCustomer(of, { ...one!, facts })
    return reportFacts(of, factEvaluator(of), evaluated, JANUARY).map(({ state }) => state.reason)
  }

  test('candidates that `void_by` takes back are read a number of times that does not grow', () => {
    expectLinear((size) => {
      const counter = { reads: 0 }
      reportDeposits(size, counter)
      return counter.reads
    })
  })

  test('20,000 deposits that are taken back are reported', () => {
    expect(reportDeposits(20_000)).toHaveLength(40_001)
  }, 30_000)

  test('products of one day are found without looking at the others', () => {
    const rule = compile<CompiledShare>({
      id: 's',
      kind: 'share',
      percent: '10',
      per: 'product',
      base: [{ transactions: ['deposit'] }],
    })
    expectLinear((size) => {
      const counter = { reads: 0 }
      const tally = newCustomerTally()
      const counted = { ...tally, groups: countReads(tally.groups, counter) }
      for (let i = 0; i < size; i++) {
        addToGroup(
          counted,
          rule.base.terms[0]!,
          fact({ product: `p${i}` }),
          'EUR',
          input(worldOf([])).rates,
        )
      }
      expect(tally.groups).toHaveLength(size)
      return counter.reads
    })
  })
})

describe('the customers of one affiliate', () => {
  const steps = (member: 'percent' | 'amount') => [
    { from: '0', [member]: '10' },
    { from: '100', [member]: '20' },
  ]
  const share = (by: object): Rule =>
    ({
      id: 'share',
      kind: 'share',
      per: 'customer',
      base: [{ transactions: ['deposit'] }],
      tiers: { mode: 'whole', steps: steps('percent'), ...by },
    }) as Rule
  const once = (by: object): Rule =>
    ({
      id: 'once',
      kind: 'once',
      trigger: { transactions: ['deposit'] },
      tiers: { mode: 'whole', steps: steps('amount'), ...by },
    }) as Rule

  test.each<[string, readonly Rule[]]>([
    ['active customers', [share({ by: { customers: 'active' } })]],
    ['a `once` rule', [cpa(), share({ by: { once: 'cpa' }, over: 'network' })]],
    ['a `once` rule, of another', [cpa(), once({ by: { once: 'cpa' }, over: 'network' })]],
    ['their own lines in the network', [once({ over: 'network' })]],
  ])('tiers by %s are measured once, however many lines there are', (_, rules) => {
    const measured = (size: number): number => {
      const ids = Array.from({ length: size }, (_, i) => `c${i}`)
      const of = input(
        worldOf(rules, {
          customers: ids.map((id) => customer(id)),
          transactions: ids.map((id) => deposit(id, '2026-01-02', 5)),
        }),
      )
      let calls = 0
      const count = <K, V>(map: Map<K, V>): Map<K, V> => {
        const { keys, get } = map
        map.keys = () => {
          calls++
          return keys.call(map)
        }
        map.get = (key) => {
          calls++
          return get.call(map, key)
        }
        return map
      }
      const plan = of.inForce.plans.get('P')!
      const tallies = talliesOf(openAccount(of).tallies(JANUARY), 'A')
      for (const { tally } of tallies.ownRules.values()) {
        const { keys } = tally.customers
        tally.customers.keys = () => {
          calls++
          return keys.call(tally.customers)
        }
      }
      const lines = settlePlan({
        context: { ...of, period: JANUARY },
        affiliate: 'A',
        plan,
        tallies,
        state: openState(NO_STATE),
        qualified: count(countQualified(plan, tallies.once)),
        onceBelow: () => {
          calls++
          return 0
        },
        traced: null,
      })
      expect(lines.length).toBeGreaterThanOrEqual(size)
      return calls
    }
    expect(measured(200)).toBe(measured(100))
  })

  test('the causes found for all customers are joined once for all lines', () => {
    const joins = (size: number): number => {
      let calls = 0
      const byCustomer: CauseGroup['byCustomer'] = new Map(
        Array.from({ length: size }, (_, i) => [
          `c${i}`,
          { likely: noCauses(), others: noCauses(), late: noCauses() },
        ]),
      )
      const { values } = byCustomer
      byCustomer.values = () => {
        calls++
        return values.call(byCustomer)
      }
      const rest = { likely: noCauses(), others: noCauses(), late: noCauses() }
      addCause(rest.likely, {
        kind: 'rate',
        currency: 'USD',
        day: '2026-01-02',
        change: 'published',
      })
      const group = {
        affiliate: 'A',
        plan: 'P',
        periodId: '2026-01',
        byCustomer,
        rest,
        movedAway: noCauses(),
        settings: noCauses(),
        otherSettings: noCauses(),
        rules: { shared: true, once: false },
      } as unknown as CauseGroup
      const lines = [...byCustomer.keys()].map((id) => ({
        affiliate_id: 'A',
        plan: 'P',
        period: '2026-01',
        isReduction: false,
        line: { rule: 'share', version: 1, scope: `customer:${id}`, occurrence: 0 },
      }))
      const causesOf = causesFrom(new Map([[groupKey(lines[0]!), group]]))
      for (const line of lines) expect(causesOf(line).causes_total).toBe(1)
      return calls
    }
    expect(joins(200)).toBe(joins(100))
  })
})

test('10,000 symbols are compared with 60 patterns in each of 45 rules', () => {
  const rules = Array.from({ length: 45 }, (_, rule) =>
    compileConditions({ instruments: Array.from({ length: 60 }, (_, i) => `S${rule}X${i}*`) }),
  )
  const symbols = Array.from({ length: 10_000 }, (_, i) =>
    fact({ instrument: `s${i % 45}x${i}.m` }),
  )
  const matched = symbols.flatMap((symbol: Fact) =>
    rules.filter((matches) => matches(NO_FIELDS, symbol) === null),
  )
  expect(matched.length).toBeGreaterThan(1000)
}, 10_000)
