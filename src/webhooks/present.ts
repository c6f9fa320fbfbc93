import type { EndpointRow } from '../db/webhooks/endpoints.ts'
import type { AttemptRow, MessageRow } from '../db/webhooks/log.ts'
import { validSecrets } from './valid-secrets.ts'

const timeText = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

/** Returns an endpoint as the administration API shows it: without its secrets. */
export function presentWebhook(row: EndpointRow, now: number) {
  const ends = validSecrets(row.secrets, now).flatMap(({ endsAt }) => endsAt ?? [])
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as string[],
    description: row.description,
    disabled: row.disabled !== null,
    disabled_reason: row.disabled,
    failing_since: timeText(row.failing_since),
    previous_secret_until: timeText(ends.length === 0 ? null : Math.max(...ends)),
    created_at: row.created_at,
  }
}

/** An endpoint as the administration API shows it. */
export type Webhook = ReturnType<typeof presentWebhook>

/** Returns an attempt as the administration API shows it. */
export const presentAttempt = ({ event, at, ...row }: AttemptRow) => ({
  id: row.id,
  at: timeText(at),
  event_id: event,
  type: row.type,
  attempt: row.attempt,
  status: row.status,
  ms: row.ms,
  error: row.error,
  next_attempt_at: timeText(row.next_at),
})

/** Returns an event that is sent to an endpoint as the administration API shows it. */
export const presentMessage = ({ event, at, next_at, data, ...row }: MessageRow) => ({
  event_id: event,
  type: row.type,
  timestamp: timeText(at),
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: row.status === 'pending' ? timeText(next_at) : null,
  data: JSON.parse(data) as object,
})
