import type { FraudWorld, WorldFinding } from '../fraud-world.ts'
import { before, sceneOf } from './account.ts'
import { findings } from './kinds.ts'

/** Returns what the oracle finds of an affiliate. */
export function expectedOf(
  world: FraudWorld,
  kind: string,
  parameters: unknown,
  { first, last }: { first: string; last: string },
  affiliate: string,
): WorldFinding[] {
  const found: WorldFinding[] = []
  for (let day = first; day <= last; day = before(day, -1))
    found.push(...findings(kind, sceneOf(world, affiliate, day), parameters))
  return found
}

/** Returns findings in order of day and subject. */
export const sorted = (found: readonly WorldFinding[]) =>
  found
    .map((one) => ({ key: JSON.stringify([one.day, one.subject]), one }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ one }) => one)
