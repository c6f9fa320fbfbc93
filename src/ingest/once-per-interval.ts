/** The number of accounts whose last start is remembered. Beyond that, all of them are forgotten. */
const MAX_ACCOUNTS = 1000

/**
 * Returns a function that tells whether a job of an account may start at `now` (milliseconds). In this
 * isolate it may start once in `intervalMs`. A cron job does what is not started.
 */
export function oncePerInterval(intervalMs: number): (account: string, now: number) => boolean {
  const lastStarts = new Map<string, number>()
  return (account, now) => {
    if (now - (lastStarts.get(account) ?? 0) < intervalMs) return false
    if (lastStarts.size >= MAX_ACCOUNTS) lastStarts.clear()
    lastStarts.set(account, now)
    return true
  }
}
