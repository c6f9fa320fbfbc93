import type { Account } from '../../platform/db/schema.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { Period } from '../../platform/money/calendar.ts'
import { bookZoneOf, instantOfLocalTime } from '../../platform/zone.ts'

/** Returns when a period ends in the zone of an account's facts, in milliseconds. */
export const endOf = (account: Account, { last }: Period): number =>
  instantOfLocalTime(bookZoneOf(account), (last + 1) * DAY_MS).instant
