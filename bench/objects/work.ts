/** The account whose records are exported and archived. */
export const ACCOUNT = 'acme'

/** Its vertical. */
export const VERTICAL = 'forex'

/** The first and the last day of its records. */
export const DAYS = ['2026-09-01', '2026-09-30'] as const

/** What is done, and with which resource. */
export interface Work {
  readonly work: 'keepTotals' | 'exportAll' | 'archive' | 'restore'
  readonly resource?: 'transactions' | 'trading-activity'
}
