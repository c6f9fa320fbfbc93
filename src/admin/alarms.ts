import { DAY_MS } from '../durations.ts'
import { type AlarmJob, sendJobs } from './jobs.ts'
import { logFailure } from './log-failure.ts'

/** A line of the log for which the team is told, once a day for each subject. */
export type AlarmLine =
  | { readonly storage_alarm: 'account' | 'database'; readonly [member: string]: unknown }
  | { readonly late_run: string; readonly [member: string]: unknown }
  | { readonly fault: 'totals_differ'; readonly [member: string]: unknown }

/** An alarm that comes once a day: its type, and what it names. */
interface Alarm {
  readonly type: AlarmJob['alarm']
  readonly subject: string
}

/**
 * Logs a line, and puts a message to the team on the queue, unless the subject had one of this type today. A failure
 * is logged and not thrown: the line is in the log.
 */
export async function raiseAlarm(
  env: Env,
  { type, subject }: Alarm,
  line: AlarmLine,
  now: number,
): Promise<void> {
  const log = 'fault' in line ? console.error : console.warn
  log(JSON.stringify(line))
  if (!env.TEAM_WEBHOOK) return
  await logFailure('DB', async () => {
    const day = Math.floor(now / DAY_MS)
    const id = `${type} ${subject} ${new Date(day * DAY_MS).toISOString().slice(0, 10)}`
    const object = env.CLIENT_GATE.getByName(`alarm:${id}`)
    if (await object.hasEnded()) return
    await sendJobs(env, [{ job: 'alarm', alarm: type, id, data: line, at: now }])
    // Only now: if the queue refuses the message, the next line sends it. Two messages have the same id.
    await object.useOnce((day + 1) * DAY_MS)
  })
}
