import { accountPath, type Page } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, EmptyState } from '../../pages/parts/data.tsx'
import { secretOf } from '../../pages/parts/rotation.tsx'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { newWebhook } from '../../webhooks/operations/webhook-fields.ts'
import { createWebhook, type getWebhook, listWebhooks } from '../../webhooks/operations/webhooks.ts'

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

/** The webhooks of an account. */
export const webhooksPage: Page = {
  path: '/accounts/:account/webhooks',
  shows: 'account',
  section: 'Webhooks',
  changes: {
    create: calling(createWebhook, secretOf('The webhook exists.', 'id', 'url', 'secret')),
  },
  async render(visit) {
    const { data } = await visit.api.call(listWebhooks, { account: visit.account })
    const body = (
      <>
        <p>
          Signed notifications to a server of the account or of your team: the{' '}
          <a href="/docs/webhooks">guide</a> shows how it verifies them.
        </p>
        <Table
          caption="Webhooks"
          rows={data}
          columns={{
            URL: ({ id, url }) => (
              <a href={accountPath(visit.account, 'webhooks', id)}>
                <code>{url}</code>
              </a>
            ),
            State: (hook) => <WebhookState hook={hook} />,
            Events: eventNames,
            Description: 'description',
            Created: 'created_at',
          }}
          empty={
            <EmptyState title="The account has no webhooks yet.">
              <p>
                Create one below. Its secret is shown once; a test event shows whether it works.
              </p>
            </EmptyState>
          }
        />
        <h2>Create a webhook</h2>
        <SchemaForm
          change="create"
          submit="Create the webhook"
          needs="approver"
          schemas={newWebhook}
        />
      </>
    )
    return { title: 'Webhooks', body }
  },
}
