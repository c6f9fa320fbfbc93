import * as v from 'valibot'
import * as f from '../../validation/fields.ts'
import type { Issue } from '../../validation/issue.ts'
import { isObject } from '../../validation/record-validator.ts'
import { isFarAhead } from '../drafts/limits.ts'
import {
  dayText,
  nextPeriod,
  type Period,
  type PeriodKind,
  parsePeriod,
} from '../engine/calendar.ts'
import type { Plan, PlansInForce } from '../engine/plans-in-force.ts'
import { type CheckedPlan, checkPlan } from '../plans/check-plan.ts'
import { validateShape } from '../plans/issues.ts'
import type { WarningContext } from '../plans/plan-warnings.ts'
import { objectOf } from '../plans/shapes.ts'
import { SIMULATION_LIMITS } from './limits.ts'

/** The body of a request for a simulation. The version is checked as a plan. */
const simulation = objectOf({
  period: v.exactOptional(f.text),
  from: v.exactOptional(f.text),
  to: v.exactOptional(f.text),
  version: v.any(),
})

/** What a valid request asks for. */
export interface SimulationRequest {
  /** In order. */
  readonly periods: readonly [Period, ...Period[]]
  readonly version: CheckedPlan
}

/** Validates the body of a request to simulate a version of a plan. */
export function parseSimulation(
  body: unknown,
  inForce: PlansInForce,
  plan: Plan,
  context: Omit<WarningContext, 'onceIds'>,
  now: number,
): { issues: Issue[]; request: null } | { issues: []; request: SimulationRequest } {
  const { issues, output } = validateShape(simulation, body)
  if (!output) return { issues, request: null }
  const { periods, issues: wrongPeriods } = parsePeriods(output, plan.first.period, now)
  const [first, ...others] = periods
  const version = checkVersion(output.version, inForce, plan, context, first)
  const found = [...wrongPeriods, ...version.issues.map((one) => below(one))]
  if (!first || found.length > 0 || !version.plan) return { issues: found, request: null }
  const warnings = version.plan.warnings.map((one) => below(one))
  return {
    issues: [],
    request: { periods: [first, ...others], version: { ...version.plan, warnings } },
  }
}

/** Returns an issue or a warning with its pointer below the version. */
const below = <I extends { pointer: string }>(issue: I): I => ({
  ...issue,
  pointer: `/version${issue.pointer}`,
})

/** Validates a version as if it were put. Its `effective_from` has no effect, and may be left out. */
function checkVersion(
  version: unknown,
  inForce: PlansInForce,
  { plan, versions }: Plan,
  context: Omit<WarningContext, 'onceIds'>,
  first: Period | undefined,
) {
  const effective_from = dayText(first?.first ?? versions[0]?.effectiveFrom ?? 0)
  const body = isObject(version) ? { effective_from, ...version } : version
  const others = [...inForce.plans.values()].filter((one) => one.plan !== plan)
  const rules = others.flatMap((one) => one.versions.flatMap(({ source }) => source.rules))
  return checkPlan(body, {
    ...context,
    onceIds: new Set(rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : []))),
    // The version is not stored, so it may begin on the day of another.
    versions: versions.map((one) => ({ ...one.source, version: one.version, effective_from: '' })),
  })
}

/** The periods of a request: `period`, or `from` and `to`. */
interface PeriodMembers {
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
function parsePeriods(members: PeriodMembers, kind: PeriodKind, now: number): Found {
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
