import * as v from 'valibot'
import * as f from '../../validation/fields.ts'
import type { Issue } from '../../validation/issue.ts'
import { isObject } from '../../validation/record-validator.ts'
import { dayText, type Period } from '../engine/calendar.ts'
import type { Plan, PlansInForce } from '../engine/plans-in-force.ts'
import { type CheckedPlan, checkPlan } from '../plans/check-plan.ts'
import { validateShape } from '../plans/issues.ts'
import type { WarningContext } from '../plans/plan-warnings.ts'
import { objectOf } from '../plans/shapes.ts'
import { parsePeriods } from './parse-periods.ts'

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
