import { compareText } from '../../platform/compare-text.ts'
import { dayText } from '../../platform/money/calendar.ts'
import {
  add,
  type Decimal,
  decimal,
  fromFact,
  integer,
  multiply,
  ONE,
  plainText,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import { convertAmount } from '../../platform/money/exchange.ts'
import { ratio, ratioText } from '../../platform/money/ratio.ts'
import type { Term } from '../plans/types.ts'
import type { StepOf } from '../shapes/steps.ts'
import type { Account, InPeriod } from './account.ts'
import type { Line } from './line.ts'
import { usedRates } from './once-steps.ts'
import type { Version } from './plans-in-force.ts'
import type { LineFacts, TermSum } from './sums.ts'
import type { CompiledBase } from './terms.ts'

// The steps that lead to what a rate applies to: what was counted, and how it was converted. Modifiers write
// theirs where they are applied.

type BaseStep = StepOf<'base'>
type CountedCurrency = BaseStep['terms'][number]['currencies'][number]
type SourcesStep = StepOf<'sources'>

/** A line of an affiliate below, and the period of its statement. */
export interface SourceLine {
  readonly line: Line
  readonly period: string
}

const text = (units: bigint): string => plainText(fromFact(units))

/**
 * Returns the step from the facts of a base to the base.
 *
 * @param to The currency of the plan.
 * @param withFixed Whether `fixed` terms apply.
 */
export function baseStep(
  account: Account,
  { base, to, withFixed }: { base: CompiledBase; to: string; withFixed: boolean },
  { records, customers, terms }: LineFacts,
): BaseStep {
  const compiled = [...base.terms]
  const values: { term: Term; value: Decimal }[] = []
  const written = base.source.map((term) => {
    const own = 'fixed' in term || 'of' in term ? undefined : compiled.shift()
    const sums = terms.filter((one) => own !== undefined && one.term === own)
    const found = own ? convertedSum(sums) : derived(term, values, withFixed)
    const times = own?.times ?? ('of' in term ? decimal(term.times) : ONE)
    const value = multiply(found, times)
    values.push({ term, value })
    return {
      term,
      currencies: sums
        .toSorted((a, b) => compareText(a.currency, b.currency))
        .map((one) => countedCurrency(account, one, to)),
      sum: plainText(found),
      times: plainText(times),
      value: plainText(value),
    }
  })
  const total = plainText(sum(values.map(({ value }) => value)))
  return { step: 'base', records, customers, terms: written, base: total }
}

function countedCurrency(account: Account, one: TermSum, to: string): CountedCurrency {
  const { currency, count, units, alone, converted, aloneConverted, days } = one
  const byUsd = alone !== 0n || aloneConverted !== 0n
  return {
    currency,
    count,
    amount: text(units + alone),
    converted: text(converted + aloneConverted),
    days: [...(days ?? [])]
      .sort(([a], [b]) => a - b)
      .map(([day, found]) => ({
        day: dayText(day),
        rates: usedRates(account, currency, to, day),
        sums: found.sums,
        amount: text(found.units),
        converted: text(found.converted),
      })),
    by_amount_usd: byUsd ? { amount: text(alone), converted: text(aloneConverted) } : null,
  }
}

/** Returns the amount of each period, or the sum of the earlier terms that a term names. */
function derived(
  term: Term,
  values: readonly { term: Term; value: Decimal }[],
  withFixed: boolean,
): Decimal {
  if ('fixed' in term) return withFixed ? decimal(term.fixed) : ZERO
  if (!('of' in term)) return ZERO
  const named = values.filter(
    (one) => one.term.name !== undefined && term.of.includes(one.term.name),
  )
  return sum(named.map(({ value }) => value))
}

function convertedSum(sums: readonly TermSum[]): Decimal {
  let total = 0n
  for (const { converted, aloneConverted } of sums) total += converted + aloneConverted
  return fromFact(total)
}

/** Returns the step of a unit: what was counted, divided by `each`. */
export const unitsStep = (
  unit: unknown,
  { records, customers }: Pick<LineFacts, 'records' | 'customers'>,
  units: Decimal,
  each: Decimal,
): StepOf<'units'> => ({
  step: 'units',
  records,
  customers,
  unit,
  units: plainText(units),
  each: plainText(each),
  quantity: ratioText(ratio(units, each)),
})

/**
 * Returns the step of the lines below that an override pays for, before a floor.
 *
 * @param to The currency of the plan; null if the lines are counted.
 */
export function sourcesStep(
  account: InPeriod,
  affiliate_id: string,
  used: readonly SourceLine[],
  to: string | null,
): SourcesStep {
  const { rates, period } = account
  let total: Decimal = to === null ? integer(used.length) : ZERO
  const byCurrency = to === null ? [] : Map.groupBy(used, ({ line }) => line.version.currency)
  const conversions = [...byCurrency].map(([currency, group]) => {
    const amount = amountOfLines(group)
    const converted = convertAmount(amount, currency, to ?? '', period.last, rates)
    const isMissing = typeof converted === 'string'
    if (!isMissing) total = add(total, converted)
    return {
      currency,
      amount: plainText(amount),
      rates: usedRates(account, currency, to ?? '', period.last),
      converted: isMissing ? null : plainText(converted),
      reason: isMissing ? converted : null,
    }
  })
  const sources = groupLines(used)
  return { step: 'sources', affiliate_id, sources, conversions, sum: plainText(total) }
}

const amountOfLines = (lines: readonly SourceLine[]): Decimal =>
  sum(lines.map(({ line }) => line.amount))

/** Adds up lines by statement, rule and version. */
function groupLines(used: readonly SourceLine[]): SourcesStep['sources'] {
  const groups = Map.groupBy(used, ({ period, line: { rule, version } }) =>
    JSON.stringify([version.plan, period, rule.id, version.version]),
  )
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ period, line: { rule, version } }) => ({
      plan: version.plan,
      period,
      rule: rule.id,
      version: version.version,
      currency: version.currency,
      lines: group.length,
      amount: plainText(amountOfLines(group)),
    })),
  )
}

/** Returns the step of an upline's line that an affiliate pays for. */
export const fundedStep = (
  account: InPeriod,
  upline: string,
  { version, amount }: Line,
  payer: { readonly version: Version; readonly converted: Decimal },
): StepOf<'funded'> => ({
  step: 'funded',
  affiliate_id: upline,
  plan: version.plan,
  period: account.period.id,
  amount: plainText(amount),
  currency: version.currency,
  rates: usedRates(account, version.currency, payer.version.currency, account.period.last),
  converted: plainText(payer.converted),
})
