import { DAY_MS } from '../platform/durations.ts'

/** The version of the columns. It grows when a column changes, and every file is then written anew. */
export const COLUMNS_VERSION = 1

/** The limits of exports. */
export const EXPORT_LIMITS = {
  /** The rows of a file. */
  rows: 100_000,
  /** The queries after which a message leaves the rest to the next: a file takes about 100. */
  queries: 250,
  /** How long a replaced file can still be read, in milliseconds. */
  keptMs: DAY_MS,
  /** The objects that one message deletes. */
  objects: 1000,
}

/** The seconds after the start of an account's runs at which its export begins. */
export const AFTER_RUNS_SECONDS = 3600
