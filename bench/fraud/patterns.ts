import { dayText } from '../../src/commission/engine/calendar.ts'
import type { Fact } from '../../src/commission/engine/facts.ts'
import type { Seen, Vertical } from '../../src/fraud/kind.ts'
import { customer, event, paid, times, traded } from '../../test/fraud/view.ts'
import type { Affiliate } from './affiliate.ts'
import { YEAR } from './days.ts'
import type { Draw } from './draw.ts'
import { bookOf } from './evaluate.ts'
import { playDay, tradingRow } from './lives.ts'
import { LEAST } from './plans.ts'
import { usualSignups } from './year.ts'

// The patterns that are planted, one for each kind of rule, in three strengths. Where a pattern is a share of what an affiliate
// brings, its customers are 40, 70 or 95 % of those of its time, so that a large affiliate needs more of them.

/** How strong a pattern is. */
export const STRENGTHS = ['weak', 'middle', 'strong'] as const

/** How strong a pattern is. */
export type Strength = (typeof STRENGTHS)[number]

/** What a pattern is planted into. */
export interface Soil {
  readonly draw: Draw
  readonly vertical: Vertical
  readonly affiliate: Affiliate
  readonly customers: readonly Seen[]
  /** The first day of the pattern. */
  readonly day: number
  readonly strength: Strength
}

/** A pattern: the customers that it adds. Their ids begin with `PLANTED`. */
export interface Pattern {
  readonly weak: string
  readonly middle: string
  readonly strong: string
  /** The plan of the affiliates that it is planted into; absent: any. */
  readonly plan?: Affiliate['plan']
  readonly plant: (soil: Soil) => readonly Seen[]
}

/** The beginning of the ids of planted customers. */
export const PLANTED = 'P-'

/** The share of the customers of an affiliate that are planted. */
const SHARE: Readonly<Record<Strength, number>> = { weak: 0.4, middle: 0.7, strong: 0.95 }

/** The fewest customers of such a pattern: fraud of a few is not worth the work. */
const LEAST_PLANTED: Readonly<Record<Strength, number>> = { weak: 10, middle: 20, strong: 40 }

/** Returns a function of the strength. */
const by =
  <T>(weak: T, middle: T, strong: T) =>
  (strength: Strength): T =>
    ({ weak, middle, strong })[strength]

const idOf = (i: number): string => `${PLANTED}${String(i + 1).padStart(5, '0')}`

interface Options {
  readonly facts?: readonly Fact[]
  readonly country?: string
  readonly more?: Pick<Seen, 'isContact'> & Partial<Pick<Seen, 'sameName' | 'sameEmail'>>
}

/** Returns a planted customer of an affiliate. */
function planted(
  { draw, affiliate }: Soil,
  i: number,
  day: number,
  { facts = [], country, more }: Options = {},
): Seen {
  const country_code = country ?? draw.pick(affiliate.countries)
  return customer(idOf(i), day, {
    facts: facts.filter((fact) => fact.day <= YEAR.last),
    time: draw.integer(6 * 3600, 23 * 3600) * 1000,
    affiliates: [{ from: null, value: affiliate.id }],
    fields: { country_code },
    ...more,
  })
}

/** Returns how many customers must be added to so many so that they are the share of the strength. */
const besides = (honest: number, strength: Strength): number =>
  Math.max(LEAST_PLANTED[strength], Math.ceil((honest * SHARE[strength]) / (1 - SHARE[strength])))

const signedUp = ({ customers }: Soil, first: number, last: number): Seen[] =>
  customers.filter(({ signupDay }) => signupDay >= first && signupDay <= last)

const payers = (soil: Soil, first: number, last: number): Seen[] =>
  signedUp(soil, first, last).filter(({ facts }) => facts.length > 1)

/** Returns a deposit of the vertical, or the fee of a challenge. */
const payIn = (vertical: Vertical, id: string, day: number, amount: number): Fact =>
  vertical === 'igaming'
    ? event(id, day, 'Deposit', amount)
    : paid(id, day, vertical === 'forex' ? 'deposit' : 'challenge_fee', amount)

/** Returns a day of play or of small trades. */
const playOf = ({ draw, vertical }: Soil, id: string, day: number, lots = 1): Fact =>
  vertical === 'igaming' ? playDay(draw, id, day, 20) : tradingRow(draw, day, 'EURUSD', lots)

const MONTH = 30

/** Returns customers who pay the least that earns something, and trade or play only on the days in `played`. */
function hardlyPaying(soil: Soil, played: readonly number[]): Seen[] {
  const { draw, vertical, day, strength } = soil
  return times(besides(payers(soil, day, day + MONTH).length, strength), (i) => {
    const start = day + draw.integer(0, MONTH)
    const id = idOf(i)
    return planted(soil, i, start, {
      facts: [
        payIn(vertical, `${id}-d`, start, LEAST[vertical]),
        ...played.map((after) => playOf(soil, id, start + after)),
      ],
    })
  })
}

/** Returns two customers who take opposite sides on some days. */
function hedge(soil: Soil): Seen[] {
  const { draw, day, strength } = soil
  const days = by(2, 5, 12)(strength)
  const on = times(days, (i) => day + 2 * i)
  const lots = 2
  const won = on.map(() => Math.round(draw.between(300, 900)))
  return [1, -1].map((side, i) =>
    planted(soil, i, day - 3, {
      facts: on.map((at, n) =>
        traded(
          at,
          // Each side pays the spread.
          { lots_traded: lots, pnl: side * (won[n] ?? 0) - 10, spread_cost: 16, commission: 7 },
          'XAUUSD',
        ),
      ),
    }),
  )
}

/** Returns a trader with usual days, and then one that is far above them. */
function outlier(soil: Soil): Seen[] {
  const { draw, day, strength } = soil
  const usual = times(20, (i) =>
    tradingRow(draw, day - 40 + 2 * i, 'EURUSD', draw.pick([0.4, 0.5, 0.6])),
  )
  const factor = by(12, 40, 150)(strength)
  return [
    planted(soil, 0, day - 45, {
      facts: [...usual, tradingRow(draw, day, 'EURUSD', 0.5 * factor)],
    }),
  ]
}

/** Returns traders whose volume earns the affiliate a part of what they are charged. */
function churn(soil: Soil): Seen[] {
  const { day, strength } = soil
  // The affiliate earns 4 a lot, and the firm so much.
  const charged = by(6, 3.2, 1)(strength)
  return times(5, (i) =>
    planted(soil, i, day - 2, {
      facts: [
        paid(`${idOf(i)}-d`, day - 2, 'deposit', 5000),
        ...times(20, (n) =>
          traded(day + n, { lots_traded: 20, pnl: -20, spread_cost: 20 * charged, commission: 0 }),
        ),
      ],
    }),
  )
}

/** What one of the customers below earns an affiliate, and what is left of what they pay. */
const UNPROFITABLE: Readonly<Record<Vertical, { readonly earned: number; readonly left: number }>> =
  {
    forex: { earned: 120, left: 12 },
    igaming: { earned: 60, left: 5 },
    'prop-trading': { earned: 59.8, left: 10 },
  }

const UNPROFITABLE_DAYS = 120

/** Returns customers who bring so little that in four months the affiliate earns a multiple of its revenue. */
function unprofitable(soil: Soil): Seen[] {
  const { vertical, affiliate, customers, day, strength, draw } = soil
  const { earned, left } = UNPROFITABLE[vertical]
  const until = day + UNPROFITABLE_DAYS
  const target = by(0.8, 1.5, 4)(strength)
  const revenue = Math.max(0, revenueOf(customers, day, until))
  const paidOut = bookOf(vertical, affiliate, customers)
    .statements.filter(({ period }) => period >= dayText(day).slice(0, 7))
    .slice(0, 4)
    .reduce((sum, { total }) => sum + Number(total), 0)
  const count = Math.ceil((target * revenue - paidOut) / (earned - target * left))
  return times(Math.max(30, count), (i) => {
    const start = day + draw.integer(0, UNPROFITABLE_DAYS)
    const id = idOf(i)
    if (vertical === 'forex') {
      const row = { lots_traded: 2, pnl: 0, spread_cost: left, commission: 0 }
      const facts = [payIn(vertical, `${id}-d`, start, 200), traded(start + 1, row)]
      return planted(soil, i, start, { facts })
    }
    // They win, or are paid out, most of what they paid in.
    const amount = vertical === 'igaming' ? 100 : 299
    const out =
      vertical === 'igaming'
        ? event(`${id}-w`, start + 9, 'Withdrawal', amount - left)
        : paid(`${id}-w`, start + 9, 'payout', amount - left)
    const facts = [payIn(vertical, `${id}-d`, start, amount), playOf(soil, id, start + 1), out]
    return planted(soil, i, start, { facts })
  })
}

const IN = ['challenge_fee', 'reset_fee', 'Deposit']
const OUT = ['payout', 'refund', 'Withdrawal']

/** Returns the net revenue of customers in some days. */
function revenueOf(customers: readonly Seen[], first: number, last: number): number {
  const facts = customers
    .flatMap((one) => one.facts)
    .filter(({ day, state }) => day >= first && day <= last && state === 'approved')
  return facts.reduce((sum, { kind, amounts }) => {
    const amount = (field: string) => Number(amounts.get(field) ?? 0n) / 1e12
    const charged = amount('spread_cost') + amount('commission')
    const money = amount('amount_currency') + amount('Value')
    return sum + charged + (IN.includes(kind) ? money : OUT.includes(kind) ? -money : 0)
  }, 0)
}

/** The patterns by the kind of rule that should find them. */
export const PATTERNS: Readonly<Record<string, Pattern>> = {
  shared_identity: {
    weak: 'one person with another e-mail under the same name',
    middle: '5 customers with variants of one e-mail',
    strong: '20 of them, and the affiliate’s own address',
    plant(soil) {
      const { day, strength } = soil
      const first = { customer_id: idOf(0), signupDay: day }
      return times(by(2, 5, 20)(strength), (i) =>
        planted(soil, i, day + i, {
          more: {
            ...(i > 0 && (strength === 'weak' ? { sameName: [first] } : { sameEmail: [first] })),
            isContact: strength === 'strong' && i === 1,
          },
        }),
      )
    },
  },
  click_to_signup: {
    weak: '40 % of a week’s signups by a script that waits 2 to 60 seconds',
    middle: '70 % after 1 to 8 seconds',
    strong: '95 % after 1 to 3 seconds',
    plant(soil) {
      const { draw, day, strength } = soil
      const honest = signedUp(soil, day, day + 6).filter(({ clickedAt }) => clickedAt !== null)
      const [least, most] = by([2, 60], [1, 8], [1, 3])(strength) as [number, number]
      return times(besides(honest.length, strength), (i) => {
        const one = planted(soil, i, day + (i % 7))
        return { ...one, clickedAt: one.signup - draw.between(least, most) * 1000 }
      })
    },
  },
  signup_burst: {
    weak: '10 signups and 3 times the usual day',
    middle: '25 and 8 times the usual day',
    strong: '60 and 20 times the usual day',
    plant(soil) {
      const { affiliate, day, strength } = soil
      const usual = usualSignups(affiliate, day)
      const [least, factor] = by([10, 3], [25, 8], [60, 20])(strength) as [number, number]
      return times(Math.ceil(least + factor * usual), (i) => planted(soil, i, day))
    },
  },
  country_mix: {
    weak: '40 % of a week’s signups from a new country',
    middle: '70 %',
    strong: '95 %',
    plant(soil) {
      const { day, strength } = soil
      const honest = signedUp(soil, day, day + 6).length
      return times(besides(honest, strength), (i) =>
        planted(soil, i, day + (i % 7), { country: 'VN' }),
      )
    },
  },
  minimum_deposit: {
    weak: '40 % of a month’s paying customers pay what the plan asks for and stop',
    middle: '70 %',
    strong: '95 %',
    plan: 'customers',
    plant: (soil) => hardlyPaying(soil, soil.vertical === 'forex' ? [0] : []),
  },
  short_life: {
    weak: '40 % of a month’s paying customers play on one day after qualifying',
    middle: '70 %',
    strong: '95 %',
    plan: 'customers',
    plant: (soil) => hardlyPaying(soil, [0, 1]),
  },
  deposit_withdrawal: {
    weak: '2 customers take 85 % back after 6 days',
    middle: '5 take 96 % back after 4 days',
    strong: '20 take all back after 2 days',
    plant(soil) {
      const { vertical, day, strength } = soil
      const [count, after, part] = by([2, 6, 0.85], [5, 4, 0.96], [20, 2, 1])(strength) as [
        number,
        number,
        number,
      ]
      return times(count, (i) => {
        const id = idOf(i)
        const start = day + i
        const back = 250 * part
        return planted(soil, i, start, {
          facts: [
            payIn(vertical, `${id}-d`, start, 250),
            vertical === 'igaming'
              ? event(`${id}-w`, start + after, 'Withdrawal', back)
              : paid(`${id}-w`, start + after, 'withdrawal', back),
          ],
        })
      })
    },
  },
  reversals: {
    weak: 'half as many payers as usual in a month, 40 % of them with stolen cards',
    middle: '70 % with stolen cards',
    strong: '95 % with stolen cards',
    plant(soil) {
      const { draw, vertical, day, strength } = soil
      const count = Math.max(10, Math.ceil(payers(soil, day, day + MONTH).length / 2))
      const amount = vertical === 'forex' ? 400 : 299
      return times(count, (i) => {
        const start = day + draw.integer(0, MONTH - 5)
        const fee = payIn(vertical, `${idOf(i)}-d`, start, amount)
        const isStolen = i < count * SHARE[strength]
        return planted(soil, i, start, { facts: [isStolen ? { ...fee, state: 'reversed' } : fee] })
      })
    },
  },
  resets: {
    weak: '4 fees in 12 days',
    middle: '7 fees in 12 days',
    strong: '15 fees in 12 days',
    plant(soil) {
      const { day, strength } = soil
      return [
        planted(soil, 0, day - 1, {
          facts: times(by(4, 7, 15)(strength), (i) =>
            paid(`${idOf(0)}-f${i}`, day + (i % 12), i ? 'reset_fee' : 'challenge_fee', 99),
          ),
        }),
      ]
    },
  },
  hedge_pair: {
    weak: 'opposite sides on 2 days',
    middle: 'on 5 days',
    strong: 'on 12 days',
    plant: hedge,
  },
  drawdown_breach: {
    weak: '4.8 % in a day, just within the limit',
    middle: '7 % in a day, and the challenge goes on',
    strong: '15 % in a day, and the challenge goes on',
    plant(soil) {
      const { day, strength } = soil
      const drawdown = by(4.8, 7, 15)(strength)
      const row = { lots_traded: 3, pnl: -100 * drawdown, drawdown, max_drawdown: drawdown }
      const facts = [traded(day, row), traded(day + 4, { ...row, pnl: 100, drawdown: 0.2 })]
      return [planted(soil, 0, day - 5, { facts })]
    },
  },
  payout_without_trading: {
    weak: 'a payout of 98 % of the profit, more than the split of the contract',
    middle: 'a payout of 160 % of the profit',
    strong: 'a payout without any trade',
    plant(soil) {
      const { day, strength } = soil
      const amount = by(980, 1600, 1600)(strength)
      const won = times(strength === 'strong' ? 0 : 10, (i) =>
        traded(day - 20 + i, { lots_traded: 1, pnl: 100 }),
      )
      return [
        planted(soil, 0, day - 40, {
          facts: [...won, paid(`${idOf(0)}-p`, day, 'payout', amount)],
        }),
      ]
    },
  },
  activity_outlier: {
    weak: 'a day with 12 times the usual lots',
    middle: 'with 40 times the usual lots',
    strong: 'with 150 times the usual lots',
    plant: outlier,
  },
  lot_churn: {
    weak: 'the volume of 5 traders earns 67 % of what they are charged',
    middle: '125 %',
    strong: '400 %',
    plan: 'share',
    plant: churn,
  },
  commission_over_revenue: {
    weak: 'in 4 months the affiliate earns 80 % of the revenue',
    middle: '150 %',
    strong: '400 %',
    plan: 'customers',
    plant: unprofitable,
  },
}
