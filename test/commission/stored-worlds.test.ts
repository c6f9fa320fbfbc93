import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { type OpenAccount, openAccount } from '../../src/commission/run/account.ts'
import { readAccount } from '../../src/commission/run/stored-account.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { parsePeriod } from '../../src/platform/money/calendar.ts'
import { asDraft, evaluate } from './engine.ts'
import { resultsAlone } from './stored.ts'
import { storable, storeRates, storeWorld } from './stored-world.ts'
import type { OutcomeStatement } from './world.ts'
import { periodsOf, randomWorld, seedsFrom, zonedWorld } from './worlds.ts'

// What is read from the database comes to the same bytes as the engine with all facts in memory: whether
// SQL sums facts or not, and for all affiliates together as for each with only what it depends on.
// `npm run worlds -- model` tries more worlds.

const WORLDS = env.MODEL_RUNS || 2
const FIRST_SEED = env.SEED * 2_000_000 + 20
const ALL = Number.POSITIVE_INFINITY

async function computeStatements(
  account: OpenAccount,
  affiliates: readonly string[],
  maxFacts = ALL,
): Promise<OutcomeStatement[]> {
  const results = await resultsAlone(account, affiliates, { maxFacts })
  return results.flatMap(({ statement }) => (statement ? [asDraft(statement)] : []))
}

test(`${WORLDS} random worlds give the same statements from the database as in memory`, async () => {
  let statements = 0
  for (const seed of seedsFrom(FIRST_SEED, WORLDS, () => statements === 0)) {
    // Of three partners one has a book zone.
    const world = storable((seed % 3 === 0 && zonedWorld(seed)) || randomWorld(seed))
    const account = `world-${seed}`
    await storeWorld(world, account)
    await storeRates(world)
    const source = await readAccount(env as Env, (await findAccount(env.DB, account))!)
    const affiliates = world.affiliates.map(({ affiliate_id }) => affiliate_id)
    const periods = periodsOf(world)
    const months = periods.filter((period) => !period.includes('W'))
    const weeks = periods.filter((period) => period.includes('W'))
    for (const period of [months.at(-3), months.at(-2), months.at(-1), weeks.at(-2)]) {
      if (period === undefined) continue
      const [expected] = evaluate(world, [period])
      const label = `seed ${seed}, ${period}`
      const computation = await openAccount(source, parsePeriod(period)!)
      expect(await computeStatements(computation, affiliates), label).toEqual(expected!.statements)
      statements += expected!.statements.length

      for (const affiliate of affiliates) {
        const own = expected!.statements.filter(({ affiliate_id }) => affiliate_id === affiliate)
        const alone = await computeStatements(computation, [affiliate])
        expect(alone, `${label}, ${affiliate} alone`).toEqual(own)
      }
    }
  }
  expect(statements).toBeGreaterThan(0)
})
