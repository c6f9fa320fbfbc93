/** The milliseconds of an hour. */
export const HOUR_MS = 3_600_000

/** The hours of a day in UTC; a day of another time zone may have 23 or 25. */
export const DAY_HOURS = 24

/** The milliseconds of a day in UTC. */
export const DAY_MS = DAY_HOURS * HOUR_MS
