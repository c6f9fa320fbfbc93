import type { Period } from '../../platform/money/calendar.ts'
import type { RateLookup } from '../../platform/money/exchange.ts'
import type { PlansInForce } from './plans-in-force.ts'
import type { Tree } from './tree.ts'

/** Everything besides facts and books that the commissions of an account depend on. */
export interface Account {
  readonly inForce: PlansInForce
  readonly tree: Tree
  readonly rates: RateLookup
  /** Returns the day for which the rate that applies was published; null for the euro. */
  readonly rateDay?: (currency: string, day: number) => number | null
  /** Returns the instant at which a day starts in the account's zone. */
  readonly dayStart: (day: number) => number
}

/** An account in one period. */
export interface InPeriod extends Account {
  readonly period: Period
}
