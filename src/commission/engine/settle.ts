import { applyAdvance } from './advance.ts'
import { add, type Decimal } from './decimal.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import type { HoldReason } from './reasons.ts'
import { settleOnce } from './settle-once.ts'
import { type PlanInput, ruleOrder } from './settle-plan.ts'
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

/** Lists what the rules of a plan wait for in the period. */
export function holdsOf({ plan, tallies }: Pick<PlanInput, 'plan' | 'tallies'>): StatementHold[] {
  const found: StatementHold[] = []
  for (const version of plan.versions) {
    for (const rule of version.rules) {
      const sources = [
        tallies.own.get(rule)?.tally.holds,
        tallies.measures.get(rule)?.tally.holds,
        tallies.network.get(rule)?.tally.holds,
        tallies.onceHolds.get(rule)?.holds,
        ...[...(tallies.overrides.get(rule)?.values() ?? [])].map(({ tally }) => tally.holds),
      ]
      for (const holds of sources) {
        for (const hold of holds?.values() ?? []) {
          found.push({ rule: rule.id, version: version.version, ...hold })
        }
      }
    }
  }
  return mergeHolds(found)
}

const holdKey = ({ rule, version, reason, currency }: StatementHold): string =>
  JSON.stringify([rule, version, reason, currency ?? ''])

/** Adds up holds of one rule, reason and currency, in a fixed order. */
export function mergeHolds(holds: readonly StatementHold[]): StatementHold[] {
  const merged = new Map<string, StatementHold>()
  for (const hold of holds) {
    const key = holdKey(hold)
    const known = merged.get(key)
    merged.set(key, known ? addHolds(known, hold) : hold)
  }
  return [...merged].sort(([a], [b]) => compareText(a, b)).map(([, hold]) => hold)
}

const addHolds = (a: StatementHold, b: StatementHold): StatementHold => ({
  ...a,
  count: a.count + b.count,
  sum: add(a.sum, b.sum),
})
