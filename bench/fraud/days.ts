import { dayNumber } from '../../src/commission/engine/calendar.ts'

/** The days of the year, and the first day of the records: a service that was begun two months before. */
export const YEAR = {
  first: dayNumber('2025-12-01'),
  last: dayNumber('2026-11-30'),
  opened: dayNumber('2025-10-01'),
} as const
