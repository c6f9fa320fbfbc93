import type { Draft } from './drafts.ts'
import { measuredBy } from './measures.ts'
import type { Rule, Step } from './plan.ts'
import {
  add,
  compare,
  count,
  divide,
  greatest,
  HUNDRED,
  isZero,
  least,
  multiply,
  ONE,
  parse,
  plain,
  plain12,
  type Rational,
  subtract,
  ZERO,
} from './rational.ts'

/** Returns what a percentage or an amount comes to. */
const price = (of: { percent?: string; amount?: string }, quantity: Rational) =>
  of.percent !== undefined
    ? divide(multiply(quantity, parse(of.percent)), HUNDRED)
    : multiply(quantity, parse(of.amount!))

/** Returns the step that a measure reaches: below the first step, the first. */
const stepFor = (steps: Step[], measure: Rational): Step =>
  steps.findLast((one) => compare(parse(one.from), measure) <= 0) ?? steps[0]!

const write = (step: Step, part: Rational) => ({
  from: plain(parse(step.from)),
  part: plain12(part),
  rate: plain(parse(step.percent ?? step.amount!)),
})

/** Returns what of `start` to `end` lies in each step; below 0 all belongs to the first. */
function partsOf(steps: Step[], start: Rational, end: Rational): [Step, Rational][] {
  return steps.flatMap((step, at): [Step, Rational][] => {
    const next = steps[at + 1]
    const within = (value: Rational) => {
      const above = at === 0 ? value : greatest(value, parse(step.from))
      return next ? least(above, parse(next.from)) : above
    }
    const part = subtract(within(end), within(start))
    return isZero(part) ? [] : [[step, part]]
  })
}

/** Prices each line of a slice: each part of the measure at its own step. */
function slice(lines: Draft[], steps: Step[], earlier: Rational) {
  let start = earlier
  for (const line of lines) {
    const end = add(start, line.measured)
    const parts = partsOf(steps, start, end)
    line.step = parts.map(([step, part]) => write(step, part))
    line.amount = parts.reduce((so, [step, part]) => add(so, price(step, part)), ZERO)
    start = end
  }
}

/** Prices each `once` line of a slice: the k-th has the step of k − 1. */
function sliceOnce(lines: Draft[], steps: Step[], earlier: Rational) {
  let k = 0
  for (const line of lines) {
    if (!line.overCount) k += 1
    const step = stepFor(steps, add(earlier, count(Math.max(k - 1, 0))))
    line.step = [write(step, ONE)]
    line.amount = price(step, line.quantity)
  }
}

/**
 * Sets measure, step, rate and unrounded amount of the lines of one rule of one version. `all` are
 * the lines of the rule id over all versions, in the order in which they stand in a slice.
 */
export function applyRate(
  all: Draft[],
  rule: Rule,
  measures: { measure: Rational; earlier: Rational } | null,
) {
  const { tiers } = rule
  const own = all.filter((line) => line.rule === rule)
  if (!tiers || !measures) {
    for (const line of own) {
      line.rate = parse(rule.percent ?? rule.amount!)
      line.amount = price(rule, line.quantity)
    }
    return
  }
  for (const line of own) line.measure = measures.measure
  if (tiers.mode === 'whole') {
    const step = stepFor(tiers.steps, measures.measure)
    for (const line of own) {
      line.step = plain(parse(step.from))
      line.rate = parse(step.percent ?? step.amount!)
      line.amount = price(step, line.quantity)
    }
    return
  }
  // The lines of other versions take their place in the slice, but keep their own amounts.
  const placed = all.map((line) =>
    line.rule === rule ? line : { ...line, measured: measuredBy(rule, line) },
  )
  const cut = rule.kind === 'once' ? sliceOnce : slice
  cut(placed, tiers.steps, measures.earlier)
}
