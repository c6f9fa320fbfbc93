import type { Child } from 'hono/jsx'
import { webhookChange } from '../../admin/webhook-fields.ts'
import {
  changeWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookAttempts,
  listWebhookEvents,
  replayWebhook,
  rotateWebhook,
  testWebhook,
} from '../../admin/webhooks.ts'
import type { InputOf } from '../../http/operation.ts'
import { pick } from '../form.ts'
import { accountPath, type Change, type Page, type Values, type Visit } from '../page.ts'
import { isolated, Time, visible } from '../parts/data.tsx'
import { WEBHOOK_WORDS } from '../parts/field-words.ts'
import { Pairs } from '../parts/fields.tsx'
import { ChangeForm, ConfirmForm, type Input } from '../parts/forms.tsx'
import { RotationForms, rotationChanges, secretOf } from '../parts/rotation.tsx'
import { changedMembers } from '../parts/schema.ts'
import { SchemaForm } from '../parts/schema-fields.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { eventNames, type Webhook, WebhookState } from '../parts/webhook.tsx'
import { Attempts, Events } from '../parts/webhook-log.tsx'

const { disabled: _, ...settings } = webhookChange

const idOf = ({ params }: Visit) => params.webhook ?? ''
const idsOf = (visit: Visit) => ({ account: visit.account, webhook_id: idOf(visit) })

const switchTo = (disabled: boolean, done: string): Change => ({
  done,
  perform: (_, visit) => visit.api.call(changeWebhook, { ...idsOf(visit), disabled }),
})

type ReplayFields = Omit<InputOf<typeof replayWebhook>, keyof ReturnType<typeof idsOf>>

const replay = (fieldsOf: (values: Values) => ReplayFields): Change => ({
  done: (answer) => `Events sent again: ${(answer as { replayed: number }).replayed}.`,
  next: (_, visit) => tabPath(visit, 'Attempts'),
  perform: (values, visit) =>
    visit.api.call(replayWebhook, { ...idsOf(visit), ...fieldsOf(values) }),
})

const changes: Record<string, Change> = {
  save: {
    done: 'The webhook is saved.',
    perform: (values, visit) =>
      visit.api.call(changeWebhook, { ...idsOf(visit), ...changedMembers(settings, values) }),
  },
  enable: switchTo(false, 'The webhook is enabled.'),
  disable: switchTo(true, 'The webhook is disabled. What was pending is now a dead letter.'),
  test: {
    done: 'The test event is sent. Reload the page in a moment to see its attempt.',
    next: (_, visit) => tabPath(visit, 'Attempts'),
    perform: (_, visit) => visit.api.call(testWebhook, idsOf(visit)),
  },
  replayOne: replay((values) => ({ event_id: values('event_id') })),
  replaySpan: replay((values) => ({
    // The fields have minutes and no zone: they mean UTC.
    ...pick((name) => values(name) && `${values(name)}:00Z`, 'from', 'to'),
    only_dead: values('only_dead') !== '',
  })),
  ...rotationChanges({
    rotate: (overlap, visit) => visit.api.call(rotateWebhook, { ...idsOf(visit), overlap }),
    done: secretOf('The webhook has a new secret.', 'id', 'secret'),
    confirm: idOf,
  }),
  drop: {
    done: 'The webhook is deleted.',
    confirm: idOf,
    next: (_, { account }) => accountPath(account, 'webhooks'),
    perform: (_, visit) => visit.api.call(deleteWebhook, idsOf(visit)),
  },
}

const Settings = ({ visit, hook }: { visit: Visit; hook: Webhook }) => (
  <>
    <SchemaForm
      visit={visit}
      change="save"
      submit="Save the webhook"
      schemas={settings}
      words={WEBHOOK_WORDS}
      values={{ ...hook }}
    />
    <h2>Secret</h2>
    <RotationForms visit={visit} secret="secret" name={hook.id} />
    <h2>Stop</h2>
    {hook.disabled ? (
      <ChangeForm visit={visit} change="enable" submit="Enable the webhook" />
    ) : (
      <ChangeForm visit={visit} change="disable" submit="Disable the webhook">
        <p class="note">What is pending becomes dead letters, which can be sent again.</p>
      </ChangeForm>
    )}
    <ConfirmForm visit={visit} change="drop" submit="Delete the webhook" name={hook.id}>
      <p>Nothing more is sent to it.</p>
    </ConfirmForm>
  </>
)

const SPAN: readonly Input[] = [
  { name: 'from', label: 'From (UTC)', type: 'datetime-local', required: true },
  { name: 'to', label: 'To (UTC)', type: 'datetime-local', hint: 'Exclusive. Empty: until now.' },
  {
    name: 'only_dead',
    label: 'Events',
    options: [
      ['', 'all of the span'],
      ['yes', 'only dead letters'],
    ],
  },
]

const Replay = ({ visit }: { visit: Visit }) => (
  <>
    <h2>Send a span again</h2>
    <ChangeForm visit={visit} change="replaySpan" submit="Send the events again" fields={SPAN}>
      <p>At most 10,000 events. Each keeps its id, by which the receiver can tell what it knows.</p>
    </ChangeForm>
  </>
)

const TABS = { Events: [], Attempts: ['attempts'], Settings: ['settings'] }
type Tab = keyof typeof TABS

/** Returns the address of a page of the webhook. */
const tabPath = (visit: Visit, tab: Tab) =>
  accountPath(visit.account, 'webhooks', idOf(visit), ...TABS[tab])

/** Returns the pair of a name and an instant; none if it is null. */
const instant = (name: string, at: string | null) => (at ? [[name, <Time at={at} />] as const] : [])

/** Returns a page of a webhook. `read` reads the content of its tab in parallel with the webhook. */
const webhookPage = (
  tab: Tab,
  query: readonly string[],
  read: (visit: Visit) => Promise<(hook: Webhook) => Child>,
): Page => ({
  path: ['/accounts/:account/webhooks/:webhook', ...TABS[tab]].join('/'),
  section: 'Webhooks',
  query,
  changes,
  async render(visit) {
    const [hook, content] = await Promise.all([
      visit.api.call(getWebhook, idsOf(visit)),
      read(visit),
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
            ...instant('Failing since', hook.failing_since),
            ...instant('Old secret ends', hook.previous_secret_until),
          ]}
        />
        {!hook.disabled && <ChangeForm visit={visit} change="test" submit="Send a test event" />}
        <Tabs
          label="Webhook"
          here={tab}
          tabs={(['Events', 'Attempts', 'Settings'] as const).map((one) => [
            one,
            tabPath(visit, one),
          ])}
        />
        {content(hook)}
      </>
    )
    return { title: hook.description === null ? 'Webhook' : isolated(hook.description), body }
  },
})

/** The pages of a webhook: its events, its attempts and its settings. */
export const webhookPages: readonly Page[] = [
  webhookPage('Events', ['status', 'cursor'], async (visit) => {
    const list = await visit.api.call(listWebhookEvents, { ...idsOf(visit), ...visit.query })
    return () => (
      <>
        <Events visit={visit} list={list} attempts={tabPath(visit, 'Attempts')} />
        <Replay visit={visit} />
      </>
    )
  }),
  webhookPage('Attempts', ['event_id', 'failed', 'cursor'], async (visit) => {
    const list = await visit.api.call(listWebhookAttempts, { ...idsOf(visit), ...visit.query })
    return () => <Attempts visit={visit} list={list} />
  }),
  webhookPage('Settings', [], async (visit) => (hook) => <Settings visit={visit} hook={hook} />),
]
