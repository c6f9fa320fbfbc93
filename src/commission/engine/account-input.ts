import type { BooksOf } from './books.ts'
import type { Period, PeriodKind } from './calendar.ts'
import type { Context } from './context.ts'
import type { Plan } from './plans-in-force.ts'
import type { PlanState } from './state.ts'
import type { Settled } from './statement.ts'

/** The affiliates of a computation, and where it starts. */
export interface SettlementInput extends Context {
  /** The affiliates to settle, with all that they depend on. */
  readonly affiliates: readonly string[]
  /** The first day that is computed, by kind of period: the first period starts from `stateOf`. */
  readonly firstDay: Readonly<Record<PeriodKind, number>>
  /** Returns what the period before the first left of an affiliate and plan. */
  readonly stateOf: (affiliate: string, plan: string) => PlanState
  readonly booksOf: BooksOf
}

/** What an affiliate earns under one plan in a period. */
export interface PlanResult extends Settled {
  readonly affiliate: string
  readonly plan: Plan
  readonly period: Period
  /** Whether the period is closed: its statement is the approved one. */
  readonly closed: boolean
}
