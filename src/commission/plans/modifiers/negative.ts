import * as v from 'valibot'
import { add, amountAt, greatest, isSome, least, ZERO } from '../../../platform/money/decimal.ts'
import { described } from '../../../platform/validation/described.ts'
import * as f from '../../../platform/validation/fields.ts'
import { exactOptional, member, said } from '../../../platform/validation/fields.ts'
import * as m from './modifier.ts'

const members = {
  negative: exactOptional(
    f.oneOf('offset', 'zero', 'carry'),
    said(
      '`offset` (default): a negative line reduces other lines of the statement. `zero`: it is written off. `carry`: negative carryover to this rule’s next period.',
    ),
  ),
}

const step = described(() =>
  m.stepOf(
    'negative',
    'What becomes of a negative amount: `before` + `carried_in` is `after` + `carried_out`.',
    {
      negative: member(v.picklist(['zero', 'carry']), 'What the rule says.'),
      before: m.figure('The amount before.'),
      carried_in: m.figure('What the period before left.'),
      carried_out: m.figure('What is left to the next period.'),
      after: m.figure('The amount after.'),
    },
  ),
)

type Members = m.MembersOf<typeof members>

type Step = v.InferOutput<typeof step>

/** What becomes of a negative line of a share: it is booked, written off or carried. */
export const negative = {
  name: 'negative' as const,
  members,
  step,
  apply: (
    lines: readonly m.ModifiedLine<Members>[],
    { state }: m.ModifierInput,
  ): Partial<m.Figures>[] =>
    lines.map((line) => {
      const { negative = 'offset' } = line.rule.source
      if (negative === 'offset') return {}
      const carries = negative === 'carry'
      const key = m.stateKey(line.rule.id, line.version, line.scope)
      const carriedIn = carries ? amountAt(state.carries, key) : ZERO
      const balance = add(carriedIn, line.amount)
      const carriedOut = carries ? least(balance, ZERO) : ZERO
      const amount = greatest(balance, ZERO)
      line.trace.push(() => ({
        step: 'negative',
        negative,
        before: m.moneyOf(line, line.amount),
        carried_in: m.moneyOf(line, carriedIn),
        carried_out: m.moneyOf(line, carriedOut),
        after: m.moneyOf(line, amount),
      }))
      if (carries) state.carries.set(key, carriedOut)
      return { carriedIn, carriedOut, amount }
    }),
  plan: ({ negative = 'offset' }: Members, { words }: m.PlanSpeech): string[] => [
    words.text(`negative.${negative}`),
  ],
  explain(step: Step, { words, money }: m.StepSpeech): string[] {
    const { before, after, carried_in, carried_out } = step
    if (step.negative === 'zero') {
      return before === after ? [] : [words.text('why.unpaid', { amount: money(before) })]
    }
    const isCarried = isSome(carried_out)
    return [
      ...(isSome(carried_in)
        ? [
            words.text('why.carriedIn', {
              carried: money(carried_in),
              before: money(before),
              amount: money(isCarried ? carried_out : after),
            }),
          ]
        : []),
      ...(isCarried ? [words.text('why.carriedOn', { amount: money(carried_out) })] : []),
    ]
  },
  fields: {
    'share.negative': {
      label: 'A negative result',
      choices: {
        offset: 'Is deducted from other rules',
        zero: 'Counts as 0',
        carry: 'Is carried to later periods',
      },
    },
  },
}
