import type { Kind } from '../../src/fraud/kind.ts'

// Other parameters, and other terms, by which kinds have fewer false alarms.

/** How a kind differs from that of the contract. */
export interface Proposal {
  readonly words: string
  readonly parameters?: object
  /** Returns the kind with other terms. */
  readonly of?: (kind: Kind) => Kind
}

/** Leaves out findings that rest on net deposits alone. */
const byCharges = (kind: Kind): Kind => ({
  ...kind,
  find: (view, day, parameters) =>
    kind
      .find(view, day, parameters)
      .filter(({ figures }) => figures.some(({ name }) => name.endsWith('_of_charges'))),
})

/** The proposals by kind. */
export const PROPOSALS: Readonly<Record<string, Proposal>> = {
  short_life: { words: 'min_customers 15', parameters: { min_customers: 15 } },
  reversals: {
    words: 'percent 25, min_count 7',
    parameters: { percent: '25', min_count: 7 },
  },
  activity_outlier: { words: 'times 35', parameters: { times: '35' } },
  lot_churn: { words: 'by charges alone', of: byCharges },
  commission_over_revenue: { words: 'periods 6', parameters: { periods: 6 } },
}
