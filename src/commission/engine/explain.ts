import { type Decimal, negate, plainText } from './decimal.ts'
import { baseOf, explainBase, floorSteps, unitsStep } from './explain-base.ts'
import type { ExplainContext, ExplainedLine } from './explain-input.ts'
import { limitSteps } from './explain-limits.ts'
import { qualificationStep, triggerConversion, triggerStep } from './explain-once.ts'
import { isFunded, planInputOf } from './explain-plan.ts'
import { clampSteps, measureSteps, rateStep, roundingStep } from './explain-rate.ts'
import { fundedSteps, sourcesStep } from './explain-sources.ts'
import type { Explanation, Step } from './explanation.ts'
import type { Customer } from './facts.ts'
import { type Line, lineJson } from './line.ts'
import type { LineFacts } from './line-facts.ts'
import type { OverrideRule, UnitRule } from './plan.ts'
import type { CompiledOverride, CompiledShare, CompiledUnitRule } from './rules.ts'

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
