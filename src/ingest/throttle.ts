/** The accounts of which an isolate remembers when a job last began. */
const MAX_ACCOUNTS = 1000

/**
 * Returns a function that tells whether a job of an account may begin now (milliseconds): at most once
 * in `intervalMs` in this isolate. A job that may not begin is left to a cron.
 */
export function newThrottle(intervalMs: number): (account: string, now: number) => boolean {
  const begun = new Map<string, number>()
  return (account, now) => {
    if (now - (begun.get(account) ?? 0) < intervalMs) return false
    if (begun.size >= MAX_ACCOUNTS) begun.clear()
    begun.set(account, now)
    return true
  }
}
