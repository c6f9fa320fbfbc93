import type * as v from 'valibot'
import { isSome, ZERO } from '../../../platform/money/decimal.ts'
import { count } from '../../../platform/validation/answer-fields.ts'
import { described } from '../../../platform/validation/described.ts'
import { exactOptional, member, said } from '../../../platform/validation/fields.ts'
import { wholeNumber } from '../decimals.ts'
import { PLAN_LIMITS } from '../limits.ts'
import * as m from './modifier.ts'

const members = {
  max_count: exactOptional(
    wholeNumber(1, PLAN_LIMITS.count),
    said('The most customers of an affiliate that are paid in a period.', 100),
  ),
}

const step = described(() =>
  m.stepOf('max_count', 'The most customers that the rule pays for in a period.', {
    max_count: member(count, 'The limit.'),
    position: member(count, 'The position of the customer in the period, from 1.'),
    ...m.cut('the limit'),
  }),
)

type Members = m.MembersOf<typeof members>

type Step = v.InferOutput<typeof step>

/** The most customers that a `once` rule pays an affiliate for in a period. A line beyond it pays nothing. */
export const maxCount = {
  name: 'max_count' as const,
  members,
  step,
  apply: (lines: readonly m.ModifiedLine<Members>[]): Partial<m.Figures>[] =>
    lines.map((line) => {
      const { maxCount: most = null, position, beyondCount } = line.counted ?? {}
      if (most === null) return {}
      const capped = beyondCount ? line.amount : ZERO
      line.trace.push(() => ({
        step: 'max_count',
        max_count: most,
        position,
        ...m.cutFigures(line, capped),
      }))
      return m.cutLine(line, capped)
    }),
  plan: ({ max_count }: Members, { words, period }: m.PlanSpeech): string[] =>
    max_count === undefined ? [] : [words.text(`most.count.${period}`, { count: max_count })],
  explain: ({ max_count, position, ...step }: Step, speech: m.StepSpeech): string[] => [
    ...(isSome(step.capped)
      ? [speech.words.text('why.position', { count: max_count, position })]
      : []),
    ...m.cutSentences(step, speech),
  ],
  fields: { max_count: { label: 'Most customers each period' } },
}
