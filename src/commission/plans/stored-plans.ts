import { readPlanRows, type StoredVersion } from '../db/plans.ts'
import type { PlanTerms } from './types.ts'

/** A version of a plan. */
export interface PlanVersion {
  readonly plan: string
  readonly version: number
  readonly effective_from: string
  readonly terms: PlanTerms
}

/** An assignment: from this day on, the plan governs the customers of the affiliate. */
export interface Assignment {
  /** `*` means every affiliate without an assignment of its own. */
  readonly affiliate_id: string
  readonly plan: string
  readonly from: string
  /** Whether it replaces earlier assignments for customers who signed up before. */
  readonly customers: 'new' | 'all'
}

/** All plans and assignments of an account. */
export interface StoredPlans {
  /** The versions that are not withdrawn, by plan and `effective_from`. */
  readonly versions: readonly PlanVersion[]
  /** By affiliate and `from`. */
  readonly assignments: readonly Assignment[]
}

/** Returns all plans and assignments of an account, in one round trip to its database. */
export async function readStoredPlans(db: D1Database, account: string): Promise<StoredPlans> {
  const { versions, assignments } = await readPlanRows(db, account)
  return {
    versions: versions.filter(({ withdrawn_at }) => withdrawn_at === null).map(parseVersion),
    assignments: assignments.map(({ from_day, ...assignment }) => ({
      ...assignment,
      from: from_day,
    })),
  }
}

/** Returns a stored version with its terms, which were validated when they were stored. */
export const parseVersion = ({
  plan,
  version,
  effective_from,
  terms,
}: StoredVersion): PlanVersion => ({ plan, version, effective_from, terms: JSON.parse(terms) })

/**
 * Returns the version in force on a day: the last that began by then, or else the first, which also
 * governs the days before it; null without versions. They are in order of `effective_from`.
 */
export function versionOn<V extends { readonly effective_from: string }>(
  versions: readonly V[],
  day: string,
): V | null {
  return versions.findLast(({ effective_from }) => effective_from <= day) ?? versions[0] ?? null
}
