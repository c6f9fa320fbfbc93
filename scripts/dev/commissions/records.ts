import { readFileSync } from 'node:fs'

// The commissions of the demo accounts: plans, and records of a month whose exchange rates are known.

/** The month of the records, of which statements are computed. */
export const DEMO_PERIOD = '2026-03'

/** The account whose statements of the month are approved, and the affiliate who was paid. */
export const CLOSED = {
  account: 'demo-prop',
  paid: 'AFF-1',
  paid_on: '2026-04-30',
} as const

/** The first day of the plans, of their assignments, and of the parent of IB-08. */
const FROM = '2026-01-01'

/** Returns the terms of a plan in a file, from a day on. */
export const readPlan = (path: string, effective_from: string): object => ({
  ...JSON.parse(readFileSync(path, 'utf8')),
  effective_from,
})

/** What a demo account needs so that it has statements. */
export interface DemoCommissions {
  /** The id of the plan, which governs the customers of all affiliates. */
  plan: string
  terms: object
  /** The first day of the plan and of its assignment. */
  from: string
  /** Affiliates whose parents are set. */
  affiliates: readonly object[]
  /** Records by their path below the API of the account, in the order in which they are sent. */
  bulks: Record<string, readonly object[]>
  /** Transactions with typical mistakes, which the service refuses. */
  refused: readonly object[]
}

const withPlan = (plan: string, path: string) => ({
  plan,
  from: FROM,
  terms: readPlan(path, FROM),
  affiliates: [],
  refused: [],
})

const signup = (customer_id: string, day: string, affiliate_id: string) => ({
  customer_id,
  signup_date: `${day}T09:00:00Z`,
  affiliate_id,
  tracking_data: `demo-${customer_id}`,
})

const transaction = (
  transaction_id: string,
  customer_id: string,
  transaction_type: string,
  day: string,
  amount_currency: number,
  currency: string,
  status = 'approved',
) => ({
  transaction_id,
  customer_id,
  transaction_type,
  amount_currency,
  currency,
  status,
  transaction_date: `${day}T10:00:00Z`,
})

const activity = (
  customer_id: string,
  instrument: string,
  lots_traded: number,
  currency: string,
  fields: object = {},
  date = '2026-03-18',
) => ({ date, customer_id, instrument, lots_traded, currency, ...fields })

/** The file of the plan of introducing brokers. */
export const IB_PLAN = 'scripts/dev/commissions/demo-ib.json'

const forex = (): DemoCommissions => ({
  ...withPlan('demo-ib', IB_PLAN),
  refused: [
    transaction('T-3391', 'C-3301', 'gift', '2026-03-28', 25, 'EUR'),
    transaction('T-3392', 'C-3302', 'deposit', '2026-03-28', 80, 'EUX'),
  ],
  affiliates: [{ affiliate_id: 'IB-08', parent: 'IB-07', from: FROM }],
  bulks: {
    customers: [
      signup('C-3301', '2026-03-02', 'IB-07'),
      signup('C-3302', '2026-03-10', 'IB-07'),
      signup('C-3303', '2026-03-11', 'IB-08'),
      signup('C-3304', '2026-03-12', 'IB-09'),
      signup('C-3305', '2026-03-13', 'IB-99'),
    ],
    transactions: [
      transaction('T-3301', 'C-3301', 'deposit', '2026-03-03', 300, 'USD'),
      transaction('T-3302', 'C-3301', 'deposit', '2026-03-18', 350, 'USD'),
      transaction('T-3303', 'C-3301', 'deposit', '2026-03-20', 100, 'EUR'),
      transaction('T-3304', 'C-3301', 'withdrawal', '2026-03-25', 50, 'EUR'),
      transaction('T-3305', 'C-3302', 'deposit', '2026-03-12', 200, 'EUR'),
      transaction('T-3306', 'C-3302', 'deposit', '2026-03-17', 400, 'EUR', 'declined'),
      transaction('T-3307', 'C-3302', 'deposit', '2026-03-24', 500, 'EUR', 'pending'),
      transaction('T-3308', 'C-3304', 'deposit', '2026-03-16', 1000, 'AED'),
      transaction('T-3309', 'C-3305', 'deposit', '2026-03-16', 600, 'EUR'),
    ],
    'trading-activity': [
      activity('C-3301', 'EURUSD', 64, 'USD', { spread_cost: 230, commission: 57.5 }),
      activity('C-3301', 'USOIL', 3, 'USD'),
      activity('C-3302', 'XAUUSD', 40, 'EUR', { spread_cost: 100 }, '2026-03-19'),
      activity('C-3303', 'EURUSD', 20, 'USD', { spread_cost: 46 }),
      activity('C-3304', 'GBPUSD', 2, 'EUR'),
    ],
  },
})

const propTrading = (): DemoCommissions => ({
  ...withPlan('challenge-fees', 'examples/plans/prop-challenge.json'),
  bulks: {
    customers: [
      signup('C-3401', '2026-03-02', 'AFF-1'),
      signup('C-3402', '2026-03-04', 'AFF-1'),
      signup('C-3403', '2026-03-05', 'AFF-2'),
    ],
    transactions: [
      transaction('T-3401', 'C-3401', 'challenge_fee', '2026-03-03', 500, 'USD'),
      transaction('T-3402', 'C-3401', 'reset_fee', '2026-03-20', 250, 'USD'),
      // The refund takes the challenge back, so C-3402 earns nothing.
      transaction('T-3403', 'C-3402', 'challenge_fee', '2026-03-05', 300, 'USD'),
      transaction('T-3404', 'C-3402', 'refund', '2026-03-11', 300, 'USD'),
      transaction('T-3405', 'C-3403', 'challenge_fee', '2026-03-18', 230, 'EUR'),
      transaction('T-3406', 'C-3403', 'payout', '2026-03-30', 900, 'USD'),
    ],
  },
})

const event = (eventname: string, customerid: string, day: string, fields: object) => ({
  eventname,
  customerid,
  createtime: day,
  Currency: 'EUR',
  ...fields,
})

const igaming = (tracking_data: string): DemoCommissions => ({
  ...withPlan('revenue-share', 'examples/plans/revenue-share.json'),
  bulks: {
    customers: [
      { customerId: 'P-3501', regtime: '2026-02-10 08:30', tracking_data },
      { customerId: 'P-3502', regtime: '2026-03-03 08:30' },
    ],
    activities: [
      event('DailyStats', 'P-3501', '2026-02-12', { Product: 'Casino', GGR: '-400.00' }),
      event('DailyStats', 'P-3501', '2026-03-05', { Product: 'Casino', GGR: '1200.00' }),
      event('Deposit', 'P-3501', '2026-03-04 10:00', { eventid: 'dep-3501', Value: '200.00' }),
      event('Bonus', 'P-3501', '2026-03-06 10:00', { eventid: 'bonus-3501', Value: '100.00' }),
      event('Withdrawal', 'P-3501', '2026-03-09 10:00', { eventid: 'wd-3501', Value: '80.00' }),
      event('DailyStats', 'P-3502', '2026-03-05', { Product: 'Sports', GGR: '150.00' }),
    ],
  },
})

/** Returns the commissions of the demo account of a vertical; `trackingData` is that of a visitor of its link. */
export const demoCommissions = (vertical: string, trackingData = ''): DemoCommissions =>
  vertical === 'forex'
    ? forex()
    : vertical === 'prop-trading'
      ? propTrading()
      : igaming(trackingData)
