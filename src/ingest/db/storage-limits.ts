/** The bytes that an account may store unless its quota is changed. */
export const DEFAULT_STORAGE_QUOTA = 4 * 1024 ** 3

/** The size limit of a D1 database on Workers Paid, in bytes. */
export const MAX_DATABASE_BYTES = 10e9

/** The size that a database is planned to reach, in bytes: half of its limit, so that moves and peaks have room. */
export const PLANNED_BYTES = 5e9

/** The bytes of errors, refused requests and dry runs that an account may log a day (UTC). */
export const MAX_LOGGED_BYTES_PER_DAY = 16 * 1024 ** 2

/** The share of a quota, and of a database's size limit, from which operators are warned. */
export const ALARM_SHARE = 0.7
