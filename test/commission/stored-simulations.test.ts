import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import {
  comparePage,
  openSimulation,
  type Simulation,
} from '../../src/commission/run/simulation.ts'
import { readAccount } from '../../src/commission/run/stored-account.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { parsePeriod } from '../../src/platform/money/calendar.ts'
import { open } from './engine.ts'
import { openAccount } from './open-account.ts'
import { parse, plain, sum } from './oracle/rational.ts'
import { storable, storeRates, storeWorld } from './stored-world.ts'
import { periodsOf, randomWorld, seedsFrom } from './worlds.ts'

// A simulation from the database finds what the engine finds with all facts and affiliates in memory,
// on pages of any size.

const WORLDS = env.MODEL_RUNS || 4
const FIRST_SEED = env.SEED * 4_000_000 + 10

/** A row with a difference: affiliate, plan, and the sums in force and simulated. */
type Row = string

/** Returns the rows of all pages. An affiliate that is too large for one is computed alone. */
async function rowsOf(simulation: Simulation, maxFacts: number): Promise<Row[]> {
  const rows: Row[] = []
  let rest = simulation.affiliates
  while (rest.length > 0) {
    let page = await comparePage(simulation, rest, maxFacts)
    if (page.tooLarge !== null) {
      page = await comparePage(simulation, [page.tooLarge], Number.POSITIVE_INFINITY)
    }
    for (const { affiliate_id, plan, current, simulated } of page.data) {
      if (current === simulated) continue
      rows.push([affiliate_id, plan, amount(current), amount(simulated)].join(' '))
    }
    rest = rest.slice(page.affiliates.length)
  }
  return rows.sort()
}

const amount = (text: string): string => plain(parse(text))

test('a simulation from the database equals one in memory', async () => {
  let rows = 0
  for (const seed of seedsFrom(FIRST_SEED, WORLDS, () => rows <= WORLDS / 2)) {
    const world = storable(randomWorld(seed))
    const account = `simulated-${seed}`
    await storeWorld(world, account)
    await storeRates(world)
    const source = await readAccount(env as Env, (await findAccount(env.DB, account))!)
    const { input } = open(world)
    const all = world.plans.flatMap(({ versions }) => versions)
    for (const { plan, versions } of world.plans) {
      const { currency, period: kind, terms } = versions[0]!.terms as PlanTerms
      const other = all[(seed + 1) % all.length]!.terms as PlanTerms
      const version = { ...other, currency, period: kind, terms }
      const periods = periodsOf(world)
        .map((id) => parsePeriod(id)!)
        .filter((one) => one.kind === kind)
        .slice(1)
      const period = periods[seed % periods.length]
      if (period === undefined) continue
      const stored = source.inForce.plans.get(plan)!
      const simulation = await openSimulation(source, stored, version, period)

      const plans = world.plans.map((one) =>
        one.plan === plan ? { plan, versions: [{ version: 1, terms: version }] } : one,
      )
      const sums = [input, open({ ...world, plans }).input].map((one) => {
        const { settle } = openAccount(one)
        const results = simulation.compared.flatMap((each) => settle(each))
        const byKey = Map.groupBy(results, (result) => `${result.affiliate} ${result.plan.plan}`)
        const totalOf = (key: string): string =>
          plain(sum((byKey.get(key) ?? []).map((one) => parse(one.statement?.lines_sum ?? '0'))))
        return { keys: [...byKey.keys()], totalOf }
      })
      const [now, then] = [sums[0]!, sums[1]!]
      const expected = [...new Set([...now.keys, ...then.keys])].flatMap((key): Row[] => {
        const [before, after] = [now.totalOf(key), then.totalOf(key)]
        return before === after ? [] : [`${key} ${before} ${after}`]
      })
      for (const maxFacts of [Number.POSITIVE_INFINITY, 15]) {
        const found = await rowsOf(simulation, maxFacts)
        expect(found, `seed ${seed}, ${plan}, pages of ${maxFacts}`).toEqual(expected.sort())
      }
      rows += expected.length
    }
  }
  expect(rows).toBeGreaterThan(WORLDS / 2)
})
