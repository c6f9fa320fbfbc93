import { type Line, lineJson } from '../../src/commission/engine/line.ts'
import { writeSteps } from '../../src/commission/engine/trace.ts'
import { stepsText } from '../../src/commission/run/draft.ts'
import type { Explanation } from '../../src/commission/shapes/steps.ts'
import type { Period } from '../../src/platform/money/calendar.ts'
import type { Account } from './open-account.ts'

interface Explained {
  readonly line: Line
  readonly explanation: Explanation
}

/** Explains every line of a period as it would be stored. */
export const explainAll = (account: Account, period: Period): Explained[] =>
  account.settle(period).flatMap(({ affiliate, plan, lines }) =>
    lines.map((line) => ({
      line,
      explanation: {
        affiliate_id: affiliate,
        plan: plan.plan,
        period: period.id,
        currency: plan.first.currency,
        line: lineJson(line, plan.first.digits),
        ...JSON.parse(stepsText({ steps: writeSteps(line.trace) })),
        corrections: [],
      },
    })),
  )
