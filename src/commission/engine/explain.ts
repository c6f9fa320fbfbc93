import { recoupedBy } from './advance.ts'
import {
  add,
  amountAt,
  type Decimal,
  decimal,
  fixedText,
  greatest,
  integer,
  least,
  negate,
  ONE,
  plainText,
  subtract,
  ZERO,
} from './decimal.ts'
import { baseOf, explainBase, floorSteps, unitsStep } from './explain-base.ts'
import type { ExplainContext, ExplainedLine } from './explain-input.ts'
import { qualificationStep, triggerConversion, triggerStep } from './explain-once.ts'
import { isFunded, linesOfRule, planInputOf } from './explain-plan.ts'
import { fundedSteps, sourcesStep } from './explain-sources.ts'
import type {
  ClampStep,
  Explanation,
  MeasureStep,
  RateStep,
  RoundingStep,
  Step,
} from './explanation.ts'
import type { Customer } from './facts.ts'
import { type Line, lineJson } from './line.ts'
import type { LineFacts } from './line-facts.ts'
import { earlierOf, measureOf } from './measure.ts'
import type { OverrideRule, Tiers, UnitRule } from './plan.ts'
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
import type { CompiledOverride, CompiledShare, CompiledUnitRule } from './rules.ts'
import { countOnce, type PlanInput } from './settle-plan.ts'
import { stateKey } from './state.ts'
import { payAt } from './tiers.ts'

/**
 * Explains a line, step by step.
 *
 * @param facts What its facts come to; empty for lines without facts of their own.
 * @param customer The customer of a `once` line; else null.
 */
export function explainLine(
  context: ExplainContext,
  explained: ExplainedLine,
  facts: LineFacts,
  customer: Customer | null,
): Explanation {
  const { result, line } = explained
  const { affiliate, plan } = result
  return {
    affiliate_id: affiliate,
    plan: plan.plan,
    period: context.period.id,
    currency: plan.first.currency,
    line: lineJson(line, plan.first.digits),
    steps: isFunded(line)
      ? fundedLine(context, explained)
      : [...quantitySteps(context, line, facts, customer), ...amountSteps(context, explained)],
  }
}

/** Returns the steps up to the base or the units to which the rate applies. */
function quantitySteps(
  context: ExplainContext,
  line: Line,
  facts: LineFacts,
  customer: Customer | null,
): Step[] {
  const { rule } = line
  switch (rule.kind) {
    case 'once':
      return onceSteps(context, line, customer)
    case 'share':
      return shareSteps(context, line, rule, facts)
    case 'unit':
      return [unitSteps(line, rule, facts)]
    case 'override':
      return overrideSteps(context, line, rule, facts)
  }
}

function onceSteps(context: ExplainContext, { once }: Line, customer: Customer | null): Step[] {
  const trigger = once?.trigger
  if (!once || !trigger) return []
  return [
    triggerStep(once, trigger),
    ...triggerConversion(context, once, trigger),
    ...(customer ? [qualificationStep(context, customer, once)] : []),
  ]
}

function shareSteps(
  context: ExplainContext,
  line: Line,
  rule: CompiledShare,
  facts: LineFacts,
): Step[] {
  const withFixed = rule.per === 'affiliate'
  const steps = explainBase(context, rule.base, facts, line.version.currency, withFixed)
  const { fence } = line
  if (fence === null || rule.fence === null) return steps
  return [
    ...steps,
    {
      step: 'fence',
      customer: plainText(rule.fence.customer),
      affiliate: plainText(rule.fence.affiliate),
      before: plainText(fence.base),
      paid_back: plainText(fence.paidBack),
      fenced: plainText(fence.fenced),
      base: textOf(line.base),
    },
  ]
}

const textOf = (value: Decimal | null): string => (value === null ? '0' : plainText(value))

function sourceRule<R>({ version, rule }: Line): R | undefined {
  return version.source.rules.find(({ id }) => id === rule.id) as R | undefined
}

function unitSteps(line: Line, { each }: CompiledUnitRule, facts: LineFacts): Step {
  const unit = sourceRule<UnitRule>(line)?.unit ?? { event: '', kpi: '' }
  return unitsStep(unit, facts, each)
}

function overrideSteps(
  context: ExplainContext,
  line: Line,
  rule: CompiledOverride,
  facts: LineFacts,
): Step[] {
  const { of, each } = rule
  if ('base' in of) {
    const steps = explainBase(context, of.base, facts, line.version.currency, true)
    return [...steps, ...floorSteps(baseOf(facts, of.base, true), line.base ?? negate(facts.base))]
  }
  if ('unit' in of) {
    const source = sourceRule<OverrideRule>(line)?.of
    const unit = source && 'unit' in source ? source.unit : { event: '', kpi: '' }
    const paid = line.units ?? facts.units
    const floor = floorSteps(facts.units, paid)
    return [...floor, unitsStep(unit, { ...facts, units: paid }, each)]
  }
  const { step, sum } = sourcesStep(context, line, rule)
  if ('lines' in of) return [step, ...floorSteps(sum, line.base ?? sum)]
  const count = Number(sum.units)
  return [step, unitsStep(of, { units: sum, records: count, customers: count }, each)]
}

/** Returns the steps from the rate to the amount. */
function amountSteps(context: ExplainContext, explained: ExplainedLine): Step[] {
  const { result, line } = explained
  const input = planInputOf(context, result.affiliate, result.plan)
  const rated = rateStep(line)
  const clamped = clampSteps(line, rated.paid)
  return [
    ...measureSteps(input, explained),
    rated.step,
    ...clamped.steps,
    roundingStep(clamped.paid, line),
    ...limitSteps(input, explained),
  ]
}

/** Returns the steps of a line that an affiliate funds for an upline. */
function fundedLine(context: ExplainContext, explained: ExplainedLine): Step[] {
  const { line, result } = explained
  const [step] = fundedSteps(context, explained)
  const { digits } = result.plan.first
  const amount = { step: 'amount', amount: lineJson(line, digits).amount } as const
  if (step === undefined) return [amount]
  const before = negatedText(step.converted)
  return [step, { step: 'rounding', digits, before, after: amount.amount }, amount]
}

const negatedText = (text: string): string =>
  text === '0' ? text : text.startsWith('-') ? text.slice(1) : `-${text}`

/** Returns what a line's rate applies to: its base, or its units divided by `each`. */
function quantityOfLine({ rule, base, units }: Line): Ratio {
  if (rule.kind === 'once' && rule.rateIs === 'amount') return ratio(ONE)
  if (units === null) return ratio(base ?? ZERO)
  return ratio(units, 'each' in rule ? rule.each : ONE)
}

/** Returns the tiers of a rule as its version has them. */
const sourceTiers = ({ rule, version }: Line): Tiers | undefined =>
  version.source.rules.find(({ id }) => id === rule.id)?.tiers

/** Returns what the tiers measure; nothing without tiers. */
function measureSteps(input: PlanInput, { result, line }: ExplainedLine): MeasureStep[] {
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
function rateStep(line: Line): { step: RateStep; paid: Ratio } {
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
function clampSteps({ rule }: Line, paid: Ratio): { steps: ClampStep[]; paid: Ratio } {
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
const roundingStep = (paid: Ratio, { rated, version }: Line): RoundingStep => ({
  step: 'rounding',
  digits: version.digits,
  before: exactly(paid).text,
  after: fixedText(rated, version.digits),
})

type Money = (value: Decimal) => string

/** Returns the steps from the rounded amount to the line's amount, in the order of §16.17. */
function limitSteps(input: PlanInput, explained: ExplainedLine): Step[] {
  const { line } = explained
  // Amounts are rounded and limits are cut to the minor digits before they are applied.
  const money: Money = (value) => fixedText(value, line.version.digits)
  const steps: Step[] = []
  let amount = line.rated
  const most = mostPerCustomer(line)
  if (most !== null) {
    const after = least(amount, most)
    const capped = subtract(amount, after)
    steps.push({
      step: 'max_per_customer',
      max: money(most),
      before: money(amount),
      capped: money(capped),
      after: money(after),
    })
    amount = after
  }
  const limited = subtract(line.rated, amount)
  if (line.rule.kind === 'share' && line.rule.negative !== 'offset') {
    const negative = negativeStep(line, line.rule, amount, money)
    steps.push(negative.step)
    amount = negative.after
  }
  if (line.rule.kind === 'once') {
    const counted = maxCountSteps(input, line, amount, money)
    for (const step of counted.steps) steps.push(step)
    amount = counted.after
  }
  const counted = line.beyondCount ? line.capped : limited
  const cut = subtract(line.capped, counted)
  for (const step of maxSteps(explained, amount, cut, money)) steps.push(step)
  amount = subtract(amount, cut)
  for (const step of advanceSteps(input, explained, amount, money)) steps.push(step)
  steps.push({ step: 'amount', amount: money(line.amount) })
  return steps
}

const mostPerCustomer = ({ rule }: Line): Decimal | null =>
  rule.kind === 'once' || (rule.kind === 'share' && rule.per === 'customer')
    ? rule.maxPerCustomer
    : null

function negativeStep(
  { carriedIn, carriedOut }: Line,
  { negative }: CompiledShare,
  before: Decimal,
  money: Money,
): { step: Step; after: Decimal } {
  const after = greatest(add(before, carriedIn), ZERO)
  const step: Step = {
    step: 'negative',
    negative: negative === 'carry' ? 'carry' : 'zero',
    before: money(before),
    carried_in: money(carriedIn),
    carried_out: money(carriedOut),
    after: money(after),
  }
  return { step, after }
}

/** Returns the position of a qualification among those of the period, if their number is limited. */
function maxCountSteps(
  { qualified }: PlanInput,
  line: Line,
  before: Decimal,
  money: Money,
): { steps: Step[]; after: Decimal } {
  const all = qualified.get(line.rule.id) ?? []
  const maxCount = all.reduce((latest, one) =>
    one.state.version.effectiveFrom > latest.state.version.effectiveFrom ? one : latest,
  ).rule.maxCount
  const after = line.beyondCount ? ZERO : before
  if (maxCount === null) return { steps: [], after }
  const step: Step = {
    step: 'max_count',
    max_count: maxCount,
    position: 1 + all.findIndex(({ state }) => state === line.once),
    before: money(before),
    capped: money(subtract(before, after)),
    after: money(after),
  }
  return { steps: [step], after }
}

/** `max` is that of the latest version with a line of the rule. */
function maxSteps(
  { result, line }: ExplainedLine,
  before: Decimal,
  cut: Decimal,
  money: Money,
): Step[] {
  const latest = linesOfRule(result.plan, result.lines, line).reduce(
    (a, b) => (b.version.effectiveFrom > a.version.effectiveFrom ? b : a),
    line,
  )
  const { max } = latest.rule
  if (max === null) return []
  const after = subtract(before, cut)
  return [
    {
      step: 'max',
      max: money(max),
      before: money(before),
      capped: money(cut),
      after: money(after),
    },
  ]
}

function advanceSteps(
  { state }: PlanInput,
  { result, line }: ExplainedLine,
  before: Decimal,
  money: Money,
): Step[] {
  const { rule, version, scope } = line
  if (rule.kind !== 'share' || rule.recoups === null) return []
  const once = result.lines.filter((one) => one.rule.kind === 'once')
  return [
    {
      step: 'advance',
      recoups: rule.recoups,
      before: money(before),
      paid_once: money(recoupedBy(rule, version, once)),
      deficit_in: money(amountAt(state.deficits, stateKey(rule.id, version, scope))),
      recouped: money(line.recouped),
      deficit_out: money(line.deficit),
      after: money(line.amount),
    },
  ]
}
