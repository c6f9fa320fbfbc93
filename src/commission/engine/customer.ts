import type { Account } from './account.ts'
import type { Customer } from './facts.ts'
import type { EvaluatedCustomer } from './judge.ts'
import { evaluateAllOnce, firstQualified, type OnceState } from './once.ts'
import { qualificationStep } from './once-steps.ts'
import { ownersOf } from './owners.ts'

/** Evaluates a customer's `once` rules by all of its facts. */
export function evaluateCustomer(account: Account, customer: Customer): EvaluatedCustomer {
  const ownerOf = ownersOf(account, customer)
  const once = evaluateAllOnce(account, { customer, ownerOf })
  const qualified = new Map<string, OnceState>()
  for (const [rule, state] of firstQualified(once)) {
    const evidence = () => qualificationStep(account, customer, state)
    qualified.set(rule, { ...state, evidence })
  }
  return { customer, ownerOf, once, qualified }
}

/**
 * Returns a customer as of the end of a day: later qualifications do not count yet, and later
 * candidates do not wait yet.
 */
export function asOf(evaluated: EvaluatedCustomer, day: number): EvaluatedCustomer {
  if (evaluated.once.length === 0) return evaluated
  return {
    ...evaluated,
    once: evaluated.once.map((state) =>
      state.trigger && state.trigger.day > day ? { ...state, blockers: [] } : state,
    ),
    qualified: new Map([...evaluated.qualified].filter(([, state]) => state.day <= day)),
  }
}
