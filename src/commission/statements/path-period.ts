import { ApiError } from '../../platform/errors.ts'
import { quote } from '../../platform/validation/quote.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { isFarAhead, PERIOD_FORMS } from './limits.ts'

/** The first year of which a period has statements. An earlier one is a mistyped year. */
const FIRST_YEAR = 1970

const NOT_A_PERIOD = `is not a period between 1970 and 10 years from now. Use ${PERIOD_FORMS}.`

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
