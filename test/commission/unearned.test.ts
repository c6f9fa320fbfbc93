import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { asOf } from '../../src/commission/engine/customer.ts'
import { payingEntries } from '../../src/commission/engine/judge.ts'
import { reportOnce } from '../../src/commission/engine/once-report.ts'
import { earningsOf, reportFacts } from '../../src/commission/engine/records.ts'
import {
  addToGroups,
  type Groups,
  listGroups,
  type UnearnedGroup,
} from '../../src/commission/engine/unearned.ts'
import { isOutflow } from '../../src/platform/amount-signs.ts'
import { type Period, parsePeriod } from '../../src/platform/money/calendar.ts'
import { open } from './engine.ts'
import type { Account, AccountInput } from './open-account.ts'
import { add, compare, parse, plain, type Rational, subtract, ZERO } from './oracle/rational.ts'
import type { World } from './world.ts'
import { periodsOf, randomWorld } from './worlds.ts'

// `npm run worlds` tries more worlds.
const SEEDS = Array.from({ length: env.MODEL_RUNS || 12 }, (_, seed) => seed)

/** An account of a random world in one period, with what several laws compare. */
interface View {
  seed: number
  world: World
  period: Period
  input: AccountInput
  evaluated: ReturnType<Account['evaluated']>
  settled: ReturnType<Account['settle']>
}

/** A law, and what fails where a world breaks it. */
type Law = (view: View) => void

/** Opens each world once for all laws. Returns the first failure of each law that does not hold. */
function firstFailures(laws: readonly Law[]): Map<Law, unknown> {
  const failures = new Map<Law, unknown>()
  const check = (view: View) => {
    for (const law of laws) {
      if (failures.has(law)) continue
      try {
        law(view)
      } catch (error) {
        failures.set(law, error)
      }
    }
  }
  for (const seed of SEEDS) {
    const world = randomWorld(seed)
    const { account, input } = open(world)
    for (const id of periodsOf(world)) {
      const period = parsePeriod(id)!
      const evaluated = account.evaluated(period.last)
      check({ seed, world, period, input, evaluated, settled: account.settle(period) })
    }
  }
  return failures
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
  const size = (leaves: boolean | undefined, value: number | undefined) =>
    leaves && value !== undefined && world.amount_signs ? Math.abs(value) : value
  for (const {
    transaction_type,
    amount_currency,
    at,
    customer_id,
    currency,
  } of world.transactions) {
    const amounts = { amount_currency: size(isOutflow(transaction_type), amount_currency) }
    count('transactions', dayOf(at), customer_id, currency, amounts)
  }
  for (const { date, customer_id, instrument: _, currency, ...amounts } of world.activity)
    count('trading-activity', dayOf(Date.parse(date)), customer_id, currency, amounts)
  for (const { eventname, day, customer_id, Currency, Value, kpis } of world.events) {
    const amounts = { ...kpis, Value: size(world.outflows?.includes(eventname), Value) }
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

/** Counted and unearned facts together are the control totals. */
const isComplete: Law = ({ seed, world, period, input, evaluated: all }) => {
  const entriesOf = payingEntries(input)
  const groups: Groups = new Map()
  for (const evaluated of all)
    for (const { fact, state } of reportFacts(input, entriesOf, evaluated, period))
      addToGroups(groups, state, fact)
  expect(groupTotals(listGroups(groups)), `seed ${seed} ${period.id}`).toEqual(
    controlTotals(world, period),
  )
}

/** A fact that is counted has a line, and is counted by the rule of each. */
const hasLines: Law = ({ seed, period, input, evaluated: all }) => {
  const entriesOf = payingEntries(input)
  for (const evaluated of all)
    for (const { fact, state, rules } of reportFacts(input, entriesOf, evaluated, period)) {
      const lines = earningsOf(input, entriesOf, asOf(evaluated, period.last), fact)
      for (const { kind, plan, rule } of lines) {
        if (kind !== 'once') continue
        const reasons = rules.flatMap((one) =>
          one.plan === plan && one.rule === rule ? one.reason : [],
        )
        expect(reasons, `seed ${seed} ${period.id} ${fact.id} ${rule}`).toContain('counted')
      }
      expect(
        [state.reason === 'counted', JSON.stringify(lines)],
        `seed ${seed} ${period.id} ${fact.resource} ${fact.id}`,
      ).toEqual([lines.length > 0, JSON.stringify(lines)])
    }
}

/** Returns the bases and units that the records of a period add to each line. */
function additions({ period, input, evaluated: all }: View): Sums {
  const added: Sums = {}
  const entriesOf = payingEntries(input)
  for (const evaluated of all)
    for (const fact of evaluated.customer.facts) {
      if (fact.day < period.first || fact.day > period.last) continue
      for (const one of earningsOf(input, entriesOf, evaluated, fact)) {
        if (one.kind === 'once' || one.period !== period.id) continue
        const { affiliate_id, plan, version, rule, scope, base, units } = one
        const key = [affiliate_id, plan, version, rule, scope].join(' ')
        addTo(added, key, parse(base ?? units ?? '0'))
      }
    }
  return added
}

/** Each record is converted alone, which rounds it apart. */
const MOST_ROUNDED: Rational = { n: 1n, d: 10n ** 8n }

/** What records add to a line is its base or its units. */
const addsUp: Law = (view) => {
  const { seed, period, settled } = view
  const added = additions(view)
  for (const { affiliate, plan, lines } of settled)
    for (const { rule, version, scope, fence, base, units } of lines) {
      if (rule.kind !== 'share' && rule.kind !== 'unit') continue
      const key = [affiliate, plan.plan, version.version, rule.id, scope].join(' ')
      const whole = fence?.before ?? base ?? units!
      const fixed =
        rule.kind === 'share' && scope === 'affiliate' ? rule.base.fixed : { units: 0n, scale: 0 }
      const rational = ({ units: n, scale }: { units: bigint; scale: number }): Rational => ({
        n,
        d: 10n ** BigInt(scale),
      })
      const off = subtract(add(added[key] ?? ZERO, rational(fixed)), rational(whole))
      expect(compare(off, MOST_ROUNDED) < 0, `seed ${seed} ${period.id} ${key}`).toBe(true)
      expect(compare({ n: -off.n, d: off.d }, MOST_ROUNDED) < 0).toBe(true)
    }
}

const dayOfDate = (date: string) => Date.parse(date) / 86_400_000

/** The statuses of all reports. */
const statuses = new Set<string>()

/** Who is reported as qualified has the line of a rule. */
const qualifies: Law = ({ seed, period, input, evaluated: all, settled }) => {
  const reported = all.flatMap((evaluated) => reportOnce(input, evaluated, period.last))
  for (const { status, qualified_on, conditions, customer_id, rule } of reported) {
    statuses.add(status)
    const isLater = qualified_on !== null && dayOfDate(qualified_on) > period.last
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
      dayOfDate(qualified_on) >= period.first &&
      dayOfDate(qualified_on) <= period.last,
  )
  const lines = settled.flatMap(({ affiliate, lines: own }) =>
    own.flatMap(({ rule, scope, version }) =>
      rule.kind === 'once' ? [`${affiliate} ${version.plan} ${rule.id} ${scope}`] : [],
    ),
  )
  const kindOf = (plan: string) => input.inForce.plans.get(plan)!.first.period
  expect(
    inPeriod
      .filter(({ plan }) => kindOf(plan) === period.kind)
      .map((one) => `${one.affiliate_id} ${one.plan} ${one.rule} customer:${one.customer_id}`)
      .sort(),
    `seed ${seed} ${period.id}`,
  ).toEqual(lines.sort())
}

let failures: Map<Law, unknown>
beforeAll(() => {
  failures = firstFailures([isComplete, hasLines, addsUp, qualifies])
})

const assertHolds = (law: Law) => {
  if (failures.has(law)) throw failures.get(law)
}

describe('unearned', () => {
  test('counted and unearned facts together are the control totals, to the last decimal', () => {
    assertHolds(isComplete)
  })
})

describe('earnings', () => {
  test('exactly the counted facts are counted by a line', () => {
    assertHolds(hasLines)
  })

  test('the parts of records sum to the base of a line before a fence, and to its units', () => {
    assertHolds(addsUp)
  })
})

describe('qualifications', () => {
  test('exactly the customers who are reported as qualified have a line of the rule', () => {
    assertHolds(qualifies)
    expect([...statuses].sort()).toEqual(['failed', 'qualified', 'refused', 'waiting'])
  })
})
