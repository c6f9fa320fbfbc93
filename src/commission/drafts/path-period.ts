import { ApiError } from '../../errors.ts'
import { quote } from '../../validation/quote.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { isFarAhead } from './limits.ts'

/** The first year of which a period has statements. An earlier one is a mistyped year. */
const FIRST_YEAR = 1970

const NOT_A_PERIOD =
  'is not a period from 1970 to the next 10 years. Use a month such as `2026-10` or an ISO 8601 week such as `2026-W41`.'

/** Returns the period of a path, or throws `not_found`. */
export function readPathPeriod(text: string): Period {
  const period = parsePeriod(text)
  const isKnown = period && Number(text.slice(0, 4)) >= FIRST_YEAR
  if (isKnown && !isFarAhead(period, Date.now())) return period
  const [, year] = /^(\d{4})-W53$/.exec(text) ?? []
  const detail =
    year && !period ? `${year} has 52 weeks of ISO 8601.` : `${quote(text)} ${NOT_A_PERIOD}`
  throw new ApiError('not_found', { detail })
}
