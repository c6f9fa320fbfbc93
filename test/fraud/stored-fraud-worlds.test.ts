import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { beginningsOf } from '../../src/commission/statements/days.ts'
import { openSource } from '../../src/commission/statements/source.ts'
import { findAccount } from '../../src/db/directory/accounts.ts'
import { kindsOf } from '../../src/fraud/kinds.ts'
import { openViews, readViews } from '../../src/fraud/read-views.ts'
import { shuffleWorld } from '../commission/shuffle-world.ts'
import { randomSource } from '../commission/worlds.ts'
import type { FraudWorld } from './fraud-world.ts'
import { expectedOf, sorted } from './oracle/findings.ts'
import { fraudWorld, randomParameters } from './random-worlds.ts'
import { storeFraudWorld } from './stored-fraud-world.ts'
import { findingsIn, ruleOf, viewer, wantedDays } from './world-findings.ts'

// What is read from the database has the findings that the records in memory have, which worlds.test.ts
// compares with an oracle; in whatever order the records were stored.

const WORLDS = env.MODEL_RUNS || 12
const FIRST_SEED = env.SEED * 4_000_000
const ALL = Number.POSITIVE_INFINITY

/** Codes of links begin in 2026, and have whole milliseconds. */
const withCodes = (world: FraudWorld): FraudWorld => ({
  ...world,
  clicks: Object.fromEntries(
    Object.entries(world.clicks).filter(([, at]) => at >= Date.UTC(2026, 0, 1)),
  ),
})

test(`${WORLDS} random worlds have the same findings from the database as in memory`, {
  timeout: 3_600_000,
}, async () => {
  let findings = 0
  let clicked = 0
  let shared = 0
  for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed++) {
    const { world: random, days } = fraudWorld(seed)
    const world = withCodes(random)
    const account = `fraud-${seed}`
    await storeFraudWorld({ ...world, ...shuffleWorld(world, seed) } as FraudWorld, account)
    const source = await openSource(env as Env, (await findAccount(env.DB, account))!)
    const beginnings = await beginningsOf(source)
    const affiliates = world.affiliates.map(({ affiliate_id }) => affiliate_id)
    const viewsOf = viewer(world)
    const from = randomSource(seed)
    for (const kind of kindsOf(world.vertical)) {
      const rule = ruleOf(kind, randomParameters(from, kind.kind))
      const wanted = wantedDays(rule, days)
      const opened = await openViews(source, beginnings, wanted)
      const { views } = await readViews(opened, affiliates, wanted, ALL)
      for (const affiliate of affiliates) {
        const label = `seed ${seed}, ${kind.kind}, ${affiliate}`
        const stored = findingsIn(rule, views.get(affiliate)!)
        // Who shares an identity is found by SQL alone.
        const expected =
          kind.kind === 'shared_identity'
            ? sorted(expectedOf(world, kind.kind, rule.parameters, days, affiliate))
            : sorted(findingsIn(rule, viewsOf(rule, days, affiliate)))
        expect(sorted(stored), label).toEqual(expected)
        if (kind.kind === 'shared_identity') shared += expected.length
        findings += expected.length
        if (kind.kind === 'click_to_signup') clicked += expected.length
      }
    }
  }
  expect(findings).toBeGreaterThan(20 * WORLDS)
  expect(clicked).toBeGreaterThan(0)
  expect(shared).toBeGreaterThan(WORLDS)
})
