import { ApiError } from '../errors.ts'
import { REPORT_LIMITS } from './limits.ts'

const written = (limit: number) => limit.toLocaleString('en')

const REASONS = {
  groups: `The report has more than ${written(REPORT_LIMITS.groups)} rows.`,
  figures: `The report has more than ${written(REPORT_LIMITS.figures)} figures.`,
  records: `These days have more than ${written(REPORT_LIMITS.records)} records of one resource.`,
  kpis: `These days have more than ${written(REPORT_LIMITS.kpis)} values of KPIs.`,
  searched: `To find first deposits, the report would search more than ${written(REPORT_LIMITS.searched)} days since the signup of customers.`,
  sums: `The report adds up more than ${written(REPORT_LIMITS.sums)} sums, one for each group, currency and day of a rate.`,
  links: 'The account has too many links for a report by `affiliate_id`.',
} as const

const ADVICE: Readonly<Record<keyof typeof REASONS, string>> = {
  groups: 'Ask for fewer days, or for fewer or coarser groups.',
  figures: 'Name the `metrics` that you need, or ask for fewer groups.',
  records: 'Ask for fewer days.',
  kpis: 'Ask for fewer days, or name other `metrics` than those of events.',
  searched:
    'Ask for fewer days, or name the `metrics` that you need, without those of first deposits.',
  sums: 'Ask for fewer days, for fewer or coarser groups, or for the currency of the records.',
  links: 'Group by `link`.',
}

/** Returns the error of a report that is too large. It says what to narrow. */
export const tooLarge = (what: keyof typeof REASONS): ApiError =>
  new ApiError('validation_failed', { detail: `${REASONS[what]} ${ADVICE[what]}` })
