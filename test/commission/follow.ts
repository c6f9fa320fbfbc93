import { expect } from 'vitest'
import type { Explanation, Step, StepOf } from '../../src/commission/shapes/steps.ts'
import {
  add,
  compare,
  divide,
  greatest,
  HUNDRED,
  least,
  multiply,
  negate,
  parse,
  type Rational,
  round,
  subtract,
  sum,
  ZERO,
} from './oracle/rational.ts'

// Follows an explanation as an affiliate manager would: with its figures and nothing else.

const toRational = (value: Rational | string) => (typeof value === 'string' ? parse(value) : value)

const same = (a: Rational, b: Rational | string, what: string) =>
  expect(compare(a, toRational(b)), what).toBe(0)

/** Expects two figures to differ by no more than what rounding can make of them. */
function near(a: Rational, b: Rational | string, most: string, what: string): void {
  const difference = subtract(a, toRational(b))
  const size = compare(difference, ZERO) < 0 ? negate(difference) : difference
  expect(compare(size, parse(most)), what).toBeLessThanOrEqual(0)
}

/** Checks each step of an explanation against those before it, up to the line's amount. */
export function follow(explanation: Explanation): void {
  const { steps, line } = explanation
  // The base or the units, then the amount.
  let current: Rational = ZERO
  for (const step of steps) {
    current = followStep(step, current, explanation)
  }
  same(current, line.amount, 'the amount of the line')
}

function followStep(step: Step, current: Rational, explanation: Explanation): Rational {
  const { line } = explanation
  switch (step.step) {
    case 'trigger':
      if (step.min !== null)
        expect(compare(parse(step.record.converted!), parse(step.min))).toBeGreaterThanOrEqual(0)
      return parse(step.record.converted ?? '0')
    case 'qualification':
      for (const one of step.conditions) {
        expect(one.met_on <= step.qualified_on).toBe(true)
        expect(one.met_at <= step.qualified_at).toBe(true)
        if (one.min !== null)
          expect(compare(parse(one.reached!), parse(one.min))).toBeGreaterThanOrEqual(0)
        const listed = one.records.map(({ converted }) => converted)
        if (
          one.min !== null &&
          one.records_total === listed.length &&
          listed.every((text) => text !== null)
        )
          same(sum(listed.map((text) => parse(text!))), one.reached!, 'what a sum reached')
      }
      return current
    case 'base':
      followBase(step, explanation.currency)
      return parse(step.base)
    case 'sources': {
      const counted = step.sources.reduce((total, { lines }) => total + lines, 0)
      const converted = step.conversions.flatMap((one) =>
        one.converted === null ? [] : [parse(one.converted)],
      )
      const isCount = step.conversions.length === 0
      same(isCount ? parse(counted) : sum(converted), step.sum, 'the sum of the sources')
      for (const one of step.conversions) {
        const own = step.sources.filter(({ currency }) => currency === one.currency)
        same(sum(own.map(({ amount }) => parse(amount))), one.amount, 'the lines of a currency')
        if (one.converted !== null && one.currency !== explanation.currency)
          same(atRates(one, explanation.currency), one.converted, 'a converted sum')
      }
      return parse(step.sum)
    }
    case 'floor':
      same(greatest(parse(step.before), ZERO), step.after, 'a floor')
      return parse(step.after)
    case 'units':
      same(
        round(divide(parse(step.units), parse(step.each)), 12),
        step.quantity,
        'units divided by each',
      )
      return divide(parse(step.units), parse(step.each))
    case 'fence':
      same(current, step.before, 'the base before the fence')
      same(
        add(subtract(parse(step.before), parse(step.paid_back)), parse(step.fenced)),
        step.base,
        'the base after the fence',
      )
      return parse(step.base)
    case 'measure':
      // The measure and each of its three parts are rounded to 12 places.
      near(
        sum([parse(step.earlier), parse(step.own), parse(step.network)]),
        step.measure,
        '0.000000000002',
        'the measure',
      )
      if (step.mode === 'whole') {
        const reached =
          step.steps.findLast(({ from }) => compare(parse(step.measure), parse(from)) >= 0) ??
          step.steps[0]
        expect(reached?.from).toBe(line.step)
        expect(reached?.rate).toBe(line.rate)
      }
      return current
    case 'rate': {
      if (line.kind !== 'once' || step.rate_is === 'percent')
        near(
          sum(step.parts.map(({ quantity }) => parse(quantity))),
          current,
          '0.0000000001',
          'the parts of the quantity',
        )
      const divisor = step.rate_is === 'percent' ? HUNDRED : parse('1')
      const [only] = step.parts
      const quantity = (text: string) =>
        step.parts.length === 1 && (line.kind !== 'once' || step.rate_is === 'percent')
          ? current
          : parse(text)
      const paid = sum(
        step.parts.map((part) =>
          divide(multiply(quantity(part.quantity), parse(part.rate)), divisor),
        ),
      )
      if (only && step.parts.length === 1 && line.rate !== null) expect(only.rate).toBe(line.rate)
      // Each part is shown rounded to 12 places; the amount is their exact sum.
      const isExact = step.parts.length === 1 && !step.rounded
      if (isExact) same(paid, step.amount, 'the rate')
      else near(paid, step.amount, '0.0000000001', 'the rate')
      return step.rounded ? paid : parse(step.amount)
    }
    case 'clamp': {
      let bound = current
      if (step.max_amount !== null) bound = least(bound, parse(step.max_amount))
      if (step.min_amount !== null) bound = greatest(bound, parse(step.min_amount))
      same(bound, step.after, 'the bounds')
      return bound
    }
    case 'rounding':
      // What lies between two units by less than the 12 places that are shown may be rounded either way.
      if (explanation.steps.some((one) => one.step === 'rate' && one.rounded))
        near(current, step.after, `0.${'0'.repeat(step.digits)}5000000001`, 'rounding')
      else same(round(current, step.digits), step.after, 'rounding')
      return parse(step.after)
    case 'max_per_customer':
      same(current, step.before, 'before max_per_customer')
      same(least(current, parse(step.max)), step.after, 'max_per_customer')
      same(subtract(parse(step.before), parse(step.capped)), step.after, 'capped')
      return parse(step.after)
    case 'negative':
      same(current, step.before, 'before negative')
      if (step.negative === 'carry')
        same(
          add(parse(step.before), parse(step.carried_in)),
          add(parse(step.after), parse(step.carried_out)),
          'the carry',
        )
      expect(step.after.startsWith('-')).toBe(false)
      return parse(step.after)
    case 'max_count':
      same(current, step.before, 'before max_count')
      same(step.position > step.max_count ? ZERO : current, step.after, 'max_count')
      return parse(step.after)
    case 'max':
      same(current, step.before, 'before max')
      same(subtract(current, parse(step.capped)), step.after, 'max')
      return parse(step.after)
    case 'advance':
      same(current, step.before, 'before the advance')
      return followAdvance(step)
    case 'funded':
      if (step.currency !== explanation.currency)
        same(atRates(step, explanation.currency), step.converted, 'a funded line')
      return negate(parse(step.converted))
  }
}

function followAdvance(step: StepOf<'advance'>): Rational {
  const due = subtract(subtract(parse(step.before), parse(step.paid_once)), parse(step.deficit_in))
  same(greatest(due, ZERO), step.after, 'what an advance pays')
  same(greatest(negate(due), ZERO), step.deficit_out, 'the deficit')
  const share = greatest(parse(step.before), ZERO)
  same(subtract(share, parse(step.recouped)), step.after, 'what was recouped')
  return parse(step.after)
}

/** An amount in a currency, and the rates by which it converts. */
interface Rated {
  readonly amount: string
  readonly currency: string
  readonly rates: readonly { readonly currency: string; readonly rate: string }[]
}

/** Converts at rates for one euro. */
function exactly({ amount, currency, rates }: Rated, to: string): Rational {
  const rateOf = (name: string): Rational => {
    const found = rates.find((one) => one.currency === name)
    expect(found === undefined, `a rate of ${name}`).toBe(name === 'EUR')
    return parse(found?.rate ?? '1')
  }
  return divide(multiply(parse(amount), rateOf(to)), rateOf(currency))
}

/** Converts at rates for one euro, and rounds to 12 places. */
const atRates = (rated: Rated, to: string): Rational => round(exactly(rated, to), 12)

type Counted = StepOf<'base'>['terms'][number]['currencies'][number]

/** What was converted on a day differs from amount × rate by half a unit of the 12th place a sum at most. */
function followDay(currency: string, day: Counted['days'][number], to: string): void {
  const rated = { ...day, currency }
  if (day.sums === 1) same(atRates(rated, to), day.converted, 'a converted sum')
  const most = divide({ n: BigInt(day.sums), d: 1n }, parse('2000000000000'))
  const off = subtract(exactly(rated, to), parse(day.converted))
  expect(compare(off, most)).toBeLessThanOrEqual(0)
  expect(compare(off, negate(most))).toBeGreaterThanOrEqual(0)
}

/** What was sent in a currency is what rates and the records' own amounts convert; that of the plan counts as sent. */
function followCurrency(one: Counted, to: string): void {
  if (one.currency === to) {
    same(parse(one.amount), one.converted, 'what is not converted')
    return
  }
  for (const day of one.days) followDay(one.currency, day, to)
  // Days are not kept if they are too many.
  if (one.days.length === 0) return
  const usd = one.by_amount_usd ?? { amount: '0', converted: '0' }
  for (const name of ['amount', 'converted'] as const) {
    const days = one.days.map((day) => parse(day[name]))
    same(sum([...days, parse(usd[name])]), one[name], `${name} by day`)
  }
}

/** The sum of a term is what was sent in the plan's currency, and all that was converted. */
function followBase({ terms, base }: StepOf<'base'>, currency: string): void {
  if (terms.length === 0) return
  const termValues = new Map<string, Rational>()
  for (const { term, currencies, sum: found, times, value } of terms) {
    same(multiply(parse(found), parse(times)), value, 'a term of the base')
    const source = term as { name?: string; of?: string[]; fixed?: string }
    if (source.of) same(sum(source.of.map((name) => termValues.get(name) ?? ZERO)), found, '`of`')
    else if (source.fixed === undefined) {
      for (const one of currencies) followCurrency(one, currency)
      same(sum(currencies.map((one) => parse(one.converted))), found, 'a term')
    }
    if (source.name !== undefined)
      termValues.set(source.name, add(termValues.get(source.name) ?? ZERO, parse(value)))
  }
  same(sum(terms.map((one) => parse(one.value))), base, 'the base')
}
