import type { Fact } from '../../src/commission/engine/facts.ts'
import { subjectKey } from '../../src/fraud/findings.ts'
import { type Finding, type Kind, ownFacts, type Seen } from '../../src/fraud/kind.ts'

// Other parameters, and other terms, by which kinds have fewer false alarms.

/** How a kind differs from that of the contract. */
export interface Proposal {
  readonly words: string
  readonly parameters?: object
  /** Returns the kind with other terms. */
  readonly of?: (kind: Kind) => Kind
}

/** Leaves out findings that rest on the net deposits of the window alone. */
const byCharges = (kind: Kind): Kind => ({
  ...kind,
  find: (view, day, parameters) =>
    kind
      .find(view, day, parameters)
      .filter(({ figures }) => figures.some(({ name }) => name.endsWith('_of_charges'))),
})

const FEES = ['challenge_fee', 'reset_fee']

/** Leaves out customers who bought another challenge or a reset after the breach. */
const untilNextFee = (kind: Kind): Kind => ({
  ...kind,
  reach: (parameters) => ({ ...kind.reach(parameters), transactions: MOST_GRACE }),
  find(view, day, parameters) {
    const breached = day - (kind.reach(parameters)['trading-activity'] ?? 1) + 1
    const bought = new Set(
      view.customers
        .filter((one) =>
          ownFacts(one, 'transactions', breached, day).some((fact) => FEES.includes(fact.kind)),
        )
        .map(({ customer_id }) => customer_id),
    )
    return kind
      .find(view, day, parameters)
      .filter(({ subject }) => !('customer_id' in subject && bought.has(subject.customer_id)))
  },
})

const MOST_GRACE = 31

/** The days from asking for a payout to the payout. */
const ASKED = [0, 1, 2, 3]

/**
 * Compares a payout with the profit of the present challenge, from the day on which the last one was asked for to
 * the day on which this one was: both up to three days before they were paid.
 */
const sinceAsked = (kind: Kind): Kind => ({
  ...kind,
  find(view, day, parameters) {
    const paid = view.customers.filter(({ facts }) => facts.some((fact) => isPayoutOf(fact, day)))
    if (paid.length === 0) return []
    const found = ASKED.flatMap((last) =>
      ASKED.map((now) => {
        const customers = paid.map((one) => askedFor(one, day, last, now))
        return kind.find({ ...view, customers }, day, parameters)
      }),
    )
    const [first = [], ...others] = found
    const isIn = (findings: readonly Finding[], { subject }: Finding) =>
      findings.some((one) => subjectKey(one.subject) === subjectKey(subject))
    return first.filter((one) => others.every((findings) => isIn(findings, one)))
  },
})

const isPayoutOf = ({ kind, day }: Fact, on: number): boolean => kind === 'payout' && day === on

/** Returns a customer whose earlier payouts are so many days earlier, without the trades of the last days. */
function askedFor(one: Seen, day: number, last: number, now: number): Seen {
  const begun =
    one.fields.findLast(
      ({ from, value }) => from !== null && from <= day && value.phase === 'challenge',
    )?.from ?? 0
  const facts = one.facts.flatMap((fact) => {
    if (fact.resource === 'trading-activity') {
      return fact.day >= begun && fact.day <= day - now ? [fact] : []
    }
    return [fact.kind === 'payout' && fact.day < day ? { ...fact, day: fact.day - last } : fact]
  })
  return { ...one, facts }
}

/** The proposals by kind. */
export const PROPOSALS: Readonly<Record<string, Proposal>> = {
  short_life: { words: 'min_customers 15', parameters: { min_customers: 15 } },
  reversals: {
    words: 'percent 25, min_count 7',
    parameters: { percent: '25', min_count: 7 },
  },
  drawdown_breach: {
    words: 'a fee after the breach ends it',
    of: untilNextFee,
  },
  payout_without_trading: {
    words: 'profit of the present challenge, when asked for',
    of: sinceAsked,
  },
  activity_outlier: { words: 'times 35', parameters: { times: '35' } },
  lot_churn: { words: 'by charges alone', of: byCharges },
  commission_over_revenue: { words: 'periods 6', parameters: { periods: 6 } },
}
