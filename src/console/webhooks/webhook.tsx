import { accountPath, type Change, type Page, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, EmptyState, isolated, Live, Pager, Time, visible } from '../../pages/parts/data.tsx'
import { Members, Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters, FoldedForm } from '../../pages/parts/forms.tsx'
import { RotationForm, secretOf } from '../../pages/parts/rotation.tsx'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { webhookChange } from '../../webhooks/operations/webhook-fields.ts'
import {
  changeWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookEvents,
  replayWebhook,
  rotateWebhook,
  testWebhook,
} from '../../webhooks/operations/webhooks.ts'
import { eventNames, type Webhook, WebhookState } from './webhooks.tsx'

type Sent = AnswerOf<typeof listWebhookEvents>

const TONES = { pending: 'warn', delivered: 'good', dead: 'bad' } as const

const STATUSES = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['dead', 'Dead letters'],
] as const

/** Returns what a receiver answered, and why an attempt failed. */
const answerText = ({
  response_status,
  error,
}: Omit<AnswerOf<typeof testWebhook>, 'body'>): string =>
  visible([response_status, error?.replaceAll('_', ' ')].filter(Boolean).join(' '))

const testText = (answer: unknown): string =>
  `The test event was sent. The answer: ${answerText(answer as AnswerOf<typeof testWebhook>)}.`

/** Renders the events of a webhook. */
const Events = ({ list }: { list: Sent }) => (
  <>
    <Filters fields={[{ name: 'status', label: 'Status', options: STATUSES }]} />
    <Live id="log" seconds={5}>
      <Table
        caption="Events, the newest first"
        rows={list.data}
        columns={{
          Caused: ({ timestamp }) => <Time at={timestamp} />,
          Type: 'type',
          Status: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge>,
          Attempts: { number: ({ attempts }) => attempts },
          'Last answer': (row) => answerText(row) || '–',
          Data: ({ event_id, data, next_attempt_at: at }) => (
            <details>
              <summary>Show</summary>
              <code>{event_id}</code>
              {at && (
                <p>
                  Next attempt: <Time at={at} />
                </p>
              )}
              <Members object={data} />
              <ChangeForm change="replay" submit="Send this event again">
                <input type="hidden" name="event_id" value={event_id} />
              </ChangeForm>
            </details>
          ),
        }}
        empty={
          <EmptyState title="No events in the last 30 days.">
            <p>A test event shows whether the receiver works.</p>
          </EmptyState>
        }
      />
      <Pager meta={list.meta} />
    </Live>
  </>
)

const { disabled: _, ...settings } = webhookChange

const idOf = ({ params }: Visit) => params.webhook_id ?? ''
const idsOf = (visit: Visit) => ({ account: visit.account, webhook_id: idOf(visit) })

const switchTo = (disabled: boolean, done: string) =>
  calling(changeWebhook, done, () => ({ disabled }))

const changes: Record<string, Change> = {
  save: calling(changeWebhook, 'The webhook is saved.'),
  enable: switchTo(false, 'The webhook is enabled.'),
  disable: switchTo(true, 'The webhook is disabled. What was pending is now a dead letter.'),
  test: calling(testWebhook, testText),
  replay: calling(replayWebhook, 'The event is sent again.'),
  rotate: calling(rotateWebhook, secretOf('The webhook has a new secret.', 'id', 'secret')),
  drop: {
    ...calling(deleteWebhook, 'The webhook is deleted.'),
    next: (_, { account }) => accountPath(account, 'webhooks'),
  },
}

const Settings = ({ hook }: { hook: Webhook }) => (
  <>
    <h2>Settings</h2>
    <SchemaForm change="save" submit="Save the webhook" schemas={settings} values={{ ...hook }} />
    <h2>Secret</h2>
    <RotationForm secret="secret" />
    <h2>Stop</h2>
    {hook.disabled ? (
      <ChangeForm change="enable" submit="Enable the webhook" />
    ) : (
      <ChangeForm change="disable" submit="Disable the webhook">
        <p class="note">What is pending becomes dead letters, which can be sent again.</p>
      </ChangeForm>
    )}
    <FoldedForm change="drop" submit="Delete the webhook" isDanger>
      <p>Nothing more is sent to it.</p>
    </FoldedForm>
  </>
)

/** A webhook: its events, each with its last attempt, and its settings. */
export const webhookPage: Page = {
  path: '/accounts/:account/webhooks/:webhook_id',
  shows: 'account',
  section: 'Webhooks',
  query: ['status', 'cursor'],
  changes,
  async render(visit) {
    const { api, query } = visit
    const own = idsOf(visit)
    const [hook, list] = await Promise.all([
      api.call(getWebhook, own),
      api.call(listWebhookEvents, { ...own, ...query }),
    ])
    const body = (
      <>
        <p>
          <code>{visible(hook.url)}</code>
        </p>
        <Pairs
          pairs={[
            ['State', <WebhookState hook={hook} />],
            ['Events', eventNames(hook)],
            ['Failing since', hook.failing_since && <Time at={hook.failing_since} />],
            [
              'Old secret ends',
              hook.previous_secret_until && <Time at={hook.previous_secret_until} />,
            ],
          ]}
        />
        {!hook.disabled && <ChangeForm change="test" submit="Send a test event" />}
        <Events list={list} />
        <Settings hook={hook} />
      </>
    )
    return { title: hook.description === null ? 'Webhook' : isolated(hook.description), body }
  },
}
