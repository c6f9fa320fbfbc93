import { addMonths } from '../commission/engine/calendar.ts'
import type { Rule } from '../commission/engine/plan.ts'
import type { PlanVersion } from '../commission/plans/stored-plans.ts'
import { reachOf, ruleDaysOf } from '../fraud/rule-days.ts'
import type { RuleVersion } from '../fraud/stored-rules.ts'

/** The days that a plan or a fraud rule of an account looks back, and which one it is. */
export interface Window {
  readonly days: number
  readonly plan: string | null
  readonly fraud_rule: string | null
}

/**
 * Returns the days that a rule of a plan looks back from a record: to a signup, and from what takes a
 * qualification back. What looks back without a limit reads kept facts.
 */
function daysOf(rule: Rule): number {
  if (rule.kind !== 'once') return 0
  const qualify = (rule.qualify ?? []).map((one) => ('within_days' in one && one.within_days) || 0)
  const grace = Math.ceil((rule.grace_hours ?? 0) / 24)
  return grace + Math.max(0, ...qualify) + (rule.void_by?.within_days ?? 0)
}

/**
 * Returns what looks back most of all plans and fraud rules of an account, by their versions that are not withdrawn;
 * null if none looks back. Of fraud rules it is what applies on a day (since 1970) or later.
 */
export function longestWindow(
  plans: readonly PlanVersion[],
  rules: readonly RuleVersion[],
  today: number,
): Window | null {
  const windows: Window[] = [
    ...plans.map(({ plan, terms }) => ({
      days: Math.max(0, ...terms.rules.map(daysOf)),
      plan,
      fraud_rule: null,
    })),
    ...ruleDaysOf(rules, today, Number.POSITIVE_INFINITY).map((rule) => {
      const { transactions = 0, activities = 0, ...reach } = reachOf([rule])
      const days = Math.max(transactions, reach['trading-activity'] ?? 0, activities)
      return { days, plan: null, fraud_rule: rule.version.rule }
    }),
  ]
  const longest = windows.reduce<Window | null>(
    (most, one) => (one.days > (most?.days ?? 0) ? one : most),
    null,
  )
  return longest
}

/** From which day on the records of an account stay in its database, and why. */
export interface KeptDays {
  /** In days since 1970. */
  readonly from: number
  /** What keeps them longer than the setting of the account does; null if nothing does. */
  readonly by: Window | null
}

/**
 * Returns from which day on records stay.
 *
 * @param months The setting of the account.
 * @param today In days since 1970.
 */
export function keptDaysOf(months: number, longest: Window | null, today: number): KeptDays {
  const from = addMonths(today, -months)
  if (longest === null || today - longest.days >= from) return { from, by: null }
  return { from: today - longest.days, by: longest }
}
