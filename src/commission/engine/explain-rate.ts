import { type Decimal, decimal, fixedText, integer, ONE, plainText, ZERO } from './decimal.ts'
import type { ExplainedLine } from './explain-input.ts'
import { linesOfRule } from './explain-plan.ts'
import type { ClampStep, MeasureStep, RateStep, RoundingStep } from './explanation.ts'
import type { Line } from './line.ts'
import { earlierOf, measureOf } from './measure.ts'
import type { Tiers } from './plan.ts'
import {
  addRatio,
  NOTHING,
  parseRatio,
  type Ratio,
  ratio,
  ratioText,
  roundRatio,
  subtractRatio,
  sumRatios,
} from './ratio.ts'
import { countOnce, type PlanInput } from './settle-plan.ts'
import { payAt } from './tiers.ts'

/** Returns what a line's rate applies to: its base, or its units divided by `each`. */
export function quantityOfLine({ rule, base, units }: Line): Ratio {
  if (rule.kind === 'once' && rule.rateIs === 'amount') return ratio(ONE)
  if (units === null) return ratio(base ?? ZERO)
  return ratio(units, 'each' in rule ? rule.each : ONE)
}

/** Returns the tiers of a rule as its version has them. */
const sourceTiers = ({ rule, version }: Line): Tiers | undefined =>
  version.source.rules.find(({ id }) => id === rule.id)?.tiers

/** Returns what the tiers measure; nothing without tiers. */
export function measureSteps(input: PlanInput, { result, line }: ExplainedLine): MeasureStep[] {
  const { rule, version } = line
  const { tiers } = rule
  if (tiers === null || line.measure === null) return []
  const lines = linesOfRule(result.plan, result.lines, line)
  const earlier = earlierOf(input, rule, version)
  const { own, network } = partsOfMeasure(input, line, lines, earlier)
  return [
    {
      step: 'measure',
      mode: tiers.mode,
      by: sourceTiers(line)?.by ?? null,
      over: tiers.network ? 'network' : 'own',
      window: tiers.window,
      earlier: exactly(earlier).text,
      own: exactly(own).text,
      network: exactly(network).text,
      measure: line.measure,
      steps: tiers.steps.map(({ from, rate }) => ({
        from: plainText(from),
        rate: plainText(rate),
      })),
      covered:
        tiers.mode === 'slice' ? ratioText(coveredBefore(input, line, lines, earlier)) : null,
    },
  ]
}

function partsOfMeasure(
  input: PlanInput,
  line: Line,
  lines: readonly Line[],
  earlier: Ratio,
): { own: Ratio; network: Ratio } {
  const { rule, version } = line
  if (rule.kind === 'override') {
    return { own: subtractRatio(parseRatio(line.measure ?? '0'), earlier), network: NOTHING }
  }
  const quantity =
    rule.kind === 'once'
      ? ratio(integer(countOnce(input, rule.id)))
      : sumRatios(lines.map(quantityOfLine))
  const alone = {
    ...input,
    tallies: { ...input.tallies, network: new Map() },
    onceBelow: () => 0,
  }
  const own = measureOf(alone, version, rule, quantity)
  const all = measureOf(input, version, rule, quantity)
  return { own: subtractRatio(own, earlier), network: subtractRatio(all, own) }
}

/** Returns how much of the measure earlier periods and the lines before this one cover. */
function coveredBefore(
  input: PlanInput,
  line: Line,
  lines: readonly Line[],
  earlier: Ratio,
): Ratio {
  const { rule } = line
  if (rule.kind !== 'once') {
    return addRatio(earlier, sumRatios(lines.slice(0, lines.indexOf(line)).map(quantityOfLine)))
  }
  const own = input.qualified.get(rule.id)?.find(({ state }) => state === line.once)
  const before = own ? own.before - (own.beyondCount ? 1 : 0) : 0
  return addRatio(earlier, ratio(integer(Math.max(0, before))))
}

interface RatedPart {
  readonly quantity: Ratio
  readonly rate: Decimal
}

function ratedParts(line: Line): RatedPart[] {
  const { step } = line
  const steps = typeof step === 'string' || step === null ? [] : step
  // The only part is the whole quantity, whose digits may not end.
  if (line.rate !== null || steps.length === 1) {
    const rate = decimal(line.rate ?? steps[0]?.rate ?? '0')
    return [{ quantity: quantityOfLine(line), rate }]
  }
  return steps.map(({ part, rate }) => ({ quantity: parseRatio(part), rate: decimal(rate) }))
}

/** Returns what the rate makes of the quantity, and the exact amount. */
export function rateStep(line: Line): { step: RateStep; paid: Ratio } {
  const { rateIs } = line.rule
  const parts = ratedParts(line).map(({ quantity, rate }) => ({
    quantity,
    rate,
    paid: payAt(rateIs, quantity, rate),
  }))
  const paid = sumRatios(parts.map((part) => part.paid))
  const step: RateStep = {
    step: 'rate',
    rate_is: rateIs,
    parts: parts.map((part) => ({
      quantity: exactly(part.quantity).text,
      rate: plainText(part.rate),
      amount: exactly(part.paid).text,
    })),
    amount: exactly(paid).text,
    rounded: !exactly(paid).isExact,
  }
  return { step, paid }
}

/** The places with which an amount is written before it is rounded. */
const EXACT_PLACES = 40

/** Writes a ratio with all its digits, or with 12 places if they do not end. */
function exactly(value: Ratio): { text: string; isExact: boolean } {
  const written = roundRatio(value, EXACT_PLACES)
  const rest = subtractRatio(value, ratio(written)).num
  return rest.units === 0n
    ? { text: plainText(written), isExact: true }
    : { text: ratioText(value), isExact: false }
}

/** Returns the bounds of a `once` rule's amount; nothing without bounds. */
export function clampSteps({ rule }: Line, paid: Ratio): { steps: ClampStep[]; paid: Ratio } {
  if (rule.kind !== 'once' || (rule.minAmount === null && rule.maxAmount === null)) {
    return { steps: [], paid }
  }
  const { minAmount, maxAmount } = rule
  const isBelow = (limit: Decimal | null): boolean =>
    limit !== null && subtractRatio(paid, ratio(limit)).num.units < 0n
  const isAbove = (limit: Decimal | null): boolean =>
    limit !== null && subtractRatio(paid, ratio(limit)).num.units > 0n
  const bound = isBelow(minAmount) ? minAmount : isAbove(maxAmount) ? maxAmount : null
  const after = bound === null ? paid : ratio(bound)
  const step: ClampStep = {
    step: 'clamp',
    min_amount: minAmount && plainText(minAmount),
    max_amount: maxAmount && plainText(maxAmount),
    before: exactly(paid).text,
    after: exactly(after).text,
  }
  return { steps: [step], paid: after }
}

/** Returns the step that rounds an amount to the minor unit of the plan's currency. */
export const roundingStep = (paid: Ratio, { rated, version }: Line): RoundingStep => ({
  step: 'rounding',
  digits: version.digits,
  before: exactly(paid).text,
  after: fixedText(rated, version.digits),
})
