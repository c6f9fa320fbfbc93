import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'

// Fraud in the demo accounts: each pattern once, each by an affiliate of its own, so that every kind of fraud rule
// has a case that can be looked at. All days are counted back from today, so that they lie in the last year.

/** The account with a year of records. Its months depend on the day on which it is created. */
export const YEAR = { account: 'demo-broker', name: 'Demo Broker', vertical: 'forex' } as const

/** A customer who signs up. */
export interface Signup {
  readonly customer_id: string
  readonly affiliate_id: string
  readonly signup_date: string
  readonly country_code: string
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  /** How many seconds before the signup they followed the link of the affiliate; absent: some minutes. */
  readonly clicked?: number
}

/** Money that a customer pays or is paid. */
export interface Payment {
  readonly transaction_id: string
  readonly customer_id: string
  readonly transaction_type: string
  readonly amount_currency: number
  readonly currency: string
  readonly status: string
  readonly transaction_date: string
}

/** Records of an account. */
export interface Records {
  readonly customers: readonly Signup[]
  readonly transactions: readonly Payment[]
  readonly activity: readonly object[]
}

/** A pattern, and the affiliate whose customers show it. */
interface DemoPattern extends Records {
  /** The id of the usual rule that finds it. */
  readonly rule: string
  readonly affiliate: string
}

/** Returns a day, counted from 1970, as text. */
export const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** Returns a customer of an affiliate who signs up at 10:00, or some minutes after it. */
const signup = (
  affiliate_id: string,
  i: number,
  day: number,
  country_code = i % 2 ? 'FR' : 'DE',
) => ({
  customer_id: `${affiliate_id}-${String(i + 1).padStart(2, '0')}`,
  affiliate_id,
  signup_date: new Date(day * DAY_MS + 10 * HOUR_MS + (i % 50) * 60_000).toISOString(),
  country_code,
})

const pay = (
  { customer_id }: Signup,
  transaction_type: string,
  day: number,
  amount_currency: number,
  status = 'approved',
): Payment => ({
  transaction_id: `${customer_id}-${transaction_type}-${dayText(day)}`,
  customer_id,
  transaction_type,
  amount_currency,
  currency: 'EUR',
  status,
  transaction_date: `${dayText(day)}T12:00:00Z`,
})

const deposit = (customer: Signup, day: number, amount: number) =>
  pay(customer, 'deposit', day, amount)

const trade = ({ customer_id }: Signup, day: number, lots_traded: number, more: object = {}) => ({
  date: dayText(day),
  customer_id,
  currency: 'EUR',
  lots_traded,
  instrument: 'EURUSD',
  spread_cost: 6 * lots_traded,
  ...more,
})

const NONE: Records = { customers: [], transactions: [], activity: [] }

/** Two customers with variants of one e-mail. */
function sharedIdentity(today: number): Records {
  const emails = ['anna.kern@gmail.com', 'Annakern+2@gmail.com']
  const customers = emails.map((email, i) => ({
    ...signup('SELF-1', i, today - 40 + 5 * i, 'AT'),
    email,
    first_name: 'Anna',
    last_name: 'Kern',
  }))
  return { ...NONE, customers }
}

/** 12 signups, each 3 seconds after its click. */
const clickToSignup = (today: number): Records => ({
  ...NONE,
  customers: times(12, (i) => ({
    ...signup('FAST-1', i, today - 20 + Math.floor(i / 2)),
    clicked: 3,
  })),
})

/** 2 signups a day on 8 days, then 24 on one day. */
const signupBurst = (today: number): Records => ({
  ...NONE,
  customers: times(40, (i) =>
    signup('RUSH-1', i, i < 16 ? today - 62 + 4 * Math.floor(i / 2) : today - 28),
  ),
})

/** 10 signups from Germany in 80 days, then 21 from Vietnam in 7 days. */
const countryMix = (today: number): Records => ({
  ...NONE,
  customers: times(31, (i) =>
    i < 10
      ? signup('GEO-1', i, today - 110 + 8 * i, 'DE')
      : signup('GEO-1', i, today - 24 + Math.floor((i - 10) / 3), 'VN'),
  ),
})

/** 12 customers who deposit what the plan asks for and do nothing for two weeks. */
function minimumDeposit(today: number): Records {
  const customers = times(12, (i) => signup('MIN-1', i, today - 75 + i))
  return {
    customers,
    transactions: customers.map((customer, i) => deposit(customer, today - 74 + i, 500)),
    activity: customers.flatMap((customer, i) =>
      [16, 18, 20].map((after) => trade(customer, today - 74 + i + after, 0.5)),
    ),
  }
}

/** 12 customers who deposit more than the plan asks for, and stop after a day. */
function shortLife(today: number): Records {
  const customers = times(12, (i) => signup('STOP-1', i, today - 80 + i))
  return {
    customers,
    transactions: customers.map((customer, i) => deposit(customer, today - 79 + i, 700)),
    activity: customers.map((customer, i) => trade(customer, today - 78 + i, 0.5)),
  }
}

/** 3 customers who take nearly everything back after 3 days, without a trade. */
function depositWithdrawal(today: number): Records {
  const customers = times(3, (i) => signup('BACK-1', i, today - 34 + 2 * i))
  return {
    ...NONE,
    customers,
    transactions: customers.flatMap((customer, i) => [
      deposit(customer, today - 33 + 2 * i, 400),
      pay(customer, 'withdrawal', today - 30 + 2 * i, 390),
    ]),
  }
}

/** 8 payments, of which the last 5 are reversed. */
function reversals(today: number): Records {
  const customers = times(8, (i) => signup('REV-1', i, today - 45 + i))
  return {
    ...NONE,
    customers,
    transactions: customers.map((customer, i) =>
      pay(customer, 'deposit', today - 44 + i, 300, i < 3 ? 'approved' : 'reversed'),
    ),
  }
}

/** Two customers who hold opposite sides of the same trades on 4 days. */
function hedgePair(today: number): Records {
  const customers = times(2, (i) => signup('HEDGE-1', i, today - 36))
  const won = [410, -380, 520, 450]
  return {
    ...NONE,
    customers,
    activity: won.flatMap((pnl, i) =>
      customers.map((customer, side) =>
        trade(customer, today - 32 + 2 * i, 2, {
          instrument: 'XAUUSD',
          pnl: side === 0 ? pnl : -pnl - 20,
        }),
      ),
    ),
  }
}

/** 12 days with half a lot, then one with 15 lots. */
function activityOutlier(today: number): Records {
  const customer = signup('PEAK-1', 0, today - 50)
  const activity = times(13, (i) =>
    trade(customer, today - 40 + 2 * i, i < 12 ? 0.5 : 15, { pnl: i % 2 ? 30 : -25 }),
  )
  return { ...NONE, customers: [customer], activity }
}

/** 3 customers whose 240 lots each cost them 0.80 a lot. */
function lotChurn(today: number): Records {
  const customers = times(3, (i) => signup('CHURN-1', i, today - 32 + i))
  return {
    customers,
    transactions: customers.map((customer, i) => deposit(customer, today - 31 + i, 10_000)),
    activity: customers.flatMap((customer, i) =>
      times(6, (n) => trade(customer, today - 30 + i + 2 * n, 40, { spread_cost: 32 })),
    ),
  }
}

/** 4 customers of each of the three last full months, by whom the affiliate earns more than they bring. */
function commissionOverRevenue(today: number): Records {
  const now = new Date(today * DAY_MS)
  const months = [3, 2, 1].map(
    (ago) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 5) / DAY_MS,
  )
  const customers = months.flatMap((first, month) =>
    times(4, (i) => signup('OVER-1', month * 4 + i, first + i)),
  )
  const dayOf = ({ signup_date }: Signup) => Math.floor(Date.parse(signup_date) / DAY_MS)
  return {
    customers,
    transactions: customers.map((one) => deposit(one, dayOf(one), 500)),
    activity: customers.slice(-1).map((one) => trade(one, dayOf(one) + 2, 1)),
  }
}

const named = (rule: string, records: Records): DemoPattern => ({
  rule,
  affiliate: records.customers[0]?.affiliate_id ?? '',
  ...records,
})

/** Returns the patterns of a forex account. */
export const patternsUntil = (today: number): DemoPattern[] => [
  named('shared-identity', sharedIdentity(today)),
  named('click-to-signup', clickToSignup(today)),
  named('signup-burst', signupBurst(today)),
  named('country-mix', countryMix(today)),
  named('minimum-deposit', minimumDeposit(today)),
  named('short-life', shortLife(today)),
  named('deposit-withdrawal', depositWithdrawal(today)),
  named('reversals', reversals(today)),
  named('hedge-pair', hedgePair(today)),
  named('activity-outlier', activityOutlier(today)),
  named('lot-churn', lotChurn(today)),
  named('commission-over-revenue', commissionOverRevenue(today)),
]
