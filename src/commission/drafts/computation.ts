import type { PlanResult } from '../engine/account-input.ts'
import type { Period } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import type { KeptDaysInUse } from '../facts/kept-days-in-use.ts'
import type { AccountSource, RateDays } from '../facts/source.ts'
import type { dependencies } from './dependencies.ts'
import type { ComputedRange } from './range.ts'

/** What affiliates earned in a period. */
export interface ComputedPeriod {
  readonly period: Period
  /** In order of affiliate and plan. */
  readonly results: readonly PlanResult[]
}

/** A computation of an account, ready for any affiliates of it. */
export interface Computation {
  readonly source: AccountSource
  readonly range: ComputedRange
  readonly context: Context & RateDays
  readonly dependenciesOf: ReturnType<typeof dependencies>
  /** The kept days to use; null: all facts are read from the records, with the same result. */
  readonly kept: KeptDaysInUse | null
}
