import { only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'

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

/** The limits of held records. */
export const HELD_LIMITS = {
  /** The maximum number of held records of an account. Above, records of unknown customers are rejected. */
  account: 100_000,
}

/** The maximum size of the additional fields of a record, in bytes of JSON (contract §7). */
export const MAX_RECORD_EXTRAS_BYTES = 16_384

/** The maximum size of a customer's additional fields over all deliveries, as stored: those of any record fit. */
export const MAX_EXTRAS_BYTES = 40_960

/**
 * The maximum number of these fields. A merge compares each of them with each stored one, so its time grows with the
 * product of both numbers.
 */
export const MAX_EXTRAS_NUMBER = 64

/** About how many bytes the records of `:account` take in its database, as SQL: what each added when it was created. */
export const USAGE = `(select ifnull(sum(bytes), 0) from totals where account = :account)`

const READ = compileStatement(`select ${USAGE} as bytes`)

/** Returns about how many bytes the records of an account take in its database. */
export const readUsage = async (db: D1Database, account: string): Promise<number> =>
  (await only<{ bytes: number }>(db, READ, { account })).bytes
