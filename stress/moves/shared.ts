/** The path to which the program posts the time at which the cron of every minute runs, in milliseconds. */
export const CRON_PATH = '/moves/cron'

/** How much longer the worker refuses writes in each pause, in milliseconds, so that requests arrive in it. */
export const LONGER_MS = 500
