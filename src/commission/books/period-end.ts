import type { Account } from '../../db/schema.ts'
import { DAY_MS } from '../../durations.ts'
import { bookZoneOf, instantOfLocalTime } from '../../zone.ts'
import type { Period } from '../engine/calendar.ts'

/** Returns when a period ends in the zone of an account's facts, in milliseconds. */
export const endOf = (account: Account, { last }: Period): number =>
  instantOfLocalTime(bookZoneOf(account), (last + 1) * DAY_MS).instant
