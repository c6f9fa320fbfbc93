import { isClosedFor } from '../../ledger/db/booked.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import { isOfKind } from './is-draft.ts'

/** A row of `statements` to store: a computed statement, or what a period without one carries. */
export interface StoredDraft {
  readonly period: string
  readonly affiliate_id: string
  readonly plan: string
  readonly id: string
  /** The hash of the statement; empty if there is none. */
  readonly hash: string
  readonly payable: string
  readonly closing: string
  /** The statement as JSON without its lines; null if something is carried without one. */
  readonly statement: string | null
  /** JSON arrays of lines; at least one. */
  readonly lines: readonly string[]
  /** JSON objects of their steps by id; at least one. */
  readonly steps: readonly string[]
  /** What the period leaves, as JSON: carries and measures. Only the digest of the row uses it. */
  readonly state: string
  /** The digest of the row before it, of the same affiliate and plan; '' if there is none. */
  readonly previous: string
  /** Equal drafts have an equal digest. */
  readonly digest: string
}

/** Reads the digests of the statements of some affiliates up to a period, of its kind. */
const READ_DIGESTS = compileStatement(`
  select s.period, s.affiliate_id, s.plan, s.id, s.digest, s.status
  from ${JSON_EACH}(:affiliates) a cross join statements s indexed by statements_affiliate
    on s.account = :account and s.affiliate_id = a.value and s.period <= :period
    and ${isOfKind('s.period')}`)

/**
 * Whether the period of the row `value` is open for its affiliate and plan: neither its statement nor a
 * later one is approved, and no approval of a period closed it.
 */
const IS_OPEN = `not exists (
    select 1 from statements s indexed by statements_affiliate
    where s.account = :account and s.affiliate_id = value ->> 'affiliate_id' and s.period >= value ->> 'period'
      and s.plan = value ->> 'plan' and s.status <> 'draft'
  ) and not ${isClosedFor({ affiliate: `value ->> 'affiliate_id'`, plan: `value ->> 'plan'`, period: `value ->> 'period'` })}`

/** Whether the run that stores drafts is still running: it may have ended, or its account been reset. */
const IS_RUNNING = `exists (
    select 1 from statement_runs r
    where r.account = :account and r.id = :id and r.status = 'running')`

/**
 * Stores drafts of a run that goes on, unless a later computation has stored them or they are no
 * longer drafts.
 */
export const PUT_DRAFTS = compileStatement(`
  insert into statements (account, period, affiliate_id, plan, id, status, hash, payable, closing,
    statement, lines, parts, state, digest, previous, steps, read_at, computed_at)
  select :account, value ->> 'period', value ->> 'affiliate_id', value ->> 'plan', value ->> 'id', 'draft',
    value ->> 'hash', value ->> 'payable', value ->> 'closing', value ->> 'statement', value ->> 'lines',
    value ->> 'parts', value ->> 'state', value ->> 'digest', value ->> 'previous', value ->> 'steps',
    :read_at, :computed_at
  from ${JSON_EACH}(:rows) where ${IS_RUNNING} and ${IS_OPEN}
  on conflict (account, period, affiliate_id, plan) do update set
    hash = excluded.hash, payable = excluded.payable, closing = excluded.closing,
    statement = excluded.statement, lines = excluded.lines, parts = excluded.parts,
    state = excluded.state, steps = excluded.steps, digest = excluded.digest, previous = excluded.previous, read_at = excluded.read_at,
    computed_at = excluded.computed_at
  where statements.status = 'draft' and statements.read_at <= excluded.read_at
    and statements.digest <> excluded.digest`)

/**
 * Writes `adjustment.created` before drafts are stored: for those with corrections of closed periods that are others
 * than before.
 */
export const NOTIFY_CORRECTED = eventOf(
  'adjustment.created',
  `select n.id || ' ' || n.hash as about, json_object(
      'kind', 'correction', 'statement_id', n.id, 'affiliate_id', n.affiliate_id, 'plan', n.plan,
      'period', n.period, 'currency', n.statement ->> 'currency',
      'amount', n.statement ->> 'adjustments_sum', 'adjustments', n.statement ->> 'adjustments_total') as data
    from (
      select value ->> 'period' as period, value ->> 'affiliate_id' as affiliate_id, value ->> 'plan' as plan,
        value ->> 'id' as id, value ->> 'hash' as hash, value ->> 'statement' as statement
      from ${JSON_EACH}(:rows) where ${IS_RUNNING} and ${IS_OPEN}
    ) n
    left join statements s on s.account = :account and s.period = n.period and s.affiliate_id = n.affiliate_id
      and s.plan = n.plan
    where n.statement ->> 'adjustments_total' > 0 and (s.id is null or s.read_at <= :read_at)
      and (n.statement ->> 'adjustments_total', n.statement ->> 'adjustments_sum')
        is not (s.statement ->> 'adjustments_total', s.statement ->> 'adjustments_sum')`,
)

/** Whether the draft `value` of this computation is the one that is stored. */
const IS_STORED = `exists (
    select 1 from statements s where s.account = :account and s.id = value ->> 'id'
      and s.digest = value ->> 'digest' and s.read_at = :read_at)`

/** Deletes the parts, after the first, of statements that this computation has stored. */
export const DROP_PARTS = compileStatement(`
  delete from statement_lines
  where account = :account and id in (
    select value ->> 'id' from ${JSON_EACH}(:rows) where ${IS_STORED})`)

/** Stores the parts, after the first, of statements that this computation has stored. */
export const PUT_PARTS = compileStatement(`
  insert into statement_lines (account, id, part, lines, steps)
  select :account, value ->> 'id', value ->> 'part', value ->> 'lines', value ->> 'steps'
  from ${JSON_EACH}(:rows) where ${IS_STORED}
  on conflict (account, id, part) do update set lines = excluded.lines, steps = excluded.steps`)

/** Deletes drafts that a computation no longer has. */
export const DROP_DRAFTS = compileStatement(`
  delete from statements
  where account = :account and status = 'draft' and read_at <= :read_at and ${IS_RUNNING}
    and (period, affiliate_id, plan) in (
      select value ->> 'period', value ->> 'affiliate_id', value ->> 'plan' from ${JSON_EACH}(:rows))`)

/** Deletes the parts, after the first, of statements that are no longer stored. */
export const DROP_LOST_PARTS = compileStatement(`
  delete from statement_lines
  where account = :account and id in (
    select value ->> 'id' from ${JSON_EACH}(:rows) where not exists (
      select 1 from statements s where s.account = :account and s.id = value ->> 'id'))`)

/** What is stored of a statement. */
export interface StatementDigest extends Pick<StoredDraft, 'period' | 'affiliate_id' | 'plan'> {
  readonly id: string
  readonly digest: string
  readonly status: string
}

/** Returns the digests of the statements of some affiliates up to a period, of its kind. */
export async function readDigests(
  db: Connection,
  account: string,
  period: string,
  affiliates: readonly string[],
): Promise<StatementDigest[]> {
  const values = { account, period, affiliates: JSON.stringify(affiliates) }
  return all<StatementDigest>(db, READ_DIGESTS, values)
}
