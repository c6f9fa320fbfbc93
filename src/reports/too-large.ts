import { ApiError } from '../platform/errors.ts'
import { REPORT_LIMITS } from './limits.ts'

const written = (limit: number) => limit.toLocaleString('en')

const REASONS = {
  groups: `The report has more than ${written(REPORT_LIMITS.groups)} rows. Ask for fewer days, or for fewer or coarser groups.`,
  figures: `The report has more than ${written(REPORT_LIMITS.figures)} figures. Name the \`metrics\` that you need, or ask for fewer groups.`,
  customers: 'The affiliates have too many customers for so many days. Ask for fewer days.',
  records: `The days have more than ${written(REPORT_LIMITS.records)} records of a resource, the most that a report reads. Ask for fewer days, or name the \`metrics\` that you need.`,
  sums: 'Too many combinations of group, metric, currency and day. Ask for fewer days, for fewer or coarser groups, or for the currency of the records.',
  time: `The report takes more than ${REPORT_LIMITS.ms / 1000} seconds. Ask for fewer days, for fewer groups, or name the \`metrics\` that you need.`,
  links: 'The account has too many links for a report by `affiliate_id`. Group by `link`.',
} as const

/** Returns the error of a report that is too large. It says what to narrow. */
export const tooLarge = (what: keyof typeof REASONS): ApiError =>
  new ApiError('validation_failed', { detail: REASONS[what] })
