import { dayText } from '../commission/engine/calendar.ts'
import { ApiError } from '../platform/errors.ts'
import type { Source } from './db/read-report.ts'
import { REPORT_LIMITS } from './limits.ts'

const written = (limit: number) => limit.toLocaleString('en')

const REASONS = {
  groups: `The report has more than ${written(REPORT_LIMITS.groups)} rows. Ask for fewer days, or for fewer or coarser groups.`,
  figures: `The report has more than ${written(REPORT_LIMITS.figures)} figures. Name the \`metrics\` that you need, or ask for fewer groups.`,
  customers: 'The affiliates have too many customers for so many days. Ask for fewer days.',
  searched: `Finding first deposits would need more than ${written(REPORT_LIMITS.searched)} customer-days. Ask for fewer days, or name the \`metrics\` that you need, without those of first deposits.`,
  sums: 'Too many combinations of group, metric, currency and day. Ask for fewer days, for fewer or coarser groups, or for the currency of the records.',
  time: `The report takes more than ${REPORT_LIMITS.ms / 1000} seconds. Ask for fewer days, for fewer groups, or name the \`metrics\` that you need.`,
  links: 'The account has too many links for a report by `affiliate_id`. Group by `link`.',
} as const

/** Returns the error of a report that is too large. It says what to narrow. */
export const tooLarge = (what: keyof typeof REASONS): ApiError =>
  new ApiError('validation_failed', { detail: REASONS[what] })

/** What messages call the records of each source. */
const NAMES: Readonly<Record<Source, string>> = {
  customers: 'customers',
  transactions: 'transactions',
  activity: 'rows of trading activity',
  events: 'activities',
  clicks: 'clicks',
}

/**
 * Returns the error of a report of too many records. It says with which day they become too many, and
 * how many days before it can be read at once. `counts` ends with that day.
 */
export function tooManyRecords(
  source: Source,
  from: number,
  counts: ReadonlyMap<number, number>,
): ApiError {
  const last = Math.max(...counts.keys())
  const { records } = REPORT_LIMITS
  const advice =
    last > from
      ? `Ask for fewer days, such as \`from=${dayText(from)}&to=${dayText(last - 1)}\`.`
      : 'Name `metrics` of other records.'
  return new ApiError('validation_failed', {
    detail: `The days from ${dayText(from)} to ${dayText(last)} have more than ${written(records)} ${NAMES[source]}, the most that a report reads. ${advice}`,
  })
}
