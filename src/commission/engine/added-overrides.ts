import type { Period } from './calendar.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import type { Overrides } from './override.ts'
import { planKey } from './plans-in-force.ts'
import type { Ratio } from './ratio.ts'
import type { StatementHold } from './settle.ts'

/** The overrides of one affiliate in a period. */
export type OverridesOf = Overrides & { readonly affiliate: string; readonly period: Period }

/** What overrides bring to a statement. */
interface AddedOverrides {
  readonly lines: readonly Line[]
  readonly funded: readonly Line[]
  readonly measures: readonly (readonly [string, Ratio])[]
  readonly holds: readonly StatementHold[]
}

/**
 * Returns a function that finds the override lines, funded lines and holds of a statement of a period.
 *
 * @param overrides Those of uplines' periods that end in the period: the funded line is in this
 *   period, the earned line in the upline's.
 */
export function overridesByStatement(
  overrides: readonly OverridesOf[],
  period: Period,
): (affiliate: string, plan: string) => AddedOverrides {
  const keyOfLine = (one: { affiliate: string; version: { plan: string } }): string =>
    planKey(one.affiliate, one.version.plan)
  const inPeriod = overrides.filter((one) => one.period.id === period.id)
  const earned = Map.groupBy(inPeriod, keyOfLine)
  const funding = overrides.flatMap((one) => one.funded)
  const funded = Map.groupBy(funding, keyOfLine)
  const waiting = overrides.flatMap((from) => from.holds.map((one) => ({ ...one, from })))
  const holds = Map.groupBy(waiting, keyOfLine)
  return (affiliate, plan) => {
    const key = planKey(affiliate, plan)
    const own = earned.get(key) ?? []
    const held = holds.get(key) ?? []
    const isOwn = ({ from }: { from: OverridesOf }): boolean => own.includes(from)
    return {
      lines: own.flatMap(({ lines }) => lines),
      measures: own.flatMap((one) => [...one.measures].map(([{ id }, sum]) => [id, sum] as const)),
      funded: (funded.get(key) ?? []).map(({ line }) => line).sort(compareFunded),
      holds: [...held.filter(isOwn), ...held.filter((one) => !isOwn(one))].map(({ hold }) => hold),
    }
  }
}

const compareFunded = (a: Line, b: Line): number =>
  compareText(a.scope, b.scope) ||
  compareText(a.rule.id, b.rule.id) ||
  a.version.version - b.version.version
