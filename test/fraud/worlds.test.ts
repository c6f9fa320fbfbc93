import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { KINDS, kindsOf } from '../../src/fraud/kinds.ts'
import { cpa, deposit, worldOf } from '../commission/build.ts'
import { randomSource, seedsFrom } from '../commission/worlds.ts'
import { NOTHING_ELSE } from './fraud-world.ts'
import { before } from './oracle/account.ts'
import { expectedOf, sorted } from './oracle/findings.ts'
import { fraudWorld, randomParameters } from './random-worlds.ts'
import { finder, ruleOf } from './world-findings.ts'

// Rules against their oracle, which was written from the contract: of random worlds each finding, figure and
// record must be the same. `npm run worlds -- model` tries more.

const WORLDS = env.MODEL_RUNS || 8
const FIRST_SEED = env.SEED * 3_000_000 + 180

/** The kinds whose input, who shares an e-mail or an account, is made by SQL: see evaluated-worlds.test.ts. */
const WITHOUT_INPUT = ['shared_identity', 'shared_payee']

test(`${WORLDS} random worlds have the findings of the oracle, day by day as at once`, {
  timeout: 3_600_000,
}, () => {
  const found = new Map(KINDS.map(({ kind }) => [kind, 0]))
  const rare = () => [...found].flatMap(([kind, count]) => (count < 2 ? [kind] : []))
  const isMissing = () => rare().length > WITHOUT_INPUT.length
  for (const seed of seedsFrom(FIRST_SEED, WORLDS, isMissing)) {
    const { world, days } = fraudWorld(seed)
    const from = randomSource(seed)
    const find = finder(world)
    for (const kind of kindsOf(world.vertical)) {
      if (WITHOUT_INPUT.includes(kind.kind)) continue
      const rule = ruleOf(kind, randomParameters(from, kind.kind))
      for (const { affiliate_id } of world.affiliates) {
        const label = `seed ${seed}, ${kind.kind}, ${affiliate_id}`
        const expected = expectedOf(world, kind.kind, rule.parameters, days, affiliate_id)
        const atOnce = find(rule, days, affiliate_id)
        expect(sorted(atOnce), label).toEqual(sorted(expected))
        const day = before(days.last, from.below(6))
        const alone = find(rule, { first: day, last: day }, affiliate_id)
        expect(alone, `${label}, ${day} alone`).toEqual(atOnce.filter((one) => one.day === day))
        found.set(kind.kind, found.get(kind.kind)! + atOnce.length)
      }
    }
  }
  expect(rare(), JSON.stringify([...found])).toEqual(WITHOUT_INPUT)
})

test('who qualifies by an amount without a rate is compared, though the rule may take it back', () => {
  const rule = cpa({ void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 1 } })
  const transactions = [deposit('c1', '2026-01-02', 20, { currency: 'XOF' })]
  const world = { ...worldOf([rule], { transactions }), ...NOTHING_ELSE }
  const parameters = { min_customers: 1, days: 5 }
  const shortLife = ruleOf(KINDS.find(({ kind }) => kind === 'short_life')!, parameters)
  const days = { first: '2026-01-02', last: '2026-01-12' }
  expect(finder(world)(shortLife, days, 'A')).toMatchObject([{ day: '2026-01-07' }])
})
