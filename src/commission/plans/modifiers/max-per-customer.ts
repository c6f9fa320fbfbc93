import { decimal, floorTo, least, subtract } from '../../../platform/money/decimal.ts'
import { described } from '../../../platform/validation/described.ts'
import { exactOptional, said } from '../../../platform/validation/fields.ts'
import type { Issue } from '../../../platform/validation/issue.ts'
import { notNegative } from '../decimals.ts'
import * as m from './modifier.ts'

const members = {
  max_per_customer: exactOptional(
    notNegative,
    said('The most that a line of one customer pays.', '500'),
  ),
}

const step = described(() =>
  m.stepOf('max_per_customer', 'The most that the rule pays for a customer.', {
    max: m.figure('The limit.'),
    ...m.cut('the limit'),
  }),
)

type Members = m.MembersOf<typeof members> & { readonly kind: string; readonly per?: string }

/** The most that a line of one customer pays, rounded down to the minor unit. */
export const maxPerCustomer = {
  name: 'max_per_customer' as const,
  members,
  step,
  apply: (lines: readonly m.ModifiedLine<Members>[]): Partial<m.Figures>[] =>
    lines.map((line) => {
      const limit = line.rule.source.max_per_customer
      if (limit === undefined) return {}
      const most = floorTo(decimal(limit), line.version.digits)
      const capped = subtract(line.amount, least(line.amount, most))
      line.trace.push(() => ({
        step: 'max_per_customer',
        max: m.moneyOf(line, most),
        ...m.cutFigures(line, capped),
      }))
      return m.cutLine(line, capped)
    }),
  check: ({ kind, per, max_per_customer }: Members, pointer: string): Issue[] =>
    kind === 'share' && per !== 'customer' && max_per_customer !== undefined
      ? [m.notApplicable(`${pointer}/max_per_customer`, 'it needs `"per": "customer"`')]
      : [],
  plan: ({ max_per_customer: max }: Members, { words, currency }: m.PlanSpeech): string[] =>
    max === undefined ? [] : [words.text('most.customer', { max: words.money(max, currency) })],
  explain: m.cutSentences,
  fields: { max_per_customer: { label: 'Most for each customer' } },
}
