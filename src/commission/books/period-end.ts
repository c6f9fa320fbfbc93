import type { Account } from '../../db/schema.ts'
import { DAY_MS } from '../../durations.ts'
import { instantOfLocalTime } from '../../zone.ts'
import type { Period } from '../engine/calendar.ts'

/** Returns when a period ends for an account, in milliseconds: in UTC, for brands in their zone. */
export function endOf({ vertical, time_zone }: Account, { last }: Period): number {
  const midnight = (last + 1) * DAY_MS
  return vertical === 'igaming' ? instantOfLocalTime(time_zone, midnight).instant : midnight
}
