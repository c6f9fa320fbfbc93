import { WEBHOOK_LIMITS } from './limits.ts'

/** Returns, by table, the smallest id of the rows of webhooks and notices that are kept at `now` (milliseconds). */
export function oldestOfWebhooks(now: number) {
  const idAt = (prefix: string, time: number) => `${prefix}_${time.toString(16).padStart(11, '0')}`
  const event = idAt('evt', now - WEBHOOK_LIMITS.keptMs)
  const outbox = idAt('ntc', now - WEBHOOK_LIMITS.noticesKeptMs)
  return { webhook_messages: event, webhook_events: event, outbox }
}
