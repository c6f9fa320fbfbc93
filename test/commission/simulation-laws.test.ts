import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { dayNumber, parsePeriod, periodOf } from '../../src/commission/engine/calendar.ts'
import type { PlanTerms } from '../../src/commission/engine/plan.ts'
import { replaceVersions } from '../../src/commission/engine/simulation.ts'
import { minorDigits, open } from './engine.ts'
import type { AccountInput } from './open-account.ts'
import { openAccount } from './open-account.ts'
import type { World } from './world.ts'
import { periodsOf, randomWorld } from './worlds.ts'

// What a simulation promises, as properties of random worlds.

const WORLDS = env.MODEL_RUNS || 5
const seeds = Array.from({ length: WORLDS }, (_, index) => env.SEED * 3_000_000 + index)

/** Returns the figures of all statements, by affiliate, plan and period; none where all are 0. */
function figuresOf(input: AccountInput, periods: readonly string[]): Record<string, string> {
  const { settle } = openAccount(input)
  return Object.fromEntries(
    periods.flatMap((id) =>
      settle(parsePeriod(id)!).flatMap(({ affiliate, plan, statement }) => {
        if (statement === null) return []
        const { opening, lines_sum, payable, closing, dropped, transferred } = statement
        const figures = [opening, lines_sum, payable, closing, dropped, transferred?.amount ?? '0']
        if (figures.every((text) => Number(text) === 0)) return []
        return [[`${affiliate} ${plan.plan} ${id}`, figures.join(' ')]]
      }),
    ),
  )
}

/** Returns the input of a world in which terms govern a plan from a day on. */
function simulated(world: World, plan: string, terms: PlanTerms, from: number): AccountInput {
  const { input } = open(world)
  const replaced = input.inForce.plans.get(plan)!
  return { ...input, inForce: replaceVersions(input.inForce, replaced, terms, from, minorDigits) }
}

const termsOf = (version: { terms: unknown } | undefined) => version!.terms as PlanTerms

/** Returns a world in which a plan has these versions. */
const withVersions = (
  world: World,
  name: string,
  versions: World['plans'][number]['versions'],
): World => ({
  ...world,
  plans: world.plans.map((one) => (one.plan === name ? { ...one, versions } : one)),
})

test('simulating the version in force changes nothing, from whatever period on', () => {
  let compared = 0
  for (const seed of seeds) {
    const random = randomWorld(seed)
    for (const { plan, versions } of random.plans) {
      const inOrder = versions.toSorted((a, b) =>
        termsOf(a).effective_from < termsOf(b).effective_from ? -1 : 1,
      )
      const { terms, period } = termsOf(inOrder[0])
      // Under `signup` several versions are in force at once.
      const kept = terms === 'signup' ? inOrder.slice(-1) : inOrder
      const world = withVersions(random, plan, kept)
      const latest = termsOf(kept.at(-1))
      const periods = periodsOf(world)
      const expected = figuresOf(open(world).input, periods)
      for (const { first, kind, id } of periods.map((one) => parsePeriod(one)!)) {
        if (kind !== period) continue
        if (kept.length > 1 && first < dayNumber(latest.effective_from)) continue
        const found = figuresOf(simulated(world, plan, latest, first), periods)
        expect(found, `${seed} ${plan} ${id}`).toEqual(expected)
        compared += Object.keys(expected).length
      }
    }
  }
  expect(compared).toBeGreaterThan(WORLDS)
})

test('simulating a version from the first period on equals a plan that had it from the start', () => {
  let changed = 0
  for (const seed of seeds) {
    const world = randomWorld(seed)
    const { input } = open(world)
    for (const { plan, versions } of world.plans) {
      const { period, currency, terms, effective_from } = termsOf(versions[0])
      for (const other of world.plans.flatMap((one) => one.versions)) {
        const version = { ...termsOf(other), period, currency, terms, effective_from }
        const from = input.firstDay[period]
        const periods = periodsOf(world)
        const found = figuresOf(simulated(world, plan, version, from), periods)
        const fresh = withVersions(world, plan, [{ version: 1, terms: version }])
        expect(found, `${seed} ${plan}`).toEqual(figuresOf(open(fresh).input, periods))
        if (JSON.stringify(found) !== JSON.stringify(figuresOf(input, periods))) changed++
      }
    }
  }
  expect(changed).toBeGreaterThan(WORLDS / 10)
})

test('a simulation changes no period before its first', () => {
  for (const seed of seeds) {
    const world = randomWorld(seed)
    for (const { plan, versions } of world.plans) {
      const { period, currency, terms, effective_from } = termsOf(versions[0])
      const rules = termsOf(world.plans[0]!.versions[0]).rules
      const version = { ...termsOf(versions[0]), period, currency, terms, effective_from, rules }
      const periods = periodsOf(world).map((one) => parsePeriod(one)!)
      const start = periods.filter(({ kind }) => kind === period)[1]
      if (start === undefined) continue
      const before = periods.filter(({ last }) => last < start.first).map(({ id }) => id)
      const overlapping = periodOf(start.first, period === 'month' ? 'week' : 'month')
      const whole = before.filter((id) => id !== overlapping.id)
      const found = figuresOf(simulated(world, plan, version, start.first), whole)
      expect(found, `${seed} ${plan}`).toEqual(figuresOf(open(world).input, whole))
    }
  }
})
