import { Badge } from '../../pages/parts/data.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import type { getWebhook } from '../../webhooks/operations/webhooks.ts'

/** A webhook as the API shows it. */
export type Webhook = AnswerOf<typeof getWebhook>

const REASONS = {
  team: 'disabled',
  gone: 'disabled: answered 410',
  failing: 'disabled: failed for three days',
}

/** Renders whether a webhook is sent events, and why not. */
export const WebhookState = ({ hook }: { hook: Webhook }) => {
  if (hook.disabled_reason) return <Badge tone="bad">{REASONS[hook.disabled_reason]}</Badge>
  if (hook.failing_since) return <Badge tone="warn">failing</Badge>
  return <Badge tone="good">active</Badge>
}

/** Renders the types of events that a webhook is sent. */
export const eventNames = ({ events }: Webhook) =>
  events.includes('*') ? 'all' : events.join(', ')
