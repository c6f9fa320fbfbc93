import type { StoredVersion } from '../../db/commission/plans.ts'
import type { Issue } from '../../validation/issue.ts'
import { type CheckedPlan, checkPlan } from './check-plan.ts'
import { checkClosed } from './check-versions.ts'
import { PLAN_LIMITS } from './limits.ts'
import type { WarningContext } from './plan-warnings.ts'
import { parseVersion } from './stored-plans.ts'

/** What an account has stored before a plan is put. */
export interface StoredPlans {
  /** The versions of all its plans that are not withdrawn. */
  versions: readonly StoredVersion[]
  /** The number of the last version of the plan, withdrawn ones included; 0 if it is new. */
  last: number
  /** The last closed period of the plan; null if it has none. */
  closed: string | null
}

/** What putting a plan does. */
export type PutDecision =
  | { outcome: 'invalid'; issues: Issue[] }
  | { outcome: 'too_many'; detail: string }
  | { outcome: 'unchanged' | 'created'; version: number; plan: CheckedPlan }

/**
 * Decides what a body put under the name of a plan does: it creates the next version, unless the
 * latest version has the same terms.
 */
export function decidePut(
  plan: string,
  body: unknown,
  { versions, last, closed }: StoredPlans,
  context: Omit<WarningContext, 'onceIds'>,
): PutDecision {
  const parsed = versions.map(parseVersion)
  const own = parsed.filter((one) => one.plan === plan)
  const latest = own.reduce((max, { version }) => Math.max(max, version), 0)
  const rules = parsed.filter((one) => one.plan !== plan).flatMap(({ terms }) => terms.rules)
  const onceIds = new Set(rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : [])))
  const others = own.map(({ version, terms }) => ({ ...terms, version }))
  const check = (without: number) =>
    checkPlan(body, {
      ...context,
      onceIds,
      versions: others.filter(({ version }) => version !== without),
    })
  const latestText = versions.find((one) => one.plan === plan && one.version === latest)?.terms
  const asLatest = check(latest)
  if (asLatest.plan && asLatest.plan.text === latestText) {
    return { outcome: 'unchanged', version: latest, plan: asLatest.plan }
  }
  const asNew = check(0)
  if (!asNew.plan) return { outcome: 'invalid', issues: asNew.issues }
  const issues = checkClosed(asNew.plan.terms, closed)
  if (issues.length > 0) return { outcome: 'invalid', issues }
  const detail = findExcess(plan, asNew.plan.text, versions, last)
  if (detail !== null) return { outcome: 'too_many', detail }
  return { outcome: 'created', version: last + 1, plan: asNew.plan }
}

/** Returns the limit of an account that another version would exceed, as a sentence; else null. */
function findExcess(
  plan: string,
  text: string,
  versions: readonly StoredVersion[],
  last: number,
): string | null {
  const plans = new Set(versions.map((version) => version.plan))
  if (plans.add(plan).size > PLAN_LIMITS.plans) {
    return `An account has at most ${PLAN_LIMITS.plans} plans.`
  }
  if (last >= PLAN_LIMITS.versions) {
    return `A plan has at most ${PLAN_LIMITS.versions} versions. Put the terms under the name of a new plan.`
  }
  const bytes = (one: string) => new TextEncoder().encode(one).length
  const all = versions.reduce((sum, { terms }) => sum + bytes(terms), bytes(text))
  if (all <= PLAN_LIMITS.accountBytes) return null
  return `The versions of all plans of an account have at most ${PLAN_LIMITS.accountBytes / 1024 / 1024} MiB of JSON.`
}
