import { expect, test } from 'vitest'
import { checkPlan } from '../../src/commission/plans/check-plan.ts'
import { contextOf } from './plan-values.ts'
import { randomWorld } from './worlds.ts'

// The random plans of the model test come from the text of the contract alone. The validation must
// accept them, or the two understand the contract differently.

const WORLDS = 300

const ACTIVITY = ['lots_traded', 'pnl', 'volume_usd', 'spread_cost', 'commission']

/**
 * In random worlds partners of either vertical send every field of trading activity, and name countries as
 * brands do.
 */
function withAnyActivity(vertical: string) {
  const context = contextOf(vertical)
  const activity = context.vocabulary.activity && ACTIVITY
  return { ...context, vocabulary: { ...context.vocabulary, activity } }
}

test('the validation accepts every plan of random worlds', () => {
  const refused: unknown[] = []
  let plans = 0
  for (let seed = 1; seed <= WORLDS; seed++) {
    const world = randomWorld(seed)
    for (const { versions } of world.plans) {
      for (const { terms, version } of versions) {
        plans += 1
        const { issues } = checkPlan(terms, withAnyActivity(world.vertical))
        if (issues.length > 0) refused.push({ seed, version, issues })
      }
    }
  }
  expect(plans).toBeGreaterThan(WORLDS)
  expect(refused).toEqual([])
})
