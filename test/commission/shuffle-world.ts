import type { World } from './world.ts'
import { randomSource } from './worlds.ts'

/** Returns a world whose records stand in another order. */
export function shuffleWorld(world: World, seed: number): World {
  const { shuffle } = randomSource(seed)
  return {
    ...world,
    affiliates: shuffle(world.affiliates),
    customers: shuffle(world.customers),
    transactions: shuffle(world.transactions),
    activity: shuffle(world.activity),
    events: shuffle(world.events),
    rates: shuffle(world.rates),
    plans: shuffle(world.plans).map(({ plan, versions }) => ({
      plan,
      versions: shuffle(versions),
    })),
    assignments: shuffle(world.assignments),
  }
}
