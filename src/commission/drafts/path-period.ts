import { ApiError } from '../../errors.ts'
import { quote } from '../../validation/quote.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { isFarAhead } from './limits.ts'

/** The first year of which a period has statements. An earlier one is a mistyped year. */
const FIRST_YEAR = 1970

const NOT_A_PERIOD =
  'is not a month or ISO 8601 week from 1970 to 10 years from now. Use a period such as `2026-10` or `2026-W41`.'

/** Returns the period of a path, or throws `not_found`. */
export function readPathPeriod(text: string): Period {
  const period = parsePeriod(text)
  const isKnown = period && Number(text.slice(0, 4)) >= FIRST_YEAR
  if (isKnown && !isFarAhead(period, Date.now())) return period
  const [, year] = /^(\d{4})-W53$/.exec(text) ?? []
  const detail =
    year && !period ? `${year} has only 52 ISO 8601 weeks.` : `${quote(text)} ${NOT_A_PERIOD}`
  throw new ApiError('not_found', { detail })
}
