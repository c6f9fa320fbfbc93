import type { Account } from '../db/schema.ts'
import { dayInZone } from '../zone.ts'

/** Returns the current day of an account: in the time zone of a brand, in UTC for partners. */
export const today = ({ vertical, time_zone }: Account): string =>
  dayInZone(vertical === 'igaming' ? time_zone : 'UTC', Date.now())
