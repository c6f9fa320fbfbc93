import type { PlanResult, SettlementInput } from './account-input.ts'
import type { Period } from './calendar.ts'
import type { PeriodContext } from './context.ts'
import type { Line } from './line.ts'
import type { PeriodTallies } from './tallies.ts'

/** What an explanation reads of a computation. */
export interface Settlement {
  readonly input: SettlementInput
  readonly settle: (period: Period) => readonly PlanResult[]
  readonly tallies: (period: Period) => PeriodTallies
}

/** Everything besides facts that an explanation reads. */
export interface ExplainContext extends PeriodContext {
  readonly settlement: Settlement
  /** Returns the day on which the rate that applies was published; null if it is not known. */
  readonly rateDay?: (currency: string, day: number) => number | null
}

/** A line of the statement of an affiliate and plan. */
export interface ExplainedLine {
  readonly result: PlanResult
  readonly line: Line
}
