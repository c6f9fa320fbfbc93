import { applyMax } from './cap.ts'
import { type Line, newLine } from './line.ts'
import { earlierOf, keepMeasure, measureOf, quantityOf } from './measure.ts'
import { addRatio, NOTHING, type Ratio, roundRatio, sumRatios } from './ratio.ts'
import type { CompiledUnitRule } from './rules.ts'
import { type PlanInput, rulesWith } from './settle-plan.ts'
import { applyRate } from './tiers.ts'

/** Makes the lines of the unit rules with an id: one for each version with facts. */
export function settleUnit(input: PlanInput, id: string): Line[] {
  const rules = rulesWith<CompiledUnitRule>(input, 'unit', id)
  const counted = rules.flatMap(({ version, rule, tally }) =>
    tally && tally.tally.total.facts > 0
      ? [{ version, rule, total: tally.tally.total, quantity: quantityOf(rule, tally) }]
      : [],
  )
  const own = sumRatios(counted.map(({ quantity }) => quantity))
  let before: Ratio = NOTHING
  const lines = counted.map(({ version, rule, total, quantity }) => {
    const start = addRatio(earlierOf(input, rule, version), before)
    const rated = applyRate(rule, quantity, measureOf(input, version, rule, own), start)
    before = addRatio(before, quantity)
    return newLine({
      rule,
      version,
      scope: 'affiliate',
      units: total.units,
      measure: rated.measure,
      step: rated.step,
      rate: rated.rate,
      amount: roundRatio(rated.paid, version.digits),
    })
  })
  keepMeasure(input, id, own)
  return applyMax(lines)
}
