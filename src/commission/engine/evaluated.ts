import type { Owner } from './context.ts'
import type { Customer, Fact } from './facts.ts'
import type { OnceState } from './once.ts'
import { rankOf, type Verdict } from './reasons.ts'

/** A customer with the owners of its facts and its `once` rules. */
export interface EvaluatedCustomer {
  readonly customer: Customer
  readonly ownerOf: (fact: Fact) => Owner
  readonly once: readonly OnceState[]
  /** By rule id: the qualification that counts. */
  readonly qualified: ReadonlyMap<string, OnceState>
}

/** The verdict of one rule on a fact that it names. */
export interface FactVerdict {
  readonly verdict: Verdict
  /** The condition that did not hold, such as `not_countries` or `void_by`. */
  readonly condition: string | null
}

/** Returns a verdict without a condition. */
export const plain = (verdict: Verdict): FactVerdict => ({ verdict, condition: null })

/** Returns the verdict that is further down the list of reasons. */
export const furthest = (a: FactVerdict | null, b: FactVerdict): FactVerdict =>
  a === null || rankOf(b.verdict) > rankOf(a.verdict) ? b : a
