import { refuseArchived } from '../../db/archive/archived.ts'
import {
  type AssignmentChange,
  type ClosedTerms,
  findClosedTerms,
  firstChangedDay,
} from '../../db/commission/books/booked.ts'
import type { StoredAssignment, StoredVersion } from '../../db/commission/plans.ts'
import { ApiError } from '../../errors.ts'
import type { Issue } from '../../validation/issue.ts'
import { quote } from '../../validation/quote.ts'
import { dayNumber, dayText, parsePeriod, periodOf } from '../engine/calendar.ts'
import { type CheckedPlan, checkClosed, checkPlan, type WarningContext } from './check-plan.ts'
import { PLAN_LIMITS } from './limits.ts'
import { parseVersion } from './stored-plans.ts'

/** Returns a change of an assignment with the periods in which its first day lies. */
export function toChange(
  { affiliate_id, from_day, plan, customers }: StoredAssignment,
  isDeleted: boolean,
): AssignmentChange {
  const day = dayNumber(from_day)
  const [month, week] = (['month', 'week'] as const).map((kind) => periodOf(day, kind).id)
  return {
    affiliate_id,
    from_day,
    plan,
    customers: isDeleted ? null : customers,
    month: month ?? '',
    week: week ?? '',
  }
}

/**
 * Checks that assignments begin after the closed periods of their affiliates (§16.7), and after archived months.
 *
 * @throws ApiError `conflict`
 * @throws MonthArchived
 */
export async function checkClosedTerms(
  db: D1Database,
  account: string,
  changes: readonly AssignmentChange[],
): Promise<void> {
  const found = await findClosedTerms(db, account, changes)
  if (found.length > 0) throw closedTerms(found)
  const from = await firstChangedDay(db, account, changes)
  if (from !== null) await refuseArchived(db, account, from)
}

const lastDayOf = ({ period }: ClosedTerms) => parsePeriod(period)?.last ?? 0

function closedTerms(found: readonly ClosedTerms[]) {
  const [last] = found.toSorted((a, b) => lastDayOf(b) - lastDayOf(a))
  if (!last) return new ApiError('conflict')
  const { affiliate_id, from_day, plan, period } = last
  const whose =
    affiliate_id === '*' ? 'an affiliate that `*` covers' : `affiliate ${quote(affiliate_id)}`
  const first = dayText(lastDayOf(last) + 1)
  return new ApiError('conflict', {
    detail: `The assignment from ${from_day} on would change the period ${period} of the plan ${quote(plan)}, which is closed for ${whose}. Assign from ${first} or a later day. Nothing was changed.`,
  })
}

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
  | { outcome: 'refused'; code: 'newer_version' | 'conflict'; detail: string }
  | { outcome: 'unchanged' | 'created'; version: number; plan: CheckedPlan }

/** What a put depends on beside the stored plans. */
export interface PutContext extends Omit<WarningContext, 'onceIds'> {
  /** The number of the last version that the sender has seen; null if they do not say. */
  readonly after: number | null
}

/** Returns why a version is not stored after others that the sender has not seen, as a sentence. */
const unseen = (last: number): string =>
  `Version ${last} of this plan was stored since. Nothing was changed. Read it, and send \`after=${last}\` if the version is still meant.`

/**
 * Decides what a body put under the name of a plan does: it creates the next version, unless the
 * latest version has the same terms.
 */
export function decidePut(
  plan: string,
  body: unknown,
  { versions, last, closed }: StoredPlans,
  { after, ...context }: PutContext,
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
  if (after !== null && after < last) {
    return { outcome: 'refused', code: 'newer_version', detail: unseen(last) }
  }
  const asNew = check(0)
  if (!asNew.plan) return { outcome: 'invalid', issues: asNew.issues }
  const issues = checkClosed(asNew.plan.terms, closed)
  if (issues.length > 0) return { outcome: 'invalid', issues }
  const detail = findExcess(plan, asNew.plan.text, versions, last)
  if (detail !== null) return { outcome: 'refused', code: 'conflict', detail }
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
