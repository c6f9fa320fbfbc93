import { nextPeriod, type Period } from '../../platform/money/calendar.ts'
import type { Ratio } from '../../platform/money/ratio.ts'
import type { Account } from './account.ts'
import type { Books } from './books.ts'
import type { Line, StatementHold } from './line.ts'
import { type Plan, planKey, type Version } from './plans-in-force.ts'
import type { CompiledOverride } from './rules.ts'
import { NO_STATE, type PlanState } from './state.ts'
import type { Settled } from './statement.ts'
import type { PeriodSums } from './sums.ts'

/** What affiliates start from. */
export interface Beginning {
  /** The first day that is computed. */
  readonly firstDay: number
  /** What the period before left, by `planKey`. */
  readonly states: ReadonlyMap<string, PlanState>
  readonly books: Books
}

/** Returns what the period before the first left of an affiliate and plan. */
export const stateOf = (
  { states }: Pick<Beginning, 'states'>,
  affiliate: string,
  plan: string,
): PlanState => states.get(planKey(affiliate, plan)) ?? NO_STATE

/** The settlement of some affiliates in some periods, one after the other: each period needs those before it. */
export interface Settlement extends Beginning {
  readonly account: Account
  /** What the facts of each period come to, by its id. They are complete: the facts need not be in memory. */
  readonly sums: ReadonlyMap<string, PeriodSums>
  /** The affiliates to settle, with all that they depend on. */
  readonly affiliates: readonly string[]
  /** What statements transferred so far. */
  readonly sent: SentBalance[]
  /** What is settled so far, by the id of the period. */
  readonly own: Map<string, OwnResults>
  readonly overrides: Map<string, readonly OverridesOf[]>
  readonly results: Map<string, ReadonlyMap<string, PlanResult>>
}

/** Returns what the period before came to for an affiliate and plan. */
export const stateBefore = (
  settlement: Settlement,
  affiliate: string,
  plan: string,
  period: Period,
): Pick<PlanResult, 'state' | 'differences'> =>
  settlement.results.get(nextPeriod(period, -1).id)?.get(planKey(affiliate, plan)) ?? {
    state: stateOf(settlement, affiliate, plan),
    differences: [],
  }

/** A balance that a statement transferred. */
export type SentBalance = Pick<PlanResult, 'affiliate' | 'plan' | 'period' | 'transfer'>

/** The lines of an affiliate's own facts, and the carries after them. */
export interface OwnResult {
  readonly plan: Plan
  readonly lines: readonly Line[]
  readonly state: PlanState
}

/** By affiliate, then plan. */
export type OwnResults = ReadonlyMap<string, ReadonlyMap<string, OwnResult>>

/** A line that an upline's override books in the statement of an affiliate below. */
export interface FundedLine {
  readonly affiliate: string
  readonly version: Version
  readonly line: Line
}

/** What the overrides of one affiliate come to in a period. */
export interface OverridesOf {
  readonly affiliate: string
  readonly period: Period
  readonly version: Version
  readonly lines: readonly Line[]
  readonly funded: readonly FundedLine[]
  /** What each rule brought in the period, for tiers with a window. */
  readonly measures: readonly { readonly rule: CompiledOverride; readonly quantity: Ratio }[]
  readonly holds: readonly {
    readonly affiliate: string
    readonly version: Version
    readonly hold: StatementHold
  }[]
}

/** What an affiliate earns under one plan in a period. */
export interface PlanResult extends Settled {
  readonly affiliate: string
  readonly plan: Plan
  readonly period: Period
  /** Whether the period is closed: its statement is the approved one. */
  readonly closed: boolean
}
