import type { Warning } from '../../validation/warnings.ts'

/** The amounts in force and simulated, as decimal text. */
export interface Amounts {
  readonly currency: string
  readonly current: string
  readonly simulated: string
  readonly difference: string
  readonly payable_current: string
  readonly payable_simulated: string
}

/** What a simulated version changes for an affiliate and plan. */
export interface SimulatedRow extends Amounts {
  readonly affiliate_id: string
  readonly plan: string
}

/** What a simulated version changes for the affiliates of a page. */
export interface Comparison {
  readonly data: readonly SimulatedRow[]
  /** The sums of all affiliates of the page, listed or not, by currency. */
  readonly total: readonly Amounts[]
  /** The number of affiliates for which nothing changes. */
  readonly unchanged: number
}

/** One page of a simulation, on the wire. */
export interface Simulated extends Comparison {
  readonly plan: string
  readonly periods: readonly string[]
  readonly currency: string
  /** The affiliates that one request cannot compute. */
  readonly skipped: readonly { readonly affiliate_id: string; readonly reason: string }[]
  readonly warnings: readonly Warning[]
  readonly meta: { readonly next_cursor: string | null }
}

/** The columns of a simulation as CSV. */
export const SIMULATION_COLUMNS = [
  'affiliate_id',
  'plan',
  'currency',
  'current',
  'simulated',
  'difference',
  'payable_current',
  'payable_simulated',
  'skipped',
] as const

/** Returns a simulation as rows of CSV: those with a difference, then the affiliates left out. */
export const toRows = ({ data, skipped }: Pick<Simulated, 'data' | 'skipped'>): string[][] => [
  ...data.map((row) => SIMULATION_COLUMNS.map((name) => (name === 'skipped' ? '' : row[name]))),
  ...skipped.map(({ affiliate_id, reason }) =>
    SIMULATION_COLUMNS.map((name) =>
      name === 'affiliate_id' ? affiliate_id : name === 'skipped' ? reason : '',
    ),
  ),
]
