import type { Account as EngineAccount } from '../../src/commission/engine/account.ts'
import { booksOf, isClosed } from '../../src/commission/engine/books.ts'
import { asOf, evaluateCustomer } from '../../src/commission/engine/customer.ts'
import type { Customer } from '../../src/commission/engine/facts.ts'
import type { EvaluatedCustomer } from '../../src/commission/engine/judge.ts'
import { settlePeriods } from '../../src/commission/engine/settle-periods.ts'
import type { Beginning, PlanResult } from '../../src/commission/engine/settlement.ts'
import { newSums, type PeriodSums } from '../../src/commission/engine/sums.ts'
import { memoize } from '../../src/platform/memoize.ts'
import { type Period, periodOf, storedPeriod } from '../../src/platform/money/calendar.ts'

/** The facts of an account, or of affiliates that do not depend on others, and where they start. */
export interface AccountInput extends EngineAccount, Beginning {
  readonly customers: readonly Customer[]
  readonly affiliates: readonly string[]
}

/** Computes periods of an account from its facts. */
export interface Account {
  readonly settle: (period: Period) => readonly PlanResult[]
  readonly evaluated: (through: number) => readonly EvaluatedCustomer[]
}

/** How many days are settled beyond the period that is asked for: others are asked for, too. */
const DAYS_AHEAD = 150

/** Prepares the computation of an account. */
export function openAccount(input: AccountInput): Account {
  const everyone = input.customers.map((customer) => evaluateCustomer(input, customer))
  const evaluated = (through: number): readonly EvaluatedCustomer[] =>
    everyone.map((customer) => asOf(customer, through))
  const sumsIn = memoize((id: string) => {
    const period = storedPeriod(id)
    const found: PeriodSums = new Map()
    const isExplained = (affiliate: string, plan: string) =>
      !isClosed(booksOf(input.books, affiliate, plan), period)
    evaluated(period.last).forEach(newSums({ ...input, period }, found, isExplained))
    return found
  })
  let settled: ReadonlyMap<string, readonly PlanResult[]> = new Map()
  const settle = (period: Period): readonly PlanResult[] => {
    if (period.last < input.firstDay) return []
    if (!settled.has(period.id)) {
      const periods = [...periodsUntil(input.firstDay, period.last + DAYS_AHEAD)]
      const sums = new Map(periods.map((one) => [one.id, sumsIn(one.id)]))
      settled = settlePeriods(input, input, sums, { affiliates: input.affiliates, periods })
    }
    return settled.get(period.id) ?? []
  }
  return { settle, evaluated }
}

/** Yields the periods of both kinds from the one in which a day lies to another day. */
function* periodsUntil(first: number, last: number): Generator<Period> {
  for (const kind of ['month', 'week'] as const) {
    for (let day = first; day <= last; ) {
      const period = periodOf(day, kind)
      yield period
      day = period.last + 1
    }
  }
}
