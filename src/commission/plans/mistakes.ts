import {
  compare,
  decimal,
  floorTo,
  integer,
  multiply,
  plainText,
  sum,
} from '../../platform/money/decimal.ts'
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

/** Warns of rules that pay more than 100 % of what they count, alone or, where they have no conditions, together. */
export function warnOfShares({ rules }: PlanTerms): Warning[] {
  const alone = rules
    .flatMap((rule, i) => membersOf(rule, i, ['percent']))
    .filter(([, text]) => compare(decimal(text), HUNDRED) > 0)
    .map(([pointer, text]) => ({ pointer, message: `${quote(text)} is more than 100 %.` }))
  const shares = Map.groupBy(rules.flatMap(sharesOf), ({ what }) => what)
  const together = [...shares].flatMap(([what, own]) => {
    const total = sum(own.map(({ percent }) => percent))
    const message = `Of ${quote(what)}, the rules pay ${plainText(total)} % together.`
    return compare(total, HUNDRED) > 0 ? [{ pointer: '/rules', message }] : []
  })
  return (alone.length > 0 ? alone : together).map((one) => ({ code: 'over_100', ...one }))
}

/** Returns the greatest share that a rule pays of each thing, if it counts it of every customer. */
function sharesOf(rule: Rule, i: number) {
  const most = membersOf(rule, i, ['percent'])
    .map(([, text]) => decimal(text))
    .sort(compare)
    .at(-1)
  const isOfBelow = rule.kind === 'override' && rule.funded_by !== 'downline' && 'base' in rule.of
  const base = rule.kind === 'share' ? rule.base : isOfBelow ? rule.of.base : []
  return base.flatMap((term) => {
    if (!most || rule.when || 'of' in term || 'fixed' in term || term.when) return []
    const { times = '1', name: _, ...fact } = term
    const names = 'transactions' in fact ? fact.transactions : [Object.values(fact).join(' ')]
    const percent = multiply(most, decimal(times))
    return times.startsWith('-') ? [] : names.map((what) => ({ what, percent }))
  })
}
