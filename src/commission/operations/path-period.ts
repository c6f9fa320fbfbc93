import { ApiError } from '../../platform/errors.ts'
import type { Period } from '../../platform/money/calendar.ts'
import { quote } from '../../platform/validation/quote.ts'
import { knownPeriod, PERIOD_FORMS } from '../limits.ts'

/** Returns the period of a path, or throws `not_found`. */
export function readPathPeriod(text: string): Period {
  const period = knownPeriod(text)
  if (period) return period
  const detail = `${quote(text)} is not a period. Use ${PERIOD_FORMS}.`
  throw new ApiError('not_found', { detail })
}
