import { isDoorOpen } from '../../platform/db/door.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import {
  bindStatement,
  compileStatement,
  type Statement,
  writeBatch,
} from '../../platform/db/statement.ts'
import { newAuditId } from '../../platform/directory/audit.ts'

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
 * So a slow endpoint never has more than `:in_flight` messages in the queue. What is due to the postbacks of an
 * affiliate waits while they are suspended.
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
      where e.disabled is null and ${isDoorOpen('e.account')}
        and iif(e.affiliate_id is null, 1, not exists (
          select 1 from affiliates a where a.account = e.account
            and a.affiliate_id = e.affiliate_id and a.status = 'suspended'))
      limit :most)
    returning account, event, endpoint, attempts`)

/** Takes the due messages of all endpoints. */
const TAKE_DUE = takeDue('webhook_endpoints e')

/** Takes the due messages of the endpoints of an account. */
const TAKE_DUE_OF_ACCOUNT = takeDue('(select * from webhook_endpoints where account = :account) e')

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
  const [due] = await db.batch<DueMessage>([taking])
  return due?.results ?? []
}

/** A message whose attempt begins, with its endpoint and its event. */
export interface ClaimedMessage extends DueMessage {
  /** Null if the endpoint is deleted or disabled. */
  readonly url: string | null
  readonly method: 'GET' | 'POST' | null
  /** The affiliate whose postback it is; null if it is a webhook of the account. */
  readonly affiliate_id: string | null
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
const CLAIM = compileStatement(`
  update webhook_messages set attempts = attempts + 1, queued_until = :until
  where status = 'pending' and (account, event, endpoint, attempts) in (
    select m.value ->> 'account', m.value ->> 'event', m.value ->> 'endpoint', m.value ->> 'attempts'
    from json_each(:messages) m where ${isDoorOpen("m.value ->> 'account'")})
  returning account, event, endpoint, attempts,
    ${['url', 'method', 'affiliate_id', 'secrets', 'failing_since'].map(ofEndpoint).join()},
    ${['type', 'at', 'data'].map(ofEvent).join()}`)

/** Begins attempts of messages; returns those of which no other attempt has begun. */
export async function claimMessages(
  db: D1Database,
  messages: readonly DueMessage[],
  until: number,
): Promise<ClaimedMessage[]> {
  const values = { messages: JSON.stringify(messages), until }
  const [claimed] = await db.batch<ClaimedMessage>([bindStatement(db, CLAIM, values)])
  return claimed?.results ?? []
}

/**
 * Makes messages dead letters that cannot be sent: the endpoint is deleted or disabled, the event has expired,
 * or the account is disabled.
 */
const DEAD_LETTER_MESSAGES = compileStatement(`
  update webhook_messages set status = 'dead'
  where status = 'pending' and ${isDoorOpen('account')} and (account, event, endpoint) in (
    select value ->> 'account', value ->> 'event', value ->> 'endpoint' from json_each(:messages))`)

/** Makes messages dead letters. */
export const deadLetterMessages = (db: D1Database, messages: readonly DueMessage[]) =>
  writeBatch(db, [bindStatement(db, DEAD_LETTER_MESSAGES, { messages: JSON.stringify(messages) })])

/** The result of an attempt, and what follows from it. */
export interface Outcome {
  readonly account: string
  readonly endpoint: string
  readonly event: string
  readonly attempt: number
  /** When it began, in milliseconds. */
  readonly at: number
  /** The status of the response; null without one. */
  readonly answer: number | null
  readonly error: string | null
  /** When the next attempt is due, in milliseconds; null if none follows. */
  readonly next_at: number | null
  /** Why the attempt disables the endpoint; null if it does not. */
  readonly disables: 'gone' | 'failing' | null
}

/** Stores the new state of a message, unless it was replayed meanwhile. */
const END_ATTEMPT = compileStatement(`
  update webhook_messages set
    status = case when :error is null then 'delivered' when :next_at is null then 'dead'
      else 'pending' end,
    next_at = ifnull(:next_at, next_at), queued_until = 0,
    tried_at = :at, answer = :answer, error = :error
  where account = :account and event = :event and endpoint = :endpoint and attempts = :attempt
    and status = 'pending'`)

/** Stores since when all attempts of an endpoint have failed. */
const NOTE_HEALTH = compileStatement(`
  update webhook_endpoints
  set failing_since = iif(:error is null, null, ifnull(failing_since, :at))
  where account = :account and id = :endpoint
    and (failing_since is not null or :error is not null)`)

/** Adds to the audit log that an endpoint is disabled, unless it was disabled before. */
const AUDIT_DISABLED = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :now, 'webhooks', iif(affiliate_id is null, 'webhook.disable', 'postback.disable'),
    :account, json_patch(json_object('id', :endpoint, 'reason', :disables),
      json_object('affiliate_id', affiliate_id))
  from webhook_endpoints where account = :account and id = :endpoint and disabled is null`)

/** Makes the pending messages of an endpoint dead letters, which a replay can send. */
const END_PENDING = compileStatement(`
  update webhook_messages indexed by webhook_messages_due set status = 'dead'
  where account = :account and endpoint = :endpoint and status = 'pending'`)

const DISABLE = compileStatement(`
  update webhook_endpoints set disabled = :disables where account = :account and id = :endpoint
    and disabled is null`)

/** Stores the result of an attempt in one batch, and disables the endpoint if `disables` has a reason. */
export async function storeOutcome(db: D1Database, outcome: Outcome): Promise<void> {
  const audit = newAuditId()
  const values = { ...outcome, audit, now: new Date(outcome.at).toISOString() }
  const disabling = outcome.disables === null ? [] : [AUDIT_DISABLED, DISABLE, END_PENDING]
  const statements: Statement[] = [END_ATTEMPT, NOTE_HEALTH, ...disabling]
  await withD1Retry(() =>
    db.batch(statements.map((statement) => bindStatement(db, statement, values))),
  )
}

/** Returns the statement that makes the pending messages of an endpoint dead letters. */
export const endPending = (db: D1Database, account: string, endpoint: string) =>
  bindStatement(db, END_PENDING, { account, endpoint })
