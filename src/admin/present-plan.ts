import type { findVersion, VersionHead } from '../db/commission/plans.ts'

/** Returns a version as its plan lists it, without its terms. */
export const presentHead = ({
  version,
  effective_from,
  name,
  created_at,
  withdrawn_at,
}: VersionHead) => ({
  version,
  effective_from,
  name,
  created_at,
  withdrawn_at,
})

/** Returns a version with its terms. */
export const presentVersion = (row: NonNullable<Awaited<ReturnType<typeof findVersion>>>) => {
  const { plan, version, effective_from, terms, created_at, withdrawn_at } = row
  return { plan, version, effective_from, terms: JSON.parse(terms), created_at, withdrawn_at }
}

/** Returns a plan as lists show it; `heads` are all its versions, by number. */
export function presentPlan(heads: readonly VersionHead[], today: string) {
  const kept = heads
    .filter(({ withdrawn_at }) => withdrawn_at === null)
    .sort((a, b) => (a.effective_from < b.effective_from ? -1 : 1))
  const inForce = kept.findLast(({ effective_from }) => effective_from <= today)
  const { plan, name, currency, period, terms } = inForce ?? kept[0] ?? heads.at(-1)!
  return { plan, name, currency, period, terms, in_force: inForce?.version ?? null }
}
