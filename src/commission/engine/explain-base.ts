import { dayText } from './calendar.ts'
import {
  add,
  type Decimal,
  decimal,
  fromFact,
  multiply,
  ONE,
  plainText,
  subtract,
  sum,
  ZERO,
} from './decimal.ts'
import type { ExplainContext } from './explain-input.ts'
import type { FloorStep } from './explanation.ts'
import type {
  BaseStep,
  ConversionStep,
  Counted,
  DayConversion,
  FactsStep,
  UnitsStep,
  UsedRate,
} from './explanation-facts.ts'
import { compareText } from './facts.ts'
import type { LineFacts, TermSum } from './line-facts.ts'
import type { Term } from './plan.ts'
import { ratio, ratioText } from './ratio.ts'
import type { CompiledBase, CompiledTerm } from './terms.ts'

const text = (units: bigint): string => plainText(fromFact(units))

/** Returns the rates by which one currency converts to another on a day. */
export function usedRates(
  { rates, rateDay }: ExplainContext,
  from: string,
  to: string,
  day: number,
): UsedRate[] {
  if (from === to) return []
  return [from, to].flatMap((currency) => {
    const rate = rates(currency, day)
    if (typeof rate === 'string') return []
    const published = rateDay?.(currency, day) ?? null
    return [
      { currency, rate: plainText(rate), day: published === null ? null : dayText(published) },
    ]
  })
}

/** Returns the steps from the facts of a base to the base, `fixed` terms included if they apply. */
export function explainBase(
  context: ExplainContext,
  base: CompiledBase,
  facts: LineFacts,
  currency: string,
  withFixed: boolean,
): [FactsStep, ConversionStep, BaseStep] {
  return [
    factsStep(base, facts),
    conversionStep(context, base, facts, currency),
    baseStep(base, facts, withFixed),
  ]
}

const sumsOf = ({ sums }: LineFacts, term: CompiledTerm): TermSum[] => [
  ...(sums.get(term)?.values() ?? []),
]

function factsStep({ terms }: CompiledBase, facts: LineFacts): FactsStep {
  return {
    step: 'facts',
    records: facts.records,
    customers: facts.customers,
    terms: terms.map((term) => ({
      term: term.source,
      currencies: countedByCurrency(sumsOf(facts, term)),
    })),
  }
}

function countedByCurrency(sums: readonly TermSum[]): Counted[] {
  return [...Map.groupBy(sums, ({ currency }) => currency)]
    .sort(([a], [b]) => compareText(a, b))
    .map(([currency, group]) => ({
      currency,
      count: group.reduce((total, { count }) => total + count, 0),
      amount: text(group.reduce((total, { units, alone }) => total + units + alone, 0n)),
    }))
}

function conversionStep(
  context: ExplainContext,
  { terms }: CompiledBase,
  facts: LineFacts,
  to: string,
): ConversionStep {
  const days = terms.flatMap((term, position) =>
    sumsOf(facts, term)
      .filter(({ currency }) => currency !== to)
      .sort((a, b) => a.day - b.day || compareText(a.currency, b.currency))
      .map((sum) => dayConversion(context, position, sum, to)),
  )
  return { step: 'conversion', currency: to, days }
}

function dayConversion(
  context: ExplainContext,
  term: number,
  { day, currency, sums, units, converted, alone, aloneConverted }: TermSum,
  to: string,
): DayConversion {
  const byUsd = alone !== 0n || aloneConverted !== 0n
  return {
    term,
    day: dayText(day),
    currency,
    rates: sums === 0 ? [] : usedRates(context, currency, to, day),
    sums,
    amount: text(units),
    converted: text(converted),
    by_amount_usd: byUsd ? { amount: text(alone), converted: text(aloneConverted) } : null,
  }
}

/** Returns the base term by term, as the plan has them: `of` takes a part of the values before it. */
function baseStep({ terms, source }: CompiledBase, facts: LineFacts, withFixed: boolean): BaseStep {
  const compiled = [...terms]
  const values: { term: Term; sum: Decimal; times: Decimal; value: Decimal }[] = []
  for (const term of source) {
    const own = 'fixed' in term || 'of' in term ? undefined : compiled.shift()
    const found = own ? convertedSum(sumsOf(facts, own)) : derived(term, values, withFixed)
    const times = own?.times ?? ('of' in term ? decimal(term.times) : ONE)
    values.push({ term, sum: found, times, value: multiply(found, times) })
  }
  return {
    step: 'base',
    terms: values.map(({ term, ...figures }) => ({
      term,
      sum: plainText(figures.sum),
      times: plainText(figures.times),
      value: plainText(figures.value),
    })),
    base: plainText(sum(values.map(({ value }) => value))),
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
  { units, records, customers }: Pick<LineFacts, 'units' | 'records' | 'customers'>,
  each: Decimal,
): UnitsStep => ({
  step: 'units',
  records,
  customers,
  unit,
  units: plainText(units),
  each: plainText(each),
  quantity: ratioText(ratio(units, each)),
})

/** Returns the step that raises a negative sum to 0; none if the sum is not negative. */
export const floorSteps = (before: Decimal, after: Decimal): FloorStep[] =>
  plainText(subtract(before, after)) === '0'
    ? []
    : [{ step: 'floor', before: plainText(before), after: plainText(after) }]

/** Returns what facts come to with `fixed` terms. */
export const baseOf = (
  { base }: LineFacts,
  { fixed }: CompiledBase,
  withFixed: boolean,
): Decimal => (withFixed ? add(base, fixed) : base)
