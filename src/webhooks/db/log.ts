import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import type { webhookAttempts } from '../../platform/db/schema.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import type { EndpointOwner } from './endpoints.ts'

/** An attempt in the log. `type` is null if its event has expired. */
export interface AttemptRow
  extends Omit<typeof webhookAttempts.$inferSelect, 'account' | 'endpoint'> {
  type: string | null
  /** When the next attempt is due, in milliseconds, if this is the latest one and another follows. */
  next_at: number | null
}

const ofEvent = (column: string) => `(select v.${column} from webhook_events v
    where v.account = :account and v.id = m.event) as ${column}`

const NEXT_AT = `(select g.next_at from webhook_messages g
    where g.account = :account and g.event = m.event and g.endpoint = :endpoint
      and g.status = 'pending' and g.attempts = m.attempt) as next_at`

/** Which attempts are listed: those of one event, and those that failed. */
export interface AttemptFilter {
  /** The id of the event; null for all. */
  readonly event: string | null
  readonly onlyFailed: boolean
}

/** Reads one page of the attempts of an endpoint, the newest first. */
export const listAttempts = (
  db: D1Database,
  account: string,
  endpoint: string,
  { event, onlyFailed }: AttemptFilter,
  page: Page,
): Promise<FoundPage<AttemptRow>> =>
  paginate<AttemptRow>(
    db,
    {
      columns: [
        ...['id', 'event', 'attempt', 'at', 'status', 'ms', 'error'],
        ofEvent('type'),
        NEXT_AT,
      ],
      from: `webhook_attempts m indexed by webhook_attempts_endpoint
        where account = :account and endpoint = :endpoint
        and (:event is null or event = :event) and (:failed = 0 or error is not null)`,
      key: ['id'],
      descending: true,
      values: { account, endpoint, event, failed: Number(onlyFailed) },
    },
    page,
  )

/** An event that is sent to an endpoint. */
export interface MessageRow {
  event: string
  type: string
  status: 'pending' | 'delivered' | 'dead'
  attempts: number
  /** When the next attempt is due, in milliseconds, if it is pending. */
  next_at: number
  /** When the event was caused, in milliseconds. */
  at: number
  data: string
}

/** Reads one page of the messages of an endpoint, the newest first; of any status if `status` is null. */
export const listMessages = (
  db: D1Database,
  account: string,
  endpoint: string,
  status: string | null,
  page: Page,
): Promise<FoundPage<MessageRow>> =>
  paginate<MessageRow>(
    db,
    {
      columns: ['event', 'status', 'attempts', 'next_at', ...['type', 'at', 'data'].map(ofEvent)],
      from: `webhook_messages m indexed by webhook_messages_endpoint
        where account = :account and endpoint = :endpoint
          and (:status is null or status = :status)`,
      key: ['event'],
      descending: true,
      values: { account, endpoint, status },
    },
    page,
  )

/** Which events are replayed: one, or those that were caused in a span (milliseconds, `to` exclusive). */
export type ReplaySpan =
  | { readonly event: string }
  | { readonly from: number; readonly to: number; readonly onlyDead: boolean }

// A message that an earlier attempt of the same request has made pending counts as replayed.
const replay = (which: string) =>
  compileStatement(`
    insert into webhook_messages (account, event, endpoint, next_at)
    select v.account, v.id, e.id, :now
    from webhook_endpoints e
    cross join webhook_events v on v.account = e.account and v.affiliate_id is e.affiliate_id
    left join webhook_messages m
      on m.account = v.account and m.event = v.id and m.endpoint = e.id
    where e.account = :account and e.id = :endpoint and e.disabled is null
      and (ifnull(m.status, '') <> 'pending' or (m.next_at = :now and m.attempts = 0))
      and ${which}
    order by v.id limit :most
    on conflict (account, event, endpoint) do update set
      status = 'pending', attempts = 0, next_at = :now, queued_until = 0
    returning event`)

/** Sends one event again, whether or not the endpoint subscribes to it. */
export const REPLAY_EVENT = replay('v.id = :event')

/** Sends the events of a span again to which the endpoint subscribes. */
export const REPLAY_SPAN = replay(`v.id >= 'evt_' || printf('%011x', :from)
      and v.id < 'evt_' || printf('%011x', :to)
      and (m.event is not null or exists (
        select 1 from json_each(e.events) w where w.value in (iif(v.affiliate_id is null, v.type,
            replace(v.type, 'statement.returned', 'statement.paid')), '*')
          and v.type <> 'webhook.test'))
      and (:only_dead = 0 or m.status = 'dead')`)

/** Returns the statement that makes at most `most` events pending again. It returns a row for each. */
export function replayEvents(
  db: D1Database,
  account: string,
  endpoint: string,
  span: ReplaySpan,
  { now, most }: { now: number; most: number },
): D1PreparedStatement {
  const values = { account, endpoint, now, most }
  if ('event' in span) return bindStatement(db, REPLAY_EVENT, { ...values, event: span.event })
  const { from, to, onlyDead } = span
  return bindStatement(db, REPLAY_SPAN, { ...values, from, to, only_dead: Number(onlyDead) })
}

/** Whether an owner of endpoints has an event. */
export const FIND_EVENT = compileStatement(`
  select 1 as found from webhook_events
  where account = :account and id = :event and affiliate_id is :affiliate_id`)

/** Returns whether an owner of endpoints has an event. */
export const hasEvent = async (db: D1Database, owner: EndpointOwner, event: string) =>
  (await withD1Retry(() => bindStatement(db, FIND_EVENT, { ...owner, event }).first())) !== null
