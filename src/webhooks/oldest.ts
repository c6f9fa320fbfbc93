import { WEBHOOK_LIMITS } from './limits.ts'

/** Returns the smallest id with a prefix that a row of a time (milliseconds) can have. */
const firstId = (prefix: string, at: number) => prefix + at.toString(16).padStart(11, '0')

/** Returns, by table, the smallest id of the webhook rows that are kept at `now` (milliseconds). */
export function oldestOfWebhooks(now: number) {
  const oldest = now - WEBHOOK_LIMITS.keptMs
  const event = firstId('evt_', oldest)
  return {
    webhook_messages: event,
    webhook_events: event,
    webhook_attempts: firstId('att_', oldest),
  }
}
