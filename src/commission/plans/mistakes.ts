import {
  compare,
  type Decimal,
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
import { listed } from '../words/english.ts'
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

/** Warns of rules that pay more than 100 % of what they count, alone or together. */
export function warnOfShares({ rules }: PlanTerms): Warning[] {
  const alone = rules
    .flatMap((rule, i) => membersOf(rule, i, ['percent']))
    .filter(([, text]) => compare(decimal(text), HUNDRED) > 0)
    .map(([pointer, text]) => ({ pointer, message: `${quote(text)} is more than 100 %.` }))
  const parts = Map.groupBy(rules.flatMap(partsOf), ({ what }) => what)
  const together = [...parts].flatMap(([what, own]) =>
    own.flatMap((part) => {
      const all = [part]
      for (const one of own) if (all.every(canMeet(one))) all.push(one)
      const total = sum(all.map(({ percent }) => percent))
      if (compare(total, HUNDRED) <= 0) return []
      const names = [...new Set(all.map(({ rule }) => quote(rule)))].sort()
      const message = `Of ${quote(what)}, ${listed(names)} pay ${plainText(total)} %.`
      return [{ pointer: '/rules', message }]
    }),
  )
  const found = new Map(
    [...alone, ...(alone.length > 0 ? [] : together)].map((one) => [one.message, one]),
  )
  return [...found.values()].map((one) => ({ code: 'over_100', ...one }))
}

/** A share that a rule pays of something. */
interface Part {
  readonly rule: string
  readonly what: string
  readonly conditions: Readonly<Record<string, unknown>>
  /** The greatest. */
  readonly percent: Decimal
}

/** Returns what a rule pays shares of, without what its base deducts and what the downline funds. */
function partsOf(rule: Rule, i: number): Part[] {
  const most = membersOf(rule, i, ['percent'])
    .map(([, text]) => decimal(text))
    .sort(compare)
    .at(-1)
  const isOfBelow = rule.kind === 'override' && rule.funded_by !== 'downline' && 'base' in rule.of
  const base = rule.kind === 'share' ? rule.base : isOfBelow ? rule.of.base : []
  return base.flatMap((term): Part[] => {
    if (!most || 'of' in term || 'fixed' in term || term.times?.startsWith('-')) return []
    const { times = '1', when, name: _, ...fact } = term
    const { transactions, ...others } = { transactions: null, ...fact }
    const names = transactions ?? [Object.values(others).join(' ')]
    const conditions = { ...rule.when, ...when, ...(transactions && others) }
    const percent = multiply(most, decimal(times))
    return names.map((what) => ({ rule: rule.id, what, conditions, percent }))
  })
}

/** Returns whether one record can be counted by both: none asks for another value of a condition than the other. */
const canMeet =
  (one: Part) =>
  (other: Part): boolean =>
    one !== other &&
    Object.entries(one.conditions).every(([name, value]) => {
      const opposite = name.startsWith('not_') ? name.slice('not_'.length) : `not_${name}`
      const also = other.conditions[name] ?? value
      return !(opposite in other.conditions) && JSON.stringify(also) === JSON.stringify(value)
    })
