import { WEBHOOK_LIMITS } from './limits.ts'

/** Returns, by table, the smallest id of the webhook rows that are kept at `now` (milliseconds). */
export function oldestOfWebhooks(now: number) {
  const event = `evt_${(now - WEBHOOK_LIMITS.keptMs).toString(16).padStart(11, '0')}`
  return { webhook_messages: event, webhook_events: event }
}
