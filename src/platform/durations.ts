/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000

/** Milliseconds of an hour. */
export const HOUR_MS = 60 * MINUTE_MS

/** Hours of a day. */
export const DAY_HOURS = 24

/** Milliseconds of a day of 24 hours; a day of a time zone may have 23 or 25. */
export const DAY_MS = DAY_HOURS * HOUR_MS

/** The days after its last new record after which an open case of the fraud review expires (§17). */
export const EXPIRE_DAYS = 90
