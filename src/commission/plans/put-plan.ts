import { ApiError } from '../../platform/errors.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import { dayNumber, dayText, parsePeriod, periodOf } from '../../platform/money/calendar.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import { quote } from '../../platform/validation/quote.ts'
import { type AssignmentChange, type ClosedTerms, findClosedTerms } from '../db/closed-terms.ts'
import type { StoredAssignment, StoredVersion } from '../db/plans.ts'
import { type CheckedPlan, checkClosed, checkPlan } from './check-plan.ts'
import { parseVersion } from './stored-plans.ts'
import type { Vocabulary } from './vocabulary.ts'

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
 * Checks that assignments begin after the closed periods of their affiliates (§16.7).
 *
 * @throws ApiError `conflict`
 */
export async function checkClosedTerms(
  db: D1Database,
  account: string,
  changes: readonly AssignmentChange[],
): Promise<void> {
  const found = await findClosedTerms(db, account, changes)
  if (found.length > 0) throw closedTerms(found)
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
interface StoredPlans {
  /** The versions of all its plans. */
  versions: readonly StoredVersion[]
  /** The last closed period of the plan; null if it has none. */
  closed: string | null
}

/** What putting a plan does. */
export interface PutDecision {
  readonly outcome: 'unchanged' | 'created'
  readonly version: number
  readonly plan: CheckedPlan
}

/** Throws `newer_version` if a version is stored that the sender has not seen; \`after\` is the last one they have. */
export function checkSeen(after: number | undefined, last: number): void {
  if (after === undefined || after >= last) return
  const detail =
    after === 0
      ? 'The name is taken. Nothing was changed. Choose another name, or read what is stored and change that.'
      : `Version ${last} was stored since. Nothing was changed. Read it, and send \`after=${last}\` if yours is still meant.`
  throw new ApiError('newer_version', { detail })
}

/**
 * Decides what a body put under the name of a plan does: it creates the next version, unless the
 * latest version has the same terms.
 *
 * @throws ApiError `validation_failed`, `newer_version`, `conflict`
 */
export function decidePut(
  plan: string,
  body: unknown,
  { versions: all, closed }: StoredPlans,
  { after, vocabulary }: { after: number | undefined; vocabulary: Vocabulary },
): PutDecision {
  const versions = all.filter(({ withdrawn_at }) => withdrawn_at === null)
  const parsed = versions.map(parseVersion)
  const own = parsed.filter((one) => one.plan === plan)
  const lastOf = (some: readonly { plan: string; version: number }[]) =>
    Math.max(0, ...some.flatMap((one) => (one.plan === plan ? [one.version] : [])))
  const latest = lastOf(own)
  const latestText = versions.find((one) => one.plan === plan && one.version === latest)?.terms
  const isUnchanged = canonicalJson(body) === latestText
  if (!isUnchanged) checkSeen(after, lastOf(all))
  const { issues, plan: checked } = checkPlan(body, {
    vocabulary,
    versions: own
      .filter(({ version }) => !isUnchanged || version !== latest)
      .map(({ version, terms }) => ({ ...terms, version })),
  })
  if (!checked) throw validationFailed(issues)
  if (isUnchanged) return { outcome: 'unchanged', version: latest, plan: checked }
  const closedIssues = checkClosed(checked.terms, closed)
  if (closedIssues.length > 0) throw validationFailed(closedIssues)
  return { outcome: 'created', version: lastOf(all) + 1, plan: checked }
}
