import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A message of the queue: an event that is to be sent to an endpoint. */
export interface DueMessage {
  readonly account: string
  readonly event: string
  readonly endpoint: string
  /** The attempts that had begun when it was queued. It is sent only if no other has begun since. */
  readonly attempts: number
}

/**
 * Returns the statement that takes the due messages of some endpoints. Of each endpoint it reads the
 * `:in_flight` messages that have been due longest, and takes those that are neither queued nor being sent.
 * So a slow endpoint never has more than `:in_flight` messages in the queue.
 */
const takeDue = (endpoints: string) =>
  compileStatement(`
    update webhook_messages set queued_until = :until
    where (account, event, endpoint) in (
      select e.account, d.value, e.id
      from ${endpoints} cross join json_each((
        select json_group_array(event) filter (where queued_until <= :now) from (
          select m.event, m.queued_until from webhook_messages m indexed by webhook_messages_due
          where m.account = e.account and m.endpoint = e.id and m.status = 'pending'
            and m.next_at <= :now
          order by m.next_at limit :in_flight))) d
      where e.disabled is null
      limit :most)
    returning account, event, endpoint, attempts`)

/** Takes the due messages of all endpoints. */
export const TAKE_DUE = takeDue('webhook_endpoints e')

/** Takes the due messages of the endpoints of an account. */
export const TAKE_DUE_OF_ACCOUNT = takeDue(
  '(select * from webhook_endpoints where account = :account) e',
)

/** The maximum number of messages that one statement takes; the next one takes the others. */
const MAX_TAKEN = 5000

/**
 * Takes the messages that are due at `now` (milliseconds): those of an account or, if it is null, of all
 * accounts. A message that is not sent is due again at `until`.
 */
export async function takeDueMessages(
  db: D1Database,
  account: string | null,
  times: { now: number; until: number; inFlight: number },
): Promise<DueMessage[]> {
  const { now, until, inFlight: in_flight } = times
  const values = { now, until, in_flight, most: MAX_TAKEN }
  const taking =
    account === null
      ? bindStatement(db, TAKE_DUE, values)
      : bindStatement(db, TAKE_DUE_OF_ACCOUNT, { ...values, account })
  // This is not retried: if the result is lost, the taken messages are due again at `until`.
  const { results } = await taking.all<DueMessage>()
  return results
}

/** A message whose attempt begins, with its endpoint and its event. */
export interface ClaimedMessage extends DueMessage {
  /** Null if the endpoint is deleted or disabled. */
  readonly url: string | null
  /** A JSON array of [encrypted secret, end in milliseconds or null]. */
  readonly secrets: string | null
  readonly failing_since: number | null
  readonly type: string | null
  readonly at: number
  readonly data: string
}

const ofEndpoint = (column: string) => `(select ${column} from webhook_endpoints e
    where e.account = webhook_messages.account and e.id = webhook_messages.endpoint
      and e.disabled is null) as ${column}`

const ofEvent = (column: string) => `(select ${column} from webhook_events v
    where v.account = webhook_messages.account and v.id = webhook_messages.event) as ${column}`

// RETURNING accepts the name of a table, but not an alias.

/** Begins attempts. A message is left out if another attempt has begun since it was queued. */
export const CLAIM = compileStatement(`
  update webhook_messages set attempts = attempts + 1, queued_until = :until
  where status = 'pending' and (account, event, endpoint, attempts) in (
    select value ->> 'account', value ->> 'event', value ->> 'endpoint', value ->> 'attempts'
    from json_each(:messages))
  returning account, event, endpoint, attempts,
    ${['url', 'secrets', 'failing_since'].map(ofEndpoint).join()},
    ${['type', 'at', 'data'].map(ofEvent).join()}`)

/** Begins attempts of messages; returns those of which no other attempt has begun. */
export async function claimMessages(
  db: D1Database,
  messages: readonly DueMessage[],
  until: number,
): Promise<ClaimedMessage[]> {
  const values = { messages: JSON.stringify(messages), until }
  const { results } = await bindStatement(db, CLAIM, values).all<ClaimedMessage>()
  return results
}

/**
 * Makes messages dead letters that cannot be sent: the endpoint is deleted or disabled, the event has expired,
 * or the account is disabled.
 */
export const DEAD_LETTER_MESSAGES = compileStatement(`
  update webhook_messages set status = 'dead'
  where status = 'pending' and (account, event, endpoint) in (
    select value ->> 'account', value ->> 'event', value ->> 'endpoint' from json_each(:messages))`)

/** Makes messages dead letters. */
export const deadLetterMessages = (db: D1Database, messages: readonly DueMessage[]) =>
  withD1Retry(() =>
    bindStatement(db, DEAD_LETTER_MESSAGES, { messages: JSON.stringify(messages) }).run(),
  )
