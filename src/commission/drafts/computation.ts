import type { PlanResult } from '../engine/account-input.ts'
import type { Period } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import type { KeptReading } from '../facts/kept.ts'
import type { AccountSource, RateDays } from '../facts/source.ts'
import type { dependencies } from './closure.ts'
import type { ComputedRange } from './range.ts'

/** What affiliates earned in the periods of one kind, up to the one that was asked for. */
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
  /** What is kept of the facts of past days; null: only records are read, which comes to the same. */
  readonly kept: KeptReading | null
}
