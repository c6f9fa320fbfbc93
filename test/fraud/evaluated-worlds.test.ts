import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Qualification } from '../../src/commission/plans/types.ts'
import { evaluateRules } from '../../src/fraud/evaluate.ts'
import { kindsOf } from '../../src/fraud/kinds.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { at, cpa, customer, deposit, worldOf } from '../commission/build.ts'
import { shuffleWorld } from '../commission/shuffle-world.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import {
  expectedCases,
  holdBack,
  holdBackInput,
  LATE_INPUTS,
  morningAfter,
  type RuleToStore,
  type RuleWorldFinding,
  simulatedCases,
  storedCases,
  storeRules,
  type WorldCase,
} from './evaluated-cases.ts'
import { type FraudWorld, NOTHING_ELSE } from './fraud-world.ts'
import { before } from './oracle/account.ts'
import { expectedOf } from './oracle/findings.ts'
import { type Days, fraudWorld, randomParameters } from './random-worlds.ts'
import { storeFraudWorld } from './stored-fraud-world.ts'
import { ruleOf } from './world-findings.ts'

// The stored cases of random worlds are those that follow from the oracle's findings: whenever and however
// often the rules are evaluated, and in whatever order the records arrive.

const WORLDS = env.MODEL_RUNS || 1
const FIRST_SEED = env.SEED * 5_000_000

/** Codes of links begin in 2026, and have whole milliseconds. */
const withCodes = (world: FraudWorld): FraudWorld => ({
  ...world,
  clicks: Object.fromEntries(
    Object.entries(world.clicks).filter(([, at]) => at >= Date.UTC(2026, 0, 1)),
  ),
})

/** Returns versions of a rule of each kind; some rules change or end within the days. */
function randomRules(from: Source, world: FraudWorld, { first, last }: Days): RuleToStore[] {
  return kindsOf(world.vertical).flatMap((kind) => {
    const versionOf = (version: number, effective_from: string): RuleToStore => ({
      ...{ rule: kind.kind.replaceAll('_', '-'), kind: kind.kind, version, effective_from },
      parameters: ruleOf(kind, randomParameters(from, kind.kind)).parameters,
      ...(version > 1 && from.oneIn(3) && { disabled: true }),
      ...(from.oneIn(4) && {
        scope: { affiliates: ['*'], not_affiliates: [world.affiliates[0]!.affiliate_id] },
      }),
    })
    const middle = before(last, from.below(6))
    const more = from.oneIn(2) && middle > first ? [versionOf(2, middle)] : []
    return [versionOf(1, first), ...more]
  })
}

/** Returns what the oracle finds with the versions of rules. */
function expectedFindings(
  world: FraudWorld,
  rules: readonly RuleToStore[],
  last: string,
): RuleWorldFinding[] {
  return rules.flatMap(({ rule, version, kind, parameters, effective_from, ...one }, i) => {
    const next = rules[i + 1]
    const end = next?.rule === rule ? before(next.effective_from, 1) : last
    if (one.disabled) return []
    const { not_affiliates: not = [] } = (one.scope ?? {}) as { not_affiliates?: string[] }
    return world.affiliates
      .map(({ affiliate_id }) => affiliate_id)
      .filter((affiliate) => !not.includes(affiliate))
      .flatMap((affiliate) => {
        const days = { first: effective_from, last: end }
        return expectedOf(world, kind, parameters, days, affiliate).map((finding) => ({
          ...finding,
          ...{ affiliate, rule, version },
        }))
      })
  })
}

/** Evaluates the rules of an account as on the morning after a day. */
async function evaluate(account: string, world: FraudWorld, day: string): Promise<void> {
  const stored = (await findAccount(env.DB, account))!
  const now = morningAfter(day, world.book_zone)
  const { isDone } = await evaluateRules(
    env as Env,
    stored,
    { actor: 'cron', now },
    Number.POSITIVE_INFINITY,
  )
  expect(isDone).toBe(true)
}

/** Returns the statements of an account as they are stored. */
const storedStatements = async (account: string) =>
  (await env.DB.prepare('select * from statements where account = ?').bind(account).all()).results

test(`random worlds have the cases of the oracle, at once and day by day, and late records only add`, {
  timeout: 3_600_000,
}, async () => {
  let cases = 0
  for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed++) {
    const from = randomSource(seed)
    const { world: random, days } = fraudWorld(seed)
    const world = withCodes(random)
    const rules = randomRules(from, world, days)
    const expected = expectedCases(expectedFindings(world, rules, days.last))
    cases += expected.length
    const mornings: string[] = []
    for (let day = before(days.first, 1); day <= days.last; day = before(day, -1)) {
      if (from.oneIn(2) || day === days.last) mornings.push(day)
    }

    const atOnce = `at-once-${seed}`
    await storeFraudWorld(world, atOnce)
    await storeRules(atOnce, rules)
    const statements = await storedStatements(atOnce)
    await evaluate(atOnce, world, days.last)
    expect(await storedStatements(atOnce), `seed ${seed}`).toEqual(statements)
    expect(await storedCases(atOnce), `seed ${seed}, at once`).toEqual(expected)

    for (const [rule, simulated] of await simulatedCases(atOnce, rules, days)) {
      const own = expected.filter((one) => one.rule === rule)
      expect(simulated, `seed ${seed}, back-test of ${rule}`).toEqual(own)
    }

    const daily = `daily-${seed}`
    await storeFraudWorld({ ...world, ...shuffleWorld(world, seed) } as FraudWorld, daily)
    await storeRules(daily, rules)
    for (const day of mornings) await evaluate(daily, world, day)
    expect(await storedCases(daily), `seed ${seed}, day by day`).toEqual(expected)

    const late = `late-${seed}`
    await storeFraudWorld(world, late)
    await storeRules(late, rules)
    const deliveries = []
    for (const share of [4, 3, 3]) deliveries.push(await holdBack(late, () => from.oneIn(share)))
    // One of them alone, so that its change is noticed for itself.
    const input = LATE_INPUTS[seed % LATE_INPUTS.length]!
    const storeInput = await holdBackInput(late, input, () => !from.oneIn(4))
    let known: Found = new Map()
    for (const day of mornings) {
      if (from.oneIn(2)) await evaluate(late, world, day)
      known = expectAdded(known, await storedCases(late), `seed ${seed}, ${day}`)
      if (from.oneIn(4)) await deliveries.pop()?.()
    }
    for (const deliver of deliveries.reverse()) await deliver()
    await evaluate(late, world, days.last)
    await storeInput()
    await evaluate(late, world, days.last)
    known = expectAdded(known, await storedCases(late), `seed ${seed}, late ${input}`)
    for (const [subject, records] of recordsBySubject(expected)) {
      const all = known.get(subject) ?? []
      const missing = records.filter((one) => !all.includes(one))
      expect(missing, `seed ${seed}, late ${input}, ${subject}`).toEqual([])
    }
  }
  expect(cases).toBeGreaterThan(WORLDS)
})

/** The records of the cases of each rule and subject, in their order. */
type Found = ReadonlyMap<string, readonly string[]>

const recordsBySubject = (cases: readonly WorldCase[]): Found =>
  new Map(
    cases.map(({ affiliate, rule, subject, evidence }) => [
      JSON.stringify([affiliate, rule, subject]),
      evidence.map(({ resource, id }) => `${resource}:${id}`),
    ]),
  )

/** Expects that cases have the records that they had, each once, and others only behind them. */
function expectAdded(before: Found, cases: readonly WorldCase[], message: string): Found {
  const now = recordsBySubject(cases)
  for (const records of now.values()) expect(new Set(records).size, message).toBe(records.length)
  for (const [subject, records] of before) {
    expect(now.get(subject)?.slice(0, records.length), `${message}, ${subject}`).toEqual(records)
  }
  return now
}

// The deposit counts, though it is of the day before the signup.
test.each<[string, Qualification, string]>([
  ['fields', { customer: {} }, '2026-02-01'],
  ['a sum of nothing', { sum: [{ transactions: ['withdrawal'] }], min: '0' }, '2026-02-01'],
  ['no records', { count: { transactions: ['withdrawal'] }, min: '0' }, '2026-02-01'],
  [
    'a sum after some days',
    { sum: [{ transactions: ['deposit'] }], min: '1', within_days: 3, at: 'end' },
    '2026-02-04',
  ],
])('who qualifies on a day without a record is compared: by %s', async (_, condition, on) => {
  const world = worldOf([cpa({ qualify: [condition] })], {
    customers: [customer('c1', { signup: at('2026-02-01') })],
    transactions: [deposit('c1', '2026-01-31', 20)],
  })
  await storeFraudWorld({ ...world, ...NOTHING_ELSE }, 'firm')
  const parameters = { min_customers: 1, share_percent: '1', days: 5, active_days: 1 }
  const kind = kindsOf('forex').find((one) => one.kind === 'short_life')!
  const day = before(on, -5)
  const rule = { rule: 'short', version: 1, effective_from: day, kind: kind.kind }
  const rules = [{ ...rule, parameters: ruleOf(kind, parameters).parameters }]
  expect(await simulatedCases('firm', rules, { first: day, last: day })).toMatchObject([
    ['short', [{ opened_for: day }]],
  ])
})
