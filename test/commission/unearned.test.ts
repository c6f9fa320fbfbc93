import { describe, expect, test } from 'vitest'
import { type Period, parsePeriod } from '../../src/commission/engine/calendar.ts'
import { earningsOf } from '../../src/commission/engine/earnings.ts'
import { asOf } from '../../src/commission/engine/judge.ts'
import { factJudge } from '../../src/commission/engine/judge-uplines.ts'
import { reportOnce } from '../../src/commission/engine/once-report.ts'
import {
  addToGroups,
  type Groups,
  listGroups,
  reportFacts,
  type UnearnedGroup,
} from '../../src/commission/engine/unearned.ts'
import { open } from './engine.ts'
import { add, compare, parse, plain, type Rational, subtract, ZERO } from './oracle/rational.ts'
import type { World } from './world.ts'
import { periodsOf, randomWorld } from './worlds.ts'

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed)

const eachPeriod = (run: (seed: number, world: World, period: Period) => void) => {
  for (const seed of SEEDS) {
    const world = randomWorld(seed)
    for (const id of periodsOf(world)) run(seed, world, parsePeriod(id)!)
  }
}

type Sums = Record<string, Rational>

const addTo = (sums: Sums, key: string, value: Rational) => {
  sums[key] = add(sums[key] ?? ZERO, value)
}

const texts = (sums: Sums) =>
  Object.fromEntries(
    Object.entries(sums)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, plain(value)]),
  )

/** The control totals of a period (§6) by resource and currency, from the records as sent. */
function controlTotals(world: World, { first, last }: Period): Record<string, string> {
  const sums: Sums = {}
  const known = new Set(world.customers.map(({ customer_id }) => customer_id))
  const dayOf = (at: number) => Math.floor(at / 86_400_000)
  const count = (
    resource: string,
    day: number,
    customer: string,
    currency: string,
    amounts: Record<string, number | undefined>,
  ) => {
    if (day < first || day > last || !known.has(customer)) return
    addTo(sums, `${resource} ${currency} count`, parse(1))
    for (const [name, value] of Object.entries(amounts))
      if (value !== undefined) addTo(sums, `${resource} ${currency} ${name}`, parse(value))
  }
  for (const one of world.customers)
    count('customers', dayOf(one.signup), one.customer_id, 'null', {})
  for (const { amount_currency, at, customer_id, currency } of world.transactions)
    count('transactions', dayOf(at), customer_id, currency, { amount_currency })
  for (const { date, customer_id, instrument: _, currency, ...amounts } of world.activity)
    count('trading-activity', dayOf(Date.parse(date)), customer_id, currency, amounts)
  for (const { day, customer_id, Currency, Value, kpis } of world.events) {
    const amounts = { ...kpis, Value }
    count('activities', dayOf(Date.parse(day)), customer_id, Currency ?? 'null', amounts)
  }
  return texts(sums)
}

const groupTotals = (groups: readonly UnearnedGroup[]) => {
  const sums: Sums = {}
  for (const { resource, currency, count, sums: amounts } of groups) {
    addTo(sums, `${resource} ${currency} count`, parse(count))
    for (const [name, value] of Object.entries(amounts))
      addTo(sums, `${resource} ${currency} ${name}`, parse(value))
  }
  return texts(sums)
}

describe('unearned', () => {
  test('counted and unearned facts together are the control totals, to the last decimal', () => {
    eachPeriod((seed, world, period) => {
      const { account, input } = open(world)
      const judge = factJudge(input)
      const groups: Groups = new Map()
      for (const judged of account.judged(period.last))
        for (const { fact, state } of reportFacts(input, judge, judged, period))
          addToGroups(groups, state, fact)
      expect(groupTotals(listGroups(groups)), `seed ${seed} ${period.id}`).toEqual(
        controlTotals(world, period),
      )
    })
  })
})

describe('earnings', () => {
  test('a fact that is counted has a line that counts it, and no other has', () => {
    eachPeriod((seed, world, period) => {
      const { account, input } = open(world)
      const judge = factJudge(input)
      for (const judged of account.judged(period.last))
        for (const { fact, state } of reportFacts(input, judge, judged, period)) {
          const lines = earningsOf(input, asOf(judged, period.last), fact)
          expect(
            [state.reason === 'counted', JSON.stringify(lines)],
            `seed ${seed} ${period.id} ${fact.resource} ${fact.id}`,
          ).toEqual([lines.length > 0, JSON.stringify(lines)])
        }
    })
  })

  test('what records add to a line is its base before a fence, and its units', () => {
    eachPeriod((seed, world, period) => {
      const { account, input } = open(world)
      const added: Sums = {}
      for (const judged of account.judged(period.last))
        for (const fact of judged.customer.facts) {
          if (fact.day < period.first || fact.day > period.last) continue
          for (const one of earningsOf(input, judged, fact)) {
            if (one.kind === 'once' || one.period !== period.id) continue
            const { affiliate_id, plan, version, rule, scope, base, units } = one
            const key = [affiliate_id, plan, version, rule, scope].join(' ')
            addTo(added, key, parse(base ?? units ?? '0'))
          }
        }
      for (const { affiliate, plan, lines } of account.settle(period))
        for (const { rule, version, scope, fence, base, units } of lines) {
          if (rule.kind !== 'share' && rule.kind !== 'unit') continue
          const key = [affiliate, plan.plan, version.version, rule.id, scope].join(' ')
          const whole = fence?.base ?? base ?? units!
          const fixed =
            rule.kind === 'share' && scope === 'affiliate'
              ? rule.base.fixed
              : { units: 0n, scale: 0 }
          const rational = ({ units: n, scale }: { units: bigint; scale: number }): Rational => ({
            n,
            d: 10n ** BigInt(scale),
          })
          const off = subtract(add(added[key] ?? ZERO, rational(fixed)), rational(whole))
          // Each record is converted alone, which rounds it apart.
          const most: Rational = { n: 1n, d: 10n ** 8n }
          expect(compare(off, most) < 0, `seed ${seed} ${period.id} ${key}`).toBe(true)
          expect(compare({ n: -off.n, d: off.d }, most) < 0).toBe(true)
        }
    })
  })
})

describe('qualifications', () => {
  test('who is reported as qualified has the line of a rule, and no other has', () => {
    const seen = new Set<string>()
    eachPeriod((seed, world, period) => {
      const { account, input } = open(world)
      const reported = account
        .judged(period.last)
        .flatMap((judged) => reportOnce(input, judged, period.last))
      for (const { status } of reported) seen.add(status)
      for (const { status, qualified_on, conditions, customer_id, rule } of reported) {
        const isLater = qualified_on !== null && Date.parse(qualified_on) / 86_400_000 > period.last
        expect([status === 'qualified', isLater], `seed ${seed} ${customer_id} ${rule}`).toEqual([
          qualified_on !== null,
          false,
        ])
        if (status === 'qualified')
          expect(conditions.map((one) => one.status)).toEqual(conditions.map(() => 'met'))
      }
      const inPeriod = reported.filter(
        ({ qualified_on }) =>
          qualified_on !== null &&
          Date.parse(qualified_on) / 86_400_000 >= period.first &&
          Date.parse(qualified_on) / 86_400_000 <= period.last,
      )
      const lines = account
        .settle(period)
        .flatMap(({ affiliate, lines: own }) =>
          own.flatMap(({ rule, scope, version }) =>
            rule.kind === 'once' ? [`${affiliate} ${version.plan} ${rule.id} ${scope}`] : [],
          ),
        )
      const kindOf = (plan: string) => input.book.plans.get(plan)!.first.period
      expect(
        inPeriod
          .filter(({ plan }) => kindOf(plan) === period.kind)
          .map((one) => `${one.affiliate_id} ${one.plan} ${one.rule} customer:${one.customer_id}`)
          .sort(),
        `seed ${seed} ${period.id}`,
      ).toEqual(lines.sort())
    })
    expect([...seen].sort()).toEqual(['failed', 'qualified', 'refused', 'waiting'])
  })
})
