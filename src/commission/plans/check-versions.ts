import type { Issue } from '../../validation/issue.ts'
import { dayNumber, dayText, firstDayOf, parsePeriod } from '../engine/calendar.ts'
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
  const begin = firstDayOf(dayNumber(effective_from), period)
  if (dayText(begin) === effective_from) return []
  const next = firstDayOf(begin + (period === 'week' ? 7 : 31), period)
  return [
    {
      pointer: '/effective_from',
      code: 'pattern',
      expected: FIRST_DAYS[period],
      value: effective_from,
      instruction: `Send \`${dayText(begin)}\` or \`${dayText(next)}\`.`,
    },
  ]
}

const FIRST_DAYS = { month: 'the first day of a month', week: 'a Monday' }

/** Returns an issue if a new version begins in or before the last closed period of its plan (§12). */
export function checkClosed({ effective_from: value }: PlanTerms, closed: string | null): Issue[] {
  const period = closed === null ? null : parsePeriod(closed)
  if (!period || dayNumber(value) > period.last) return []
  const expected = dayText(period.last + 1)
  const instruction = `The period ${period.id} of this plan is closed. Send \`${expected}\` or a later day.`
  return [{ pointer: '/effective_from', code: 'minimum', expected, value, instruction }]
}
