import { capital } from '../../commission/words/english.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { dayWords, periodWords, titleOf, visible } from '../../pages/parts/data.tsx'
import { labelOf } from '../../pages/parts/record-fields.tsx'
import { EVENTS, type GroupValue, titleOfMetric, transactionsTitle } from '../../reports/report.ts'

// What reports call their metrics, groups and values.

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
export const metricTitle = (name: string): string =>
  name === EVENTS ? 'All events' : (titleOfMetric(name) ?? eventTitle(name) ?? titleOf(name))

const GROUPS: Readonly<Record<string, string>> = {
  trading_account_type: 'Trading account',
  transaction_type: 'Transaction',
  ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`sub${n}`, `Sub ${n}`])),
}

/** Returns the title of a group, such as `Country` for `country_code`. */
export const groupTitle = (name: string): string => GROUPS[name] ?? labelOf(name)

/** Returns a value of a group in words; `none` for records that have no value. */
export function groupText(name: string, value: GroupValue): string {
  if (value === null) return 'none'
  const text = String(value)
  if (name === 'day') return dayWords(text)
  if (name === 'week' || name === 'month') return periodWords(text)
  if (name === 'country_code') return visible(ENGLISH.country(text))
  if (name === 'transaction_type') return capital(transactionsTitle(text) ?? visible(text))
  return visible(text)
}

/** Why an amount cannot be converted into the currency of the report. */
export const REST_WORDS: Readonly<Record<string, string>> = {
  fx_missing: 'no rate',
  fx_pending: 'no rate yet',
  no_currency: 'no currency',
}
