import { checkDay, invalidQuery, invalidValue, readChoice } from '../../http/query.ts'
import { FAR_AHEAD, isFarAhead, PERIOD_FORMS } from '../drafts/limits.ts'
import { dayNumber, type Period, parsePeriod } from '../engine/calendar.ts'
import type { QualificationStatus } from '../engine/once-report.ts'
import { REASONS, type Reason } from '../engine/reasons.ts'

/** Returns the period of a query, which requires one. */
export function readPeriod(text: string | undefined): Period {
  const period = parsePeriod(text ?? '')
  if (period && isFarAhead(period, Date.now())) throw invalidQuery(FAR_AHEAD)
  if (period) return period
  if (text !== undefined) throw invalidValue('period', text, PERIOD_FORMS)
  throw invalidQuery(`The parameter \`period\` is missing. Send ${PERIOD_FORMS}.`)
}

/** Returns the reason of a query. */
export const readReason = (text: string | undefined): Reason | undefined =>
  readChoice('reason', text, REASONS)

const STATUSES: readonly QualificationStatus[] = ['qualified', 'waiting', 'failed', 'refused']

/** Returns the status of a query. */
export const readStatus = (text: string | undefined): QualificationStatus | undefined =>
  readChoice('status', text, STATUSES)

/** Returns a parameter, or throws `invalid_query` if it is missing. */
export function required(name: string, text: string | undefined): string {
  if (text === undefined) throw invalidQuery(`The parameter \`${name}\` is missing.`)
  return text
}

/** Returns a day of a query, in days since 1970. */
export function readDay(name: string, text: string | undefined): number {
  const day = required(name, text)
  checkDay(name, day)
  return dayNumber(day)
}
