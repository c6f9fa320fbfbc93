/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000

/** Milliseconds of an hour. */
export const HOUR_MS = 60 * MINUTE_MS

/** Hours of a day. */
export const DAY_HOURS = 24

/** Milliseconds of a day of 24 hours; a day of a time zone may have 23 or 25. */
export const DAY_MS = DAY_HOURS * HOUR_MS
