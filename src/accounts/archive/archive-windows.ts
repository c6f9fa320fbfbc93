import { factNeeds } from '../../commission/engine/fact-needs.ts'
import type { Rule } from '../../commission/engine/plan.ts'
import { DEFAULT_GRACE_HOURS } from '../../commission/engine/rules.ts'
import type { PlanVersion } from '../../commission/plans/stored-plans.ts'
import { ruleDaysOf } from '../../fraud/rule-days.ts'
import type { RuleVersion } from '../../fraud/stored-rules.ts'

/**
 * Returns the days that a rule of a plan looks back from a record: to a signup, and from what takes a
 * qualification back. Whether a customer has qualified by records that are archived follows from those of any day.
 */
function daysOf(rule: Rule): number {
  if (rule.kind !== 'once') return 0
  const { activity, events } = factNeeds([{ rules: [rule] }])
  if (activity.single.size + events.single.size > 0) return Number.POSITIVE_INFINITY
  const qualify = (rule.qualify ?? []).map((one) => ('within_days' in one && one.within_days) || 0)
  const grace = Math.ceil((rule.grace_hours ?? DEFAULT_GRACE_HOURS) / 24)
  return grace + Math.max(0, ...qualify) + (rule.void_by?.within_days ?? 0)
}

/**
 * Returns how many days the plans and fraud rules of an account look back, by their versions that are not withdrawn;
 * Infinity if they may need any record.
 * Of fraud rules it is what applies on a day (since 1970) or later.
 */
export const longestWindow = (
  plans: readonly PlanVersion[],
  rules: readonly RuleVersion[],
  today: number,
): number =>
  Math.max(
    0,
    ...plans.flatMap(({ terms }) => terms.rules.map(daysOf)),
    ...ruleDaysOf(rules, today, Number.POSITIVE_INFINITY).map(({ kind, parameters }) => {
      const { transactions = 0, activities = 0, ...reach } = kind.reach(parameters)
      return Math.max(transactions, reach['trading-activity'] ?? 0, activities)
    }),
  )
