/** The path to which the program posts the time at which the cron of every minute runs, in milliseconds. */
export const CRON_PATH = '/moves/cron'
