import { digest } from '../auth/secret.ts'
import { sendEvent } from './send-batch.ts'

declare global {
  interface Env {
    /** The secret that signs alarms, `whsec_` and Base64. Optional: without `TEAM_WEBHOOK` there are none. */
    TEAM_WEBHOOK_SECRET?: string
  }
}

/** An alarm for the team. */
interface TeamAlarm {
  /** The same for every attempt. */
  readonly id: string
  readonly alarm: string
  /** The members of the line in the log. */
  readonly data: object
  /** When it was raised, in milliseconds. */
  readonly at: number
}

/** An alarm that the receiver of the team did not accept. The queue delivers its message again. */
class TeamWebhookError extends Error {
  override name = 'TeamWebhookError'
}

/**
 * Sends an alarm to the team's URL, signed as events of webhooks are.
 *
 * @throws TeamWebhookError if the receiver does not answer with 2xx.
 */
export async function sendTeamAlarm(env: Env, { id, alarm, data, at }: TeamAlarm): Promise<void> {
  const { TEAM_WEBHOOK: url, TEAM_WEBHOOK_SECRET: secret } = env
  if (!url) return
  const event = { id: `alarm_${await digest(id)}`, type: alarm, at, data: JSON.stringify(data) }
  const target = { url, method: 'POST', isChecked: false } as const
  const { error, status } = await sendEvent(env, target, secret ? [secret] : [], event)
  if (error !== null) throw new TeamWebhookError(`${error} ${status ?? ''}`)
}
