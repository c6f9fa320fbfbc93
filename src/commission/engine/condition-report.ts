import { dayText } from './calendar.ts'
import { isPositive, plainText, subtract, ZERO } from './decimal.ts'
import type { Progress } from './qualify.ts'

/** How far a condition of `qualify` is. */
export interface ConditionReport {
  /** The condition as the plan has it. */
  readonly condition: unknown
  readonly status: 'met' | 'open' | 'failed' | 'waiting'
  readonly met_on: string | null
  readonly reached: string | null
  readonly min: string | null
  /** What is missing to reach `min`; null unless a sum or count is open or failed. */
  readonly missing: string | null
  /** The last day of its window; null if it has none. */
  readonly until: string | null
  /** The failing customer condition, such as `kyc`. */
  readonly fails: string | null
}

/** Reports one condition of `qualify` at the end of a day; `condition` is as the plan has it. */
export function reportCondition(
  progress: Progress,
  condition: unknown,
  isCustomer: boolean,
  through: number,
): ConditionReport {
  const nothing = {
    met_on: null,
    reached: null,
    min: null,
    missing: null,
    until: null,
    fails: null,
  }
  if (progress.status === 'met') {
    return { ...nothing, condition, status: 'met', met_on: dayText(progress.day) }
  }
  if (progress.status === 'blocked') return { ...nothing, condition, status: 'waiting' }
  const { reached, min, until } = progress
  const missing = min && subtract(min, reached ?? ZERO)
  return {
    condition,
    status: until !== null && until <= through ? 'failed' : 'open',
    met_on: null,
    reached: reached && plainText(reached),
    min: min && plainText(min),
    missing: missing && isPositive(missing) ? plainText(missing) : null,
    until: until === null ? null : dayText(until),
    fails: isCustomer ? (progress.condition ?? 'customer') : null,
  }
}
