import { isLocal } from '../platform/development.ts'
import { DAY_MS, MINUTE_MS } from '../platform/durations.ts'

// `wrangler dev` fires no cron. There an object runs them at their times (background-job.ts).

/** Whether this isolate has started the crons. */
let hasCrons = false

/** Starts the crons under `wrangler dev`. Cloudflare fires those of a deployed service. */
export async function startLocalCrons(env: Env): Promise<void> {
  if (!isLocal(env) || hasCrons) return
  hasCrons = true
  await env.BACKGROUND_JOBS.getByName('crons').request({ name: 'crons' })
}

/** The names of weekdays, in the order of `Date.getUTCDay`. */
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** Returns whether a field of a schedule, such as `15,16`, `MON-FRI` or `*` with a step, has a value. */
const hasValue = (field: string, value: number): boolean =>
  field.split(',').some((part) => {
    const [range = '', step = '1'] = part.split('/')
    if (range === '*') return value % Number(step) === 0
    const [first = 0, last = first] = range.split('-').map(numberOf)
    return value >= first && value <= last
  })

const numberOf = (text: string) => (WEEKDAYS.includes(text) ? WEEKDAYS.indexOf(text) : Number(text))

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
 * Returns the last time at which a cron fires after `after` and until `now`, at most a day ago; null if it
 * does not fire. All times are in milliseconds.
 */
export function lastFiring(cron: string, after: number, now: number): number | null {
  const oldest = Math.max(after, now - DAY_MS)
  for (let time = Math.floor(now / MINUTE_MS) * MINUTE_MS; time > oldest; time -= MINUTE_MS) {
    if (firesAt(cron, time)) return time
  }
  return null
}
