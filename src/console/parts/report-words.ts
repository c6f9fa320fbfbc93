import { countryName } from '../../commission/engine/country-words.ts'
import { EVENTS, type GroupValue } from '../../reports/report.ts'
import { dayWords, periodWords, titleOf, visible } from './data.tsx'

// What reports call their metrics, groups and values.

/** The titles of metrics whose name does not say enough, or too much. */
const METRICS: Readonly<Record<string, string>> = {
  attributed: 'Attributed signups',
  first_deposit_count: 'First deposits',
  first_deposit_amount: 'Amount of first deposits',
  net_deposits: 'Net deposits',
  net_revenue: 'Net revenue',
  commission_charged: 'Commission charged to customers',
  commission_owed: 'Commission owed',
  spread_cost: 'Spread',
  volume: 'Traded volume',
  pnl: 'Profit and loss',
  [EVENTS]: 'All events',
}

/** The plurals of the types of transactions. */
const TYPES: Readonly<Record<string, string>> = {
  deposit: 'deposits',
  withdrawal: 'withdrawals',
  bonus: 'bonuses',
  adjustment: 'adjustments',
  ib_rebate: 'IB rebates',
  challenge_fee: 'challenge fees',
  reset_fee: 'reset fees',
  payout: 'payouts to traders',
  refund: 'refunds',
  other: 'other transactions',
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns the title of a metric of transactions; null for any other. */
function transactionTitle(name: string): string | null {
  const [, type = '', unapproved, of] = /^(\w+?)(_unapproved)?_(count|amount)$/.exec(name) ?? []
  const plural = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (!plural) return null
  const title = of === 'count' ? `Number of ${plural}` : capital(plural)
  return unapproved ? `${title}, not approved` : title
}

/** Returns the title of a count or a sum of an event, such as `DailyStats.unapproved.count`. */
function eventTitle(name: string): string | null {
  const [, event = '', unapproved, of = ''] =
    /^((?:[^\\.]|\\[\\.])+)\.(unapproved\.)?([\s\S]+)$/.exec(name) ?? []
  if (event === '') return null
  const what = of === 'count' ? 'number' : titleOf(of.replaceAll('\\', '')).toLowerCase()
  const title = `${visible(event.replaceAll(/\\([\\.])/g, '$1'))}: ${what}`
  return unapproved ? `${title}, not approved` : title
}

/** Returns the title of a metric, such as `Deposits` for `deposit_amount`. Brands choose the names of events. */
export function metricTitle(name: string): string {
  if (Object.hasOwn(METRICS, name)) return METRICS[name] ?? name
  return transactionTitle(name) ?? eventTitle(name) ?? titleOf(name)
}

const GROUPS: Readonly<Record<string, string>> = {
  country_code: 'Country',
  kyc_status_id: 'KYC status',
  sales_status_id: 'Sales status',
  trading_account_type: 'Trading account',
  transaction_type: 'Transaction',
  challenge_type: 'Challenge',
  account_size: 'Account size',
  eventname: 'Event',
  ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`sub${n}`, `Sub ${n}`])),
}

/** Returns the title of a group, such as `Country` for `country_code`. */
export const groupTitle = (name: string): string =>
  Object.hasOwn(GROUPS, name) ? (GROUPS[name] ?? name) : titleOf(name)

/** Returns a value of a group in words; `none` for records that have no value. */
export function groupText(name: string, value: GroupValue): string {
  if (value === null) return 'none'
  const text = String(value)
  if (name === 'day') return dayWords(text)
  if (name === 'week' || name === 'month') return periodWords(text)
  if (name === 'country_code') return visible(countryName(text))
  if (name === 'transaction_type') return capital(TYPES[text] ?? visible(text))
  return visible(text)
}

/** The groups that are spans of time, in their order. */
export const TIME_GROUPS: ReadonlySet<string> = new Set(['day', 'week', 'month'])

/** Why an amount cannot be converted into the currency of the report. */
export const REST_WORDS: Readonly<Record<string, string>> = {
  fx_missing: 'no rate',
  fx_pending: 'no rate yet',
  no_currency: 'no currency',
}
