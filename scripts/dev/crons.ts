import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/durations.ts'

// `wrangler dev` fires no cron, so `npm run dev` does.

/** The names of weekdays, in the order of `Date.getUTCDay`. */
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const numberOf = (text: string) => (WEEKDAYS.includes(text) ? WEEKDAYS.indexOf(text) : Number(text))

/** Returns whether a field of a schedule, such as `15,16`, `MON-FRI` or `*` with a step, has a value. */
const hasValue = (field: string, value: number): boolean =>
  field.split(',').some((part) => {
    const [range = '', step = '1'] = part.split('/')
    if (range === '*') return value % Number(step) === 0
    const [first = 0, last = first] = range.split('-').map(numberOf)
    return value >= first && value <= last
  })

/** Returns whether a cron fires in a minute, which begins at `time` (milliseconds, UTC). */
function firesAt(cron: string, time: number): boolean {
  const date = new Date(time)
  const values = [
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth() + 1,
    date.getUTCDay(),
  ]
  return cron.split(' ').every((field, i) => hasValue(field, values[i] ?? 0))
}

/**
 * Returns whether a cron fires after `after` and until `now` (milliseconds), of which at most a day counts: after a
 * night in which the machine slept, it fires once.
 */
export function fires(cron: string, after: number, now: number): boolean {
  const oldest = Math.max(after, now - DAY_MS)
  for (let time = Math.floor(now / MINUTE_MS) * MINUTE_MS; time > oldest; time -= MINUTE_MS) {
    if (firesAt(cron, time)) return true
  }
  return false
}

/** Runs the crons of the service at an address at their times, as long as this program runs. */
export function startCrons(base: string): void {
  let fired = Date.now() - MINUTE_MS
  setInterval(() => {
    const now = Date.now()
    for (const cron of Object.values(CRON_SCHEDULES)) {
      if (!fires(cron, fired, now)) continue
      const query = new URLSearchParams({ cron })
      // The Worker logs its failures; while it reloads, the next minute does.
      fetch(`${base}/cdn-cgi/handler/scheduled?${query}`).catch(() => {})
    }
    fired = now
  }, 1000)
}
