import type { Issue } from '../../validation/issue.ts'
import { isFarAhead } from '../drafts/limits.ts'
import { nextPeriod, type Period, type PeriodKind, parsePeriod } from '../engine/calendar.ts'
import { SIMULATION_LIMITS } from './limits.ts'

/** The periods of a request: `period`, or `from` and `to`. */
export interface PeriodMembers {
  readonly period?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

interface Found {
  readonly issues: Issue[]
  /** In order; empty if there are issues. */
  readonly periods: Period[]
}

const refused = (...issues: Issue[]): Found => ({ issues, periods: [] })

/** Returns the periods of a request, which are of a plan's kind, or what is wrong with them. */
export function parsePeriods(members: PeriodMembers, kind: PeriodKind, now: number): Found {
  const { period, from, to } = members
  if (period !== undefined) {
    if (from !== undefined || to !== undefined) return refused(oneForm('more than one'))
    const found = parseOne('period', period, kind, now)
    return 'issue' in found ? refused(found.issue) : { issues: [], periods: [found.period] }
  }
  if (from === undefined && to === undefined) return refused(oneForm())
  if (from === undefined) return refused(missing('from'))
  if (to === undefined) return refused(missing('to'))
  const first = parseOne('from', from, kind, now)
  const last = parseOne('to', to, kind, now)
  if ('issue' in first || 'issue' in last) {
    return refused(...[first, last].flatMap((one) => ('issue' in one ? [one.issue] : [])))
  }
  return between(first.period, last.period)
}

const oneForm = (received?: string): Issue => ({
  pointer: '',
  code: 'choice',
  expected: 'from, period',
  ...(received !== undefined && { received }),
})

type Member = keyof PeriodMembers

const missing = (name: Member): Issue => ({ pointer: `/${name}`, code: 'required' })

const FORMS = { month: 'a month such as `2026-10`', week: 'a week such as `2026-W41`' }

function parseOne(
  name: Member,
  value: string,
  kind: PeriodKind,
  now: number,
): { issue: Issue } | { period: Period } {
  const pointer = `/${name}`
  const period = parsePeriod(value)
  if (period?.kind !== kind) {
    return { issue: { pointer, code: 'pattern', expected: FORMS[kind], value } }
  }
  if (!isFarAhead(period, now)) return { period }
  const expected = `${FORMS[kind]}, at most 10 years ahead`
  return { issue: { pointer, code: 'pattern', expected, value } }
}

function between(first: Period, last: Period): Found {
  const pointer = '/to'
  const value = last.id
  if (last.first < first.first) {
    return refused({ pointer, code: 'minimum', expected: first.id, value })
  }
  const periods = [first]
  for (let one = first; one.first < last.first; ) {
    if (periods.length === SIMULATION_LIMITS.periods) {
      const instruction = `A simulation has at most ${SIMULATION_LIMITS.periods} periods.`
      return refused({ pointer, code: 'maximum', expected: one.id, value, instruction })
    }
    one = nextPeriod(one, 1)
    periods.push(one)
  }
  return { issues: [], periods }
}
