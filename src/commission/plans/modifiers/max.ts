import {
  type Decimal,
  decimal,
  floorTo,
  greatest,
  least,
  subtract,
  sum,
  ZERO,
} from '../../../platform/money/decimal.ts'
import { described } from '../../../platform/validation/described.ts'
import { exactOptional, said } from '../../../platform/validation/fields.ts'
import { notNegative } from '../decimals.ts'
import * as m from './modifier.ts'

const members = {
  max: exactOptional(
    notNegative,
    said('The most that the rule pays an affiliate in a period.', '10000'),
  ),
}

const step = described(() =>
  m.stepOf('max', 'The most that the rule pays the affiliate in a period.', {
    max: m.figure('The limit.'),
    ...m.cut('the limit'),
  }),
)

type Members = m.MembersOf<typeof members>

/**
 * The most that a rule pays an affiliate in a period. What exceeds it is cut from the last lines backwards; each keeps
 * at least 0. The limit of the last version with lines applies, rounded down to the minor unit.
 */
export const max = {
  name: 'max' as const,
  members,
  step,
  apply(lines: readonly m.ModifiedLine<Members>[]): Partial<m.Figures>[] {
    const latest = lines.reduce<(typeof lines)[0] | undefined>(
      (a, b) => (a && a.version.effectiveFrom >= b.version.effectiveFrom ? a : b),
      undefined,
    )
    const limit = latest?.rule.source.max
    if (latest === undefined || limit === undefined) return []
    const most: Decimal = floorTo(decimal(limit), latest.version.digits)
    let excess = subtract(sum(lines.map(({ amount }) => amount)), most)
    return lines
      .toReversed()
      .map((line) => {
        const capped = greatest(least(excess, line.amount), ZERO)
        excess = subtract(excess, capped)
        line.trace.push(() => ({
          step: 'max',
          max: m.moneyOf(line, most),
          ...m.cutFigures(line, capped),
        }))
        return m.cutLine(line, capped)
      })
      .reverse()
  },
  plan: ({ max: most }: Members, { words, currency, period }: m.PlanSpeech): string[] =>
    most === undefined ? [] : [words.text(`most.${period}`, { max: words.money(most, currency) })],
  explain: m.cutSentences,
  fields: { max: { label: 'Most each period' } },
}
