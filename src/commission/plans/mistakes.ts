import { compare, decimal, floorTo, integer } from '../../platform/money/decimal.ts'
import { minorDigits } from '../../platform/money/minor-digits.ts'
import { quote } from '../../platform/validation/quote.ts'
import type { Warning } from '../../platform/validation/warnings.ts'
import type { PlanTerms, Rule } from './types.ts'

// What a plan may say and is probably a mistake (§16.36): more than 100 %, and amounts that cannot be paid.

/** The amounts that bound what a rule pays. */
const BOUNDS = ['min_amount', 'max_amount', 'max_per_customer', 'max'] as const

/** Returns members of a rule, and of the steps of its tiers, with their pointers. */
function membersOf(rule: Rule, i: number, names: readonly string[]): [at: string, text: string][] {
  const steps = (rule.tiers?.steps ?? []).map((step, k) => [`/tiers/steps/${k}`, step] as const)
  return [['', rule] as const, ...steps].flatMap(([at, one]) =>
    names
      .filter((name) => Object.hasOwn(one, name))
      .map((name): [string, string] => [`/rules/${i}${at}/${name}`, Reflect.get(one, name)]),
  )
}

/** Warns of amounts that are paid as they stand and finer than the currency. The amount of a unit may be. */
export function warnOfMinorUnits({ currency, minimum_payout, rules }: PlanTerms): Warning[] {
  const digits = minorDigits(currency)
  const amounts = rules.flatMap((rule, i) => {
    const isOnce = rule.kind === 'once' || (rule.kind === 'override' && 'once' in rule.of)
    return membersOf(rule, i, isOnce ? ['amount', ...BOUNDS] : BOUNDS)
  })
  return [['/minimum_payout', minimum_payout] as const, ...amounts]
    .filter(([, text]) => compare(floorTo(decimal(text), digits), decimal(text)) !== 0)
    .map(([pointer, text]) => ({
      code: 'minor_unit',
      pointer,
      message: `${quote(text)} has more than the ${digits} decimal places of ${currency}, to which every line is rounded.`,
    }))
}

const HUNDRED = integer(100)

/** Warns of rules that pay more than 100 % of what they count. */
export const warnOfShares = ({ rules }: PlanTerms): Warning[] =>
  rules
    .flatMap((rule, i) => membersOf(rule, i, ['percent']))
    .filter(([, text]) => compare(decimal(text), HUNDRED) > 0)
    .map(([pointer, text]) => ({
      code: 'over_100',
      pointer,
      message: `${quote(text)} is more than 100 %.`,
    }))
