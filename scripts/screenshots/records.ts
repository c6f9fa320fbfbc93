import { DAY_MS } from '../../src/durations.ts'

// The records of a broker's last 30 days. They are the same at every run but for their dates.

/** The number of days with records, the last of which is yesterday. */
export const DAYS = 31

const CUSTOMERS = 60
const AFFILIATES = ['IB-07', 'IB-07', 'IB-08', 'IB-09']
const COUNTRIES = ['DE', 'AT', 'CZ', 'PL', 'DE']
const INSTRUMENTS = ['EURUSD', 'GBPUSD', 'XAUUSD', 'US500']

/** Returns a number from 0 to 1 that looks random and is always the same. */
const noise = (n: number) => {
  const x = Math.sin(n * 12.9898) * 43_758.5453
  return x - Math.floor(x)
}

const cents = (amount: number) => Math.round(amount * 100) / 100

/** Returns the date of a day, counted back from `now` in milliseconds. */
export const dayBefore = (now: number, days: number): string =>
  new Date(now - days * DAY_MS).toISOString().slice(0, 10)

const customerId = (n: number) => `C-${4101 + n}`

/** Returns how busy a day is: weekends are quiet. */
function volumeOf(day: string): number {
  const weekday = new Date(day).getUTCDay()
  return weekday === 0 || weekday === 6 ? 0.35 : 0.7 + 0.3 * noise(Date.parse(day) / DAY_MS)
}

/** The days within which the customers signed up. */
const SIGNUP_DAYS = 60

/** Returns how many days ago a customer signed up. */
const signupOf = (n: number) => SIGNUP_DAYS - Math.floor((n * SIGNUP_DAYS) / CUSTOMERS)

/** Returns the customers. */
export const customers = (now: number): object[] =>
  Array.from({ length: CUSTOMERS }, (_, n) => ({
    customer_id: customerId(n),
    signup_date: `${dayBefore(now, signupOf(n))}T08:30:00Z`,
    affiliate_id: AFFILIATES[n % AFFILIATES.length],
    country_code: COUNTRIES[n % COUNTRIES.length],
    tracking_data: `click-${4101 + n}`,
  }))

/** Returns the customers who had signed up before a day, which is counted back from now. */
const activeOn = (daysAgo: number) =>
  Array.from({ length: CUSTOMERS }, (_, n) => n).filter((n) => signupOf(n) >= daysAgo)

const eachDay = (now: number, of: (day: string, daysAgo: number) => object[]): object[] =>
  Array.from({ length: DAYS }, (_, n) => DAYS - n).flatMap((ago) => of(dayBefore(now, ago), ago))

/** Returns deposits and withdrawals of each day. */
export const transactions = (now: number): object[] =>
  eachDay(now, (day, ago) =>
    activeOn(ago)
      .filter((n) => noise(n * 31 + ago) < 0.5 * volumeOf(day))
      .map((n) => ({
        transaction_id: `T-${4101 + n}-${day}`,
        customer_id: customerId(n),
        transaction_type: noise(n + ago * 7) < 0.8 ? 'deposit' : 'withdrawal',
        amount_currency: 50 * Math.ceil(12 * noise(n * 17 + ago * 3)),
        currency: 'EUR',
        status: 'approved',
        transaction_date: `${day}T10:15:00Z`,
      })),
  )

/** Returns the trading of each day. */
export const activity = (now: number): object[] =>
  eachDay(now, (day, ago) =>
    activeOn(ago)
      .filter((n) => noise(n * 13 + ago) < volumeOf(day))
      .map((n) => ({
        date: day,
        customer_id: customerId(n),
        instrument: INSTRUMENTS[(n + ago) % INSTRUMENTS.length],
        lots_traded: cents(8 * noise(n * 5 + ago * 11)),
        currency: 'EUR',
        spread_cost: cents(40 * noise(n * 3 + ago * 19)),
        commission: cents(12 * noise(n * 23 + ago)),
      })),
  )

/** Returns a delivery of 12 transactions, of which some have a typical mistake. */
export const refused = (now: number): object[] =>
  Array.from({ length: 12 }, (_, n) => ({
    transaction_id: `T-42${String(n).padStart(2, '0')}`,
    customer_id: customerId(n),
    transaction_type: n % 4 === 1 ? 'gift' : 'deposit',
    amount_currency: 250,
    currency: n % 6 === 2 ? 'EUX' : 'EUR',
    status: 'approved',
    transaction_date: `${dayBefore(now, 1)}${n === 9 ? ' 10:15' : 'T10:15:00Z'}`,
  }))
