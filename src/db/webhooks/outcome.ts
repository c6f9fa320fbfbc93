import { newAuditId } from '../directory/audit.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'

/** The result of an attempt, and what follows from it. */
export interface Outcome {
  readonly account: string
  readonly endpoint: string
  readonly event: string
  readonly attempt: number
  /** When it began, in milliseconds. */
  readonly at: number
  readonly ms: number
  readonly status: number | null
  readonly error: string | null
  /** When the next attempt is due, in milliseconds; null if none follows. */
  readonly next_at: number | null
  /** Until when the queue has the message, in milliseconds; 0 if it does not have it. */
  readonly queued_until: number
  /** Why the attempt disables the endpoint; null if it does not. */
  readonly disables: 'gone' | 'failing' | null
}

/** Adds an attempt to the log. */
export const LOG_ATTEMPT = compileStatement(`
  insert into webhook_attempts (account, id, endpoint, event, attempt, at, status, ms, error)
  values (:account, 'att_' || printf('%011x', :at) || :random, :endpoint, :event, :attempt, :at,
    :status, :ms, :error)
  on conflict do nothing`)

/** Stores the new state of a message, unless it was replayed meanwhile. */
export const END_ATTEMPT = compileStatement(`
  update webhook_messages set
    status = case when :error is null then 'delivered' when :next_at is null then 'dead'
      else 'pending' end,
    next_at = ifnull(:next_at, next_at), queued_until = :queued_until
  where account = :account and event = :event and endpoint = :endpoint and attempts = :attempt
    and status = 'pending'`)

/** Stores since when all attempts of an endpoint have failed. */
export const NOTE_HEALTH = compileStatement(`
  update webhook_endpoints
  set failing_since = iif(:error is null, null, ifnull(failing_since, :at))
  where account = :account and id = :endpoint
    and (failing_since is not null or :error is not null)`)

const IS_ENABLED = `exists (select 1 from webhook_endpoints
    where account = :account and id = :endpoint and disabled is null)`

/** Adds to the audit log that an endpoint is disabled, unless it was disabled before. */
const AUDIT_DISABLED = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :now, 'webhooks', 'webhook.disable', :account,
    json_object('id', :endpoint, 'reason', :disables)
  where ${IS_ENABLED}`)

/** Makes the pending messages of an endpoint dead letters, which a replay can send. */
export const END_PENDING = compileStatement(`
  update webhook_messages set status = 'dead'
  where account = :account and endpoint = :endpoint and status = 'pending'`)

const DISABLE = compileStatement(`
  update webhook_endpoints set disabled = :disables where account = :account and id = :endpoint
    and disabled is null`)

/** Stores the result of an attempt in one batch, and disables the endpoint if `disables` has a reason. */
export async function storeOutcome(db: D1Database, outcome: Outcome): Promise<void> {
  const audit = newAuditId()
  const random = crypto.getRandomValues(new Uint8Array(8)).toHex()
  const values = { ...outcome, audit, random, now: new Date(outcome.at).toISOString() }
  const disabling = outcome.disables === null ? [] : [AUDIT_DISABLED, DISABLE, END_PENDING]
  const statements: Statement[] = [LOG_ATTEMPT, END_ATTEMPT, NOTE_HEALTH, ...disabling]
  await withD1Retry(() =>
    db.batch(statements.map((statement) => bindStatement(db, statement, values))),
  )
}

/** Returns the statement that makes the pending messages of an endpoint dead letters. */
export const endPending = (db: D1Database, account: string, endpoint: string) =>
  bindStatement(db, END_PENDING, { account, endpoint })
