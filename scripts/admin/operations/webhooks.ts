import { DEFAULT_OVERLAP } from '../../../src/admin/overlap.ts'
import { ALL_EVENTS, EVENT_TYPES } from '../../../src/webhooks/events.ts'
import { usageError } from '../../exit-error.ts'
import { list, object, sentence } from '../format.ts'
import { type Input, membersOf, type Operation, type Options } from '../operation.ts'
import { listOperation } from './parts.ts'

const WEBHOOKS = 'accounts/{account}/webhooks'
const WEBHOOK = `${WEBHOOKS}/{webhook_id}`
const COLUMNS = [
  'id',
  'url',
  'events',
  'disabled',
  'disabled_reason',
  'failing_since',
  'created_at',
]

const URL_OPTION = { value: 'url', description: 'Where events are sent: an https:// URL.' }

/** Stands for `*`, which a shell replaces by the names of files. */
const ALL = 'all'

const DETAILS: Options = {
  event: {
    value: 'type',
    choices: [...EVENT_TYPES, ALL],
    repeatable: true,
    description: 'A type of events to send. Can be repeated. (default: all)',
  },
  description: { value: 'text', description: 'What the webhook is for.' },
}

const CREATE: Options = { url: { ...URL_OPTION, required: true }, ...DETAILS }
const CHANGE: Options = { url: URL_OPTION, ...DETAILS }

/** Returns the members of a body; the types of events are a list. */
function bodyOf(options: Options, input: Input): object {
  const { event: _, ...members } = membersOf(options, input)
  const events = input.options.event?.map((type) => (type === ALL ? ALL_EVENTS : type))
  return { ...members, ...(events && { events }) }
}

function changeOf(input: Input): object {
  const changes = bodyOf(CHANGE, input)
  if (Object.keys(changes).length > 0) return changes
  throw usageError('Nothing to change. Add at least one of --url, --event, --description.')
}

const OVERLAPS = ['none', '1h', '24h', '7d']

const REPLAY: Options = {
  'event-id': { value: 'id', description: 'The event to send again.' },
  from: { value: 'time', description: 'The begin of a span, as RFC 3339.' },
  to: { value: 'time', description: 'The end of the span. (default: now)' },
  'only-dead': { description: 'Only the dead letters of the span.' },
}

function replayOf(input: Input): object {
  const { only_dead: _, ...members } = membersOf(REPLAY, input)
  if ('event_id' in members === 'from' in members) {
    throw usageError('Give either --event-id or --from.')
  }
  return { ...members, ...(input.options['only-dead'] && { only_dead: true }) }
}

const UNKNOWN_SECRET = 'A secret may have been created and lost'

const switched = (verb: 'disable' | 'enable', summary: string): Operation => ({
  noun: 'webhooks',
  verb,
  summary,
  example: 'acme WEBHOOK_ID',
  method: 'PATCH',
  path: WEBHOOK,
  body: () => ({ disabled: verb === 'disable' }),
  format: object,
})

const MANAGEMENT: readonly Operation[] = [
  {
    noun: 'webhooks',
    verb: 'list',
    summary: 'Lists the webhooks of an account.',
    example: 'acme',
    method: 'GET',
    path: WEBHOOKS,
    format: list(COLUMNS),
  },
  {
    noun: 'webhooks',
    verb: 'create',
    summary: 'Creates a webhook and shows its secret once.',
    example: 'acme --url https://hooks.acme.example/tributary --event delivery.refused',
    method: 'POST',
    path: WEBHOOKS,
    options: CREATE,
    body: (input) => bodyOf(CREATE, input),
    format: object,
    secret: 'secret',
    recovery: `${UNKNOWN_SECRET}: run \`webhooks list\`, and first delete the unknown webhook.`,
  },
  {
    noun: 'webhooks',
    verb: 'show',
    summary: 'Shows a webhook.',
    example: 'acme WEBHOOK_ID',
    method: 'GET',
    path: WEBHOOK,
    format: object,
  },
  {
    noun: 'webhooks',
    verb: 'change',
    summary: 'Changes the address, the types of events or the description.',
    example: 'acme WEBHOOK_ID --event feed.late --event feed.recovered',
    method: 'PATCH',
    path: WEBHOOK,
    options: CHANGE,
    body: changeOf,
    format: object,
  },
  switched('disable', 'Disables a webhook; what is pending becomes dead letters.'),
  switched('enable', 'Enables a webhook.'),
  {
    noun: 'webhooks',
    verb: 'delete',
    summary: 'Deletes a webhook.',
    example: 'acme WEBHOOK_ID',
    method: 'DELETE',
    path: WEBHOOK,
    format: sentence('Deleted webhook {webhook_id} of account {account}.'),
  },
]

const SENDING: readonly Operation[] = [
  {
    noun: 'webhooks',
    verb: 'rotate',
    summary: 'Creates a new secret and shows it once; both sign during the overlap.',
    example: 'acme WEBHOOK_ID --overlap 7d',
    method: 'POST',
    path: `${WEBHOOK}/rotate`,
    options: {
      overlap: {
        value: 'time',
        choices: OVERLAPS,
        description: `How long the old secret also signs. (default: ${DEFAULT_OVERLAP})`,
      },
    },
    body: ({ options }) => ({ overlap: options.overlap?.[0] ?? DEFAULT_OVERLAP }),
    format: object,
    secret: 'secret',
    confirmation: ({ options, operands }) =>
      options.overlap?.[0] === 'none'
        ? {
            warning: `Without an overlap, receivers that know only the old secret of webhook ${operands.webhook_id} refuse its events at once.`,
            name: operands.webhook_id ?? '',
          }
        : null,
    recovery: `${UNKNOWN_SECRET}: rotate again. The secret before it signs until its overlap ends.`,
  },
  {
    noun: 'webhooks',
    verb: 'test',
    summary: 'Sends a test event.',
    example: 'acme WEBHOOK_ID',
    method: 'POST',
    path: `${WEBHOOK}/test`,
    body: () => ({}),
    format: object,
    recovery: 'Run `webhooks attempts` before you repeat the command: the event may be sent.',
  },
  {
    noun: 'webhooks',
    verb: 'replay',
    summary: 'Sends one event again, or those of a span.',
    example: 'acme WEBHOOK_ID --from 2026-11-01T00:00:00Z --only-dead',
    method: 'POST',
    path: `${WEBHOOK}/replay`,
    options: REPLAY,
    body: replayOf,
    format: object,
    recovery: 'Run `webhooks events` before you repeat the command: they may be sent.',
  },
  listOperation({
    noun: 'webhooks',
    verb: 'attempts',
    summary: 'Lists the attempts of a webhook, the newest first.',
    example: 'acme WEBHOOK_ID --limit 20',
    path: `${WEBHOOK}/attempts`,
    options: {
      'event-id': { value: 'id', description: 'Only the attempts of this event.' },
      failed: { value: 'true', choices: ['true', 'false'], description: 'Only those that failed.' },
    },
    format: list(['at', 'event_id', 'type', 'attempt', 'status', 'ms', 'error', 'next_attempt_at']),
  }),
  listOperation({
    noun: 'webhooks',
    verb: 'events',
    summary: 'Lists the events of a webhook, the newest first.',
    example: 'acme WEBHOOK_ID --status dead',
    path: `${WEBHOOK}/events`,
    options: {
      status: {
        value: 'status',
        choices: ['pending', 'delivered', 'dead'],
        description: 'Only events with this status.',
      },
    },
    format: list([
      'event_id',
      'type',
      'timestamp',
      'status',
      'attempts',
      'next_attempt_at',
      'data',
    ]),
  }),
]

/** Webhooks, and what they send. */
export const WEBHOOK_OPERATIONS: readonly Operation[] = [...MANAGEMENT, ...SENDING]
