import { decimal } from '../../../platform/money/decimal.ts'
import { compareRatio, exactly, type Ratio, ratio } from '../../../platform/money/ratio.ts'
import { described } from '../../../platform/validation/described.ts'
import { exactOptional, said } from '../../../platform/validation/fields.ts'
import type { Issue } from '../../../platform/validation/issue.ts'
import { notNegative } from '../decimals.ts'
import * as m from './modifier.ts'

const members = {
  min_amount: exactOptional(notNegative, said('The least that a percentage pays.', '50')),
  max_amount: exactOptional(notNegative, said('The most that a percentage pays.', '600')),
}

const step = described(() =>
  m.stepOf('clamp', 'The bounds of the amount of a `once` rule.', {
    min_amount: m.maybe('The least amount.'),
    max_amount: m.maybe('The largest amount.'),
    before: m.figure('The amount before.'),
    after: m.figure('The amount after.'),
  }),
)

interface Members {
  readonly percent?: string
  readonly tiers?: { readonly steps: readonly { readonly percent?: string }[] }
  readonly min_amount?: string
  readonly max_amount?: string
}

/** Applies the bounds to what a rule pays, before it is rounded. */
export function clampPaid(
  paid: Ratio,
  { min_amount: min, max_amount: max }: Members,
  trace: m.ModifiedLine<unknown>['trace'],
): Ratio {
  if (min === undefined && max === undefined) return paid
  const isBelow = min !== undefined && compareRatio(paid, decimal(min)) < 0
  const isAbove = max !== undefined && compareRatio(paid, decimal(max)) > 0
  const bound = isBelow ? min : isAbove ? max : undefined
  const after = bound === undefined ? paid : ratio(decimal(bound))
  trace.push(() => ({
    step: 'clamp',
    min_amount: min ?? null,
    max_amount: max ?? null,
    before: exactly(paid).text,
    after: exactly(after).text,
  }))
  return after
}

/** The least and the most that a percentage of a trigger pays. */
export const clamp = {
  name: 'clamp' as const,
  members,
  step,
  check(rule: Members, pointer: string): Issue[] {
    const { percent, tiers, min_amount: min, max_amount: max } = rule
    const paysPercent = percent !== undefined || tiers?.steps.some((step) => 'percent' in step)
    const misplaced = (['min_amount', 'max_amount'] as const).filter(
      (name) => rule[name] !== undefined && !paysPercent,
    )
    return [
      ...misplaced.map((name) =>
        m.notApplicable(`${pointer}/${name}`, 'it applies only to a rule with `percent`'),
      ),
      ...m.checkRange(`${pointer}/min_amount`, min, max),
    ]
  },
  plan({ min_amount: min, max_amount: max }: Members, { words, currency }: m.PlanSpeech): string[] {
    return [
      ...(min === undefined
        ? []
        : [words.text('amount.least', { min: words.money(min, currency) })]),
      ...(max === undefined
        ? []
        : [words.text('amount.most', { max: words.money(max, currency) })]),
    ]
  },
  explain: (
    { before, after }: { readonly before: string; readonly after: string },
    { words, money }: m.StepSpeech,
  ): string[] =>
    before === after
      ? []
      : [words.text('why.clamp', { before: money(before), amount: money(after) })],
  fields: {
    min_amount: { label: 'Least it pays' },
    max_amount: { label: 'Most it pays' },
  },
}
