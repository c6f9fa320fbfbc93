import { totalOf } from './cap.ts'
import { amountAt, type Decimal, greatest, subtract, ZERO } from './decimal.ts'
import type { Line } from './line.ts'
import type { Version } from './plans-in-force.ts'
import type { CompiledShare } from './rules.ts'
import type { PlanInput } from './settle-plan.ts'
import { stateKey } from './state.ts'

/**
 * Returns what the `once` rule that a share recoups paid: under the same version, or under `current`
 * under any, since a deficit passes on to later versions.
 */
export const recoupedBy = (rule: CompiledShare, version: Version, once: readonly Line[]): Decimal =>
  totalOf(
    once.filter(
      (one) =>
        one.rule.id === rule.recoups && (version.terms === 'current' || one.version === version),
    ),
  )

/**
 * Recoups what a `once` rule paid from a share (§12 "Advance"): it pays max(0, s − o − deficit), and
 * the new deficit is max(0, deficit + o − s).
 *
 * @param once The lines of all `once` rules of the plan in the period, after caps.
 */
export function applyAdvance({ state }: PlanInput, line: Line, once: readonly Line[]): Line {
  const { rule, version } = line
  if (rule.kind !== 'share' || rule.recoups === null) return line
  const key = stateKey(rule.id, version, line.scope)
  const paidOnce = recoupedBy(rule, version, once)
  const share = line.amount
  const due = subtract(subtract(share, paidOnce), amountAt(state.deficits, key))
  const amount = greatest(due, ZERO)
  const deficit = greatest(subtract(ZERO, due), ZERO)
  state.deficits.set(key, deficit)
  return { ...line, amount, recouped: subtract(greatest(share, ZERO), amount), deficit }
}
