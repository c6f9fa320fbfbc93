import { applyAdvance } from './advance.ts'
import { add, type Decimal } from './decimal.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import type { Plan } from './plans-in-force.ts'
import { type HoldReason, rankOf } from './reasons.ts'
import { settleOnce } from './settle-once.ts'
import { type PlanInput, ruleOrder, rulePositions } from './settle-plan.ts'
import { settleShare } from './settle-share.ts'
import { settleUnit } from './settle-unit.ts'

/** Facts or lines of a rule that wait, as a statement lists them. */
export interface StatementHold {
  readonly rule: string
  readonly version: number
  readonly reason: HoldReason
  readonly currency: string | null
  readonly count: number
  readonly sum: Decimal
}

/**
 * Makes the lines of one affiliate, plan and period from its facts: all rules but overrides. It changes
 * the carries, deficits and measures of the input's state.
 */
export function settlePlan(input: PlanInput): Line[] {
  const order = ruleOrder(input.plan)
  const once = order.flatMap(({ id, kinds }) => (kinds.has('once') ? settleOnce(input, id) : []))
  return order.flatMap(({ id, kinds }) => {
    const lines = [
      ...once.filter(({ rule }) => rule.id === id),
      ...(kinds.has('share') ? settleShare(input, id, once) : []),
      ...(kinds.has('unit') ? settleUnit(input, id) : []),
    ]
    return inOrder(lines).map((line) => applyAdvance(input, line, once))
  })
}

/** Orders the lines of a rule by version, then scope. */
export const inOrder = (lines: readonly Line[]): Line[] =>
  [...lines].sort((a, b) => a.version.version - b.version.version || compareText(a.scope, b.scope))

/** Lists what the rules of a plan wait for in the period, and the measures of those with a line. */
export function holdsOf(
  { plan, tallies }: Pick<PlanInput, 'plan' | 'tallies'>,
  lines: readonly Line[],
): StatementHold[] {
  const measures = [...tallies.measureHolds].filter(([rule]) =>
    lines.some((line) => line.rule === rule),
  )
  const found = [...tallies.holds, ...measures].flatMap(([rule, { version, byReason }]) =>
    version.plan === plan.plan
      ? [...byReason.values()].map((hold) => ({
          rule: rule.id,
          version: version.version,
          ...hold,
        }))
      : [],
  )
  return mergeHolds(plan, found)
}

/** Adds up holds of one rule, version, reason and currency, in the order of the plan's rules. */
export function mergeHolds(plan: Plan, holds: readonly StatementHold[]): StatementHold[] {
  const merged = new Map<string, StatementHold>()
  for (const hold of holds) {
    const { rule, version, reason, currency } = hold
    const key = JSON.stringify([rule, version, reason, currency])
    const known = merged.get(key)
    merged.set(key, known ? addHolds(known, hold) : hold)
  }
  const positionOf = rulePositions(plan)
  return [...merged.values()].sort(
    (a, b) =>
      positionOf(a.rule) - positionOf(b.rule) ||
      compareText(a.rule, b.rule) ||
      a.version - b.version ||
      rankOf(a.reason) - rankOf(b.reason) ||
      compareText(String(a.currency), String(b.currency)),
  )
}

const addHolds = (a: StatementHold, b: StatementHold): StatementHold => ({
  ...a,
  count: a.count + b.count,
  sum: add(a.sum, b.sum),
})
