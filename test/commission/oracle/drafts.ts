import type { Fact } from './facts.ts'
import type { Qualified } from './once.ts'
import type { Rule, Version } from './plan.ts'
import { type Rational, ZERO } from './rational.ts'
import type { Money } from './terms.ts'

/** One line while it is computed. */
export interface Draft {
  affiliate: string
  version: Version
  rule: Rule
  period: string
  scope: string
  /** What a percentage or an amount applies to: base, units after `each`, the trigger's amount, 1. */
  quantity: Rational
  /** What the line adds to the measure of its rule. */
  measured: Rational
  counted: Set<Fact>
  base: Rational | null
  units: Rational | null
  measure: Rational | null
  step: string | { from: string; part: string; rate: string }[] | null
  rate: Rational | null
  amount: Rational
  carriedIn: Rational
  carriedOut: Rational
  capped: Rational
  recouped: Rational
  deficit: Rational
  fence: { base: Rational; paidBack: Rational; fenced: Rational } | null
  fx: Money[]
  /** Of a `once` line: who qualified, and whether `max_count` takes the line. */
  qualified: Qualified | null
  overCount: boolean
  /** Of a line that the downline pays: the override of the upline. */
  paidFor: Draft | null
  /** Whether the line does not exist, because its downline cannot pay for it. */
  isDropped: boolean
}

export type Described = Pick<Draft, 'affiliate' | 'version' | 'rule' | 'period' | 'scope'>

export const draft = (of: Described): Draft => ({
  ...of,
  quantity: ZERO,
  measured: ZERO,
  counted: new Set(),
  base: null,
  units: null,
  measure: null,
  step: null,
  rate: null,
  amount: ZERO,
  carriedIn: ZERO,
  carriedOut: ZERO,
  capped: ZERO,
  recouped: ZERO,
  deficit: ZERO,
  fence: null,
  fx: [],
  qualified: null,
  overCount: false,
  paidFor: null,
  isDropped: false,
})
