import { recoupedBy } from './advance.ts'
import {
  add,
  amountAt,
  type Decimal,
  fixedText,
  greatest,
  least,
  subtract,
  ZERO,
} from './decimal.ts'
import type { ExplainedLine } from './explain-input.ts'
import { linesOfRule } from './explain-plan.ts'
import type { Step } from './explanation.ts'
import type { Line } from './line.ts'
import type { CompiledShare } from './rules.ts'
import type { PlanInput } from './settle-plan.ts'
import { stateKey } from './state.ts'

type Money = (value: Decimal) => string

/** Returns the steps from the rounded amount to the line's amount, in the order of §16.17. */
export function limitSteps(input: PlanInput, explained: ExplainedLine): Step[] {
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
