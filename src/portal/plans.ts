import { readVersions } from '../commission/db/plans.ts'
import { parseVersion } from '../commission/plans/stored-plans.ts'
import type { PlanTerms } from '../commission/plans/types.ts'
import type { MemberVisit } from './visit.ts'

/** The plans that a page names. */
export interface NamedPlans {
  /** Returns the name of a plan, or its id. */
  readonly nameOf: (plan: string) => string
  readonly termsOf: (plan: string, version: number) => PlanTerms | undefined
}

/** Reads the names and the terms of plans. */
export async function readPlans(
  { db, account }: MemberVisit,
  ids: readonly string[],
): Promise<NamedPlans> {
  const versions = (await readVersions(db, account.id, [...new Set(ids)])).map(parseVersion)
  const lastOf = (plan: string) => versions.findLast((one) => one.plan === plan)
  return {
    nameOf: (plan) => lastOf(plan)?.terms.name ?? plan,
    termsOf: (plan, version) =>
      versions.find((one) => one.plan === plan && one.version === version)?.terms,
  }
}
