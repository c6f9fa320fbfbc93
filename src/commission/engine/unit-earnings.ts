import type { Context } from './context.ts'
import { type Decimal, fromFact, integer, multiply, PLACES, quotient } from './decimal.ts'
import { type EvaluatedCustomer, evaluateTerm } from './evaluate.ts'
import { amountOf, type Fact } from './facts.ts'
import type { CompiledUnitRule } from './rules.ts'

/** What a unit rule pays for a record. */
export interface UnitPay {
  readonly affiliate: string
  /** In the currency of the plan. */
  readonly amount: Decimal
  readonly currency: string
}

/**
 * Returns what each unit rule pays for a record at its rate: units ÷ `each` × rate, rounded to 12 places.
 * Tiers count at their first step, and limits of the rule are left out: both depend on other records.
 */
export function unitPaysOf(context: Context, evaluated: EvaluatedCustomer, fact: Fact): UnitPay[] {
  const { affiliate, version } = evaluated.ownerOf(fact)
  if (affiliate === null || version === null || fact.state !== 'approved') return []
  return version.rules.flatMap((rule) => {
    if (rule.kind !== 'unit' || !rule.unit.names(fact)) return []
    const { verdict } = evaluateTerm(
      context,
      evaluated.customer,
      version,
      rule,
      rule.unit,
      fact,
      false,
    )
    if (verdict !== 'counted') return []
    return [{ affiliate, amount: payFor(rule, fact), currency: version.currency }]
  })
}

function payFor({ unit, tiers, rate, each }: CompiledUnitRule, fact: Fact): Decimal {
  const units = unit.counts ? integer(fact.count) : fromFact(amountOf(fact, unit.field))
  return quotient(multiply(units, tiers?.steps[0].rate ?? rate), each, PLACES)
}
