import { DAY_MS } from '../../durations.ts'
import type { Issue } from '../../validation/issue.ts'
import type { PlanTerms } from '../engine/plan.ts'

/** The members that belong to a plan: all its versions have the same values. */
const OF_PLAN = ['currency', 'period', 'terms'] as const

/** The version of a plan to which others are compared. */
export type OtherVersion = Pick<PlanTerms, (typeof OF_PLAN)[number] | 'effective_from'> & {
  readonly version: number
}

/** Returns the issues of a version beside the plan's other versions that are not withdrawn. */
export function checkVersions(plan: PlanTerms, others: readonly OtherVersion[]): Issue[] {
  const [first] = others
  const changed = OF_PLAN.flatMap((name): Issue[] =>
    first && first[name] !== plan[name]
      ? [{ pointer: `/${name}`, code: 'fixed_by_plan', expected: first[name], value: plan[name] }]
      : [],
  )
  const value = plan.effective_from
  const same = others.find(({ effective_from }) => effective_from === value)
  if (!same) return changed
  const expected = `the \`effective_from\` of version ${same.version}`
  const instruction = 'Send another day, or withdraw that version if it was never in force.'
  const pointer = '/effective_from'
  return [...changed, { pointer, code: 'duplicate', expected, value, instruction }]
}

/** Returns an issue if the version of a plan of `current` terms does not begin with a period. */
export function checkFirstDay({ effective_from, period, terms }: PlanTerms): Issue[] {
  if (terms !== 'current') return []
  const begin = firstDayOf(effective_from, period)
  if (begin === effective_from) return []
  const next = firstDayOf(dayAfter(begin, period === 'week' ? 7 : 31), period)
  return [
    {
      pointer: '/effective_from',
      code: 'pattern',
      expected: FIRST_DAYS[period],
      value: effective_from,
      instruction: `Send \`${begin}\` or \`${next}\`.`,
    },
  ]
}

const FIRST_DAYS = { month: 'the first day of a month', week: 'a Monday' }

/** Returns the first day of the period in which a day lies. */
function firstDayOf(day: string, period: PlanTerms['period']): string {
  if (period === 'month') return `${day.slice(0, 8)}01`
  // Sunday is 0 in JavaScript; a week of ISO 8601 begins on Monday.
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  return dayAfter(day, -weekday)
}

const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
