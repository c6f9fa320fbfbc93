import { openSettlement, type Settlement } from '../../src/commission/engine/account.ts'
import type { SettlementInput } from '../../src/commission/engine/account-input.ts'
import { openIn } from '../../src/commission/engine/books.ts'
import { asOf, evaluateCustomer } from '../../src/commission/engine/customer.ts'
import type { Customer } from '../../src/commission/engine/facts.ts'
import type { EvaluatedCustomer } from '../../src/commission/engine/judge.ts'
import { oncePerPeriod } from '../../src/commission/engine/memoize.ts'
import { newSums, type PeriodSums } from '../../src/commission/engine/sums.ts'

/** The facts of an account, or of affiliates that do not depend on others, and where they start. */
export interface AccountInput extends SettlementInput {
  readonly customers: readonly Customer[]
}

/** Computes periods of an account from its facts. */
export interface Account extends Settlement {
  readonly evaluated: (through: number) => readonly EvaluatedCustomer[]
}

/** Prepares the computation of an account. */
export function openAccount(input: AccountInput): Account {
  const everyone = input.customers.map((customer) => evaluateCustomer(input, customer))
  const evaluated = (through: number): readonly EvaluatedCustomer[] =>
    everyone.map((customer) => asOf(customer, through))
  const sums = oncePerPeriod((period) => {
    const found: PeriodSums = new Map()
    const isExplained = openIn(input.booksOf, period)
    evaluated(period.last).forEach(newSums({ ...input, period, isExplained }, found))
    return found
  })
  return { ...openSettlement(input, sums), evaluated }
}
