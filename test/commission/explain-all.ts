import type { Account } from '../../src/commission/engine/account.ts'
import type { AccountInput } from '../../src/commission/engine/account-input.ts'
import type { Period } from '../../src/commission/engine/calendar.ts'
import {
  addPart,
  type ExplainContext,
  explainLine,
  isFunded,
  noLineFacts,
  type Part,
  partOf,
  tallyOfLine,
} from '../../src/commission/engine/explain.ts'
import type { Line } from '../../src/commission/engine/line.ts'
import { type PeriodTallies, reduceCustomer } from '../../src/commission/engine/tally.ts'
import { uplineRules } from '../../src/commission/engine/uplines.ts'
import type { Explanation } from '../../src/commission/why/steps.ts'

interface Explained {
  readonly line: Line
  readonly parts: readonly Part[]
  readonly explanation: Explanation
}

/** Explains every line of a period. */
export function explainAll(account: Account, input: AccountInput, period: Period): Explained[] {
  const context: ExplainContext = {
    ...input,
    period,
    settlement: account,
  }
  const tallies: PeriodTallies = new Map()
  const rulesOf = uplineRules(context)
  const reduced = account
    .evaluated(period.last)
    .map((evaluated) => ({ evaluated, own: reduceCustomer(context, tallies, evaluated, rulesOf) }))
  return account.settle(period).flatMap((result) =>
    result.lines.map((line) => {
      const target = isFunded(line) ? null : tallyOfLine(tallies, result.affiliate, line)
      const parts = reduced.flatMap(({ evaluated, own }) => {
        const part = partOf(line, target, evaluated.customer.customer_id, own, input.rates)
        return part ? [part] : []
      })
      const facts = noLineFacts()
      for (const part of parts) addPart(facts, part)
      const customer = input.customers.find(
        ({ customer_id }) => customer_id === line.once?.customerId,
      )
      const explanation = explainLine(context, { result, line }, facts, customer ?? null)
      return { line, parts, explanation }
    }),
  )
}
