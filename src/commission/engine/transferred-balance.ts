import type { Decimal } from '../../platform/money/decimal.ts'

/** A balance that moves to another plan, and the period of that plan which starts with it. */
export interface Transfer {
  readonly to: string
  readonly period: string
  readonly amount: Decimal
}

/** A balance that came from the statement of another plan. */
export interface ReceivedBalance {
  readonly from: string
  readonly period: string
  readonly amount: Decimal
}

/** The end of an affiliate's time under a plan (§16.6). */
export interface PlanExit {
  /** Where balances go; null if the currencies differ. */
  readonly target: Omit<Transfer, 'amount'> | null
}
