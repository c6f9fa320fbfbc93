import { dayInZone } from '../zone.ts'
import type { Account } from './schema.ts'

/**
 * Returns the current day of an account as histories date it: in the time zone of a brand, in UTC for
 * partners, whatever their book zone.
 */
export const today = ({ vertical, time_zone }: Account): string =>
  dayInZone(vertical === 'igaming' ? time_zone : 'UTC', Date.now())
