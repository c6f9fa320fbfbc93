import { invalidQuery } from '../../http/query.ts'
import { FAR_AHEAD, isFarAhead, PERIOD_FORMS } from '../drafts/limits.ts'
import { dayNumber, type Period, parsePeriod } from '../engine/calendar.ts'
import type { QualificationStatus } from '../engine/once-report.ts'
import { REASONS, type Reason } from '../engine/reasons.ts'

/** Returns the period of a query, which requires one. */
export function readPeriod(text: string | undefined): Period {
  const period = parsePeriod(text ?? '')
  if (period && isFarAhead(period, Date.now())) throw invalidQuery(FAR_AHEAD)
  if (period) return period
  throw invalidQuery(
    (text === undefined ? 'The parameter `period` is missing: ' : '`period` must be ') +
      PERIOD_FORMS,
  )
}

/** Returns the reason of a query. */
export function readReason(text: string | undefined): Reason | undefined {
  if (text === undefined) return undefined
  const reason = REASONS.find((one) => one === text)
  if (reason) return reason
  throw invalidQuery(`\`reason\` must be one of ${REASONS.map((one) => `\`${one}\``).join(', ')}.`)
}

const STATUSES: readonly QualificationStatus[] = ['qualified', 'waiting', 'failed', 'refused']

/** Returns the status of a query. */
export function readStatus(text: string | undefined): QualificationStatus | undefined {
  if (text === undefined) return undefined
  const status = STATUSES.find((one) => one === text)
  if (status) return status
  throw invalidQuery('`status` must be `qualified`, `waiting`, `failed` or `refused`.')
}

/** Returns a parameter, or throws `invalid_query` if it is missing. */
export function required(name: string, text: string | undefined): string {
  if (text === undefined) throw invalidQuery(`The parameter \`${name}\` is missing.`)
  return text
}

/** Returns a day of a query, in days since 1970. */
export function readDay(name: string, text: string | undefined): number {
  const day = /^\d{4}-\d\d-\d\d$/.test(text ?? '') ? dayNumber(text ?? '') : Number.NaN
  if (Number.isNaN(day)) throw invalidQuery(`\`${name}\` must be a day such as \`2026-10-02\`.`)
  return day
}
