import type { listWebhookAttempts, listWebhookEvents } from '../../admin/webhooks.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { type Visit, withQuery } from '../page.ts'
import { Badge, EmptyState, Live, Pager, Table, Time, visible } from './data.tsx'
import { fields, Members } from './fields.tsx'
import { ChangeForm, Filters } from './forms.tsx'

// The parts of the pages of a webhook that list its events, and the attempts to send them.

type Sent = AnswerOf<typeof listWebhookEvents>
type Attempted = AnswerOf<typeof listWebhookAttempts>

const TONES = { pending: 'warn', delivered: 'good', dead: 'bad' } as const

const STATUSES = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['dead', 'Dead letters'],
] as const

const Nothing = ({ what }: { what: string }) => (
  <EmptyState title={`No ${what} in the last 30 days.`}>
    <p>A test event shows whether the receiver works.</p>
  </EmptyState>
)

interface EventsProps {
  readonly visit: Visit
  readonly list: Sent
  /** The address of the attempts. */
  readonly attempts: string
}

/** Renders the events of a webhook. */
export const Events = ({ visit, list, attempts: path }: EventsProps) => (
  <>
    <Filters visit={visit} fields={[{ name: 'status', label: 'Status', options: STATUSES }]} />
    <Live id="log" seconds={5}>
      <Table
        caption="Events, the newest first"
        rows={list.data}
        columns={[
          { title: 'Caused', cell: ({ timestamp }) => <Time at={timestamp} /> },
          ...fields<Sent['data'][number]>(visit, 'type'),
          { title: 'Status', cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
          {
            title: 'Attempts',
            isNumeric: true,
            cell: ({ event_id, attempts }) => (
              <a href={withQuery(path, { event_id })}>{attempts}</a>
            ),
          },
          {
            title: 'Next attempt',
            cell: ({ next_attempt_at: at }) => (at ? <Time at={at} /> : '–'),
          },
          {
            title: 'Data',
            cell: ({ event_id, data }) => (
              <details>
                <summary>Show</summary>
                <code>{event_id}</code>
                <Members object={data} />
              </details>
            ),
          },
        ]}
        empty={<Nothing what="events" />}
      />
      <Pager visit={visit} meta={list.meta} />
    </Live>
  </>
)

/** Renders the attempts of a webhook. Those of one event have a form that sends it again. */
export const Attempts = ({ visit, list }: { visit: Visit; list: Attempted }) => (
  <>
    <Filters
      visit={visit}
      fields={[
        { name: 'event_id', label: 'Event ID' },
        {
          name: 'failed',
          label: 'Outcome',
          options: [
            ['', 'Any'],
            ['true', 'Failed'],
          ],
        },
      ]}
    />
    <Live id="log" seconds={5}>
      <Table
        caption="Attempts, the newest first"
        rows={list.data}
        columns={[
          ...fields<Attempted['data'][number]>(visit, 'at'),
          { title: 'Type', cell: ({ type }) => type ?? 'expired' },
          ...fields<Attempted['data'][number]>(visit, 'attempt'),
          {
            title: 'Answer',
            cell: ({ status, error }) => (
              <Badge tone={error ? 'bad' : 'good'}>
                {visible([status, error?.replaceAll('_', ' ')].filter(Boolean).join(' '))}
              </Badge>
            ),
          },
          {
            title: 'Next attempt',
            cell: ({ next_attempt_at: at }) => (at ? <Time at={at} /> : '–'),
          },
          { title: 'Milliseconds', isNumeric: true, cell: ({ ms }) => ms.toLocaleString('en') },
          {
            title: 'Event',
            cell: ({ event_id }) => <a href={withQuery(visit.path, { event_id })}>{event_id}</a>,
          },
        ]}
        empty={<Nothing what="attempts" />}
      />
      <Pager visit={visit} meta={list.meta} />
    </Live>
    {visit.query.event_id && (
      <ChangeForm visit={visit} change="replayOne" submit="Send this event again">
        <input type="hidden" name="event_id" value={visit.query.event_id} />
      </ChangeForm>
    )}
  </>
)
