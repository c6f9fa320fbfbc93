import { isDraft, isOfKind } from '../../commission/db/is-draft.ts'
import { isClosedFor } from '../../ledger/db/booked.ts'
import { bookEntries } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { isAssertionFailure, withD1Retry } from '../../platform/db/retry.ts'
import type { Account } from '../../platform/db/schema.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, lookUp, readBatch } from '../../platform/db/statement.ts'
import { newAuditId } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import { unavailable } from '../../platform/errors.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import { IS_FIRST_ATTEMPT, writeInvoices } from './invoices.ts'

/**
 * Adds an entry if statements were approved, with their number as `approved`, or if the first of two
 * persons has approved one of the rows.
 */
const INSERT_AUDIT_OF_APPROVAL = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :at, :actor, :action, :account, json_set(:details, '$.approved', n)
  from (select count(*) as n from statements indexed by statements_approval
    where account = :account and approval = :audit and statement is not null)
  where n > 0 or exists (
    select 1 from ${JSON_EACH}(:rows) r
    cross join statement_approvals a on a.account = :account and a.id = r.value ->> 2
      and a.actor = :actor and a.at = :now)
  on conflict do nothing`)

/** Adds an entry if this batch has closed a period of a plan. */
const INSERT_AUDIT_OF_CLOSING = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :at, :actor, :action, :account, :details from closed_periods
  where account = :account and plan = :plan and period = :period and closed_at = :now
  on conflict do nothing`)

// Conditions of approval, over a row `s` of `statements`.

/** The period of the row before a row of the same affiliate and plan. */
const periodBefore = (row: string) => `(
    select max(x.period) from statements x indexed by statements_affiliate
    where x.account = :account and x.affiliate_id = ${row}.affiliate_id and x.plan = ${row}.plan
      and x.period < ${row}.period)`

/** Whether the period was approved as a whole, or a later one, and not left open for the affiliate. */
const IS_CLOSED = isClosedFor({
  affiliate: 's.affiliate_id',
  plan: 's.plan',
  period: 's.period',
})

/** Whether the statement lists a manual entry that another approved statement has. */
const LISTS_BOOKED_ENTRY = `exists (
    select 1 from json_each(s.statement, '$.manual') m where not exists (
      select 1 from manual_entries e
      where e.account = :account and e.id = m.value ->> 'id' and e.statement is null))`

/** The statement of another plan that transferred a balance `r` to the statement. */
const SENDER = `t.account = :account and t.affiliate_id = s.affiliate_id
    and t.plan = r.value ->> 'from' and t.period = r.value ->> 'period'`

/** The id of a draft that transfers to the statement; null if there is none. */
const DRAFT_SENDER = `(
    select t.id from json_each(s.statement, '$.received') r cross join statements t on ${SENDER}
    where t.status = 'draft' limit 1)`

/** Whether the statement received a balance that no approved statement transferred. */
const RECEIVES_UNSENT = `exists (
    select 1 from json_each(s.statement, '$.received') r where not exists (
      select 1 from statements t where ${SENDER} and t.status <> 'draft'
        and t.statement ->> '$.transferred.amount' = r.value ->> 'amount'
        and t.statement ->> '$.transferred.to' = s.plan
        and t.statement ->> '$.transferred.period' = s.period))`

/**
 * The hash under which approvals of a row are stored: its hash or, if it has no statement, its
 * digest.
 */
const approvedHash = (row: string) => `iif(${row}.hash = '', ${row}.digest, ${row}.hash)`

/** A row of `statements`. It builds on the row before it, of the same affiliate and plan. */
interface ChainRow {
  readonly id: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly digest: string
  /** The digest on which it builds; empty if there is no row before it. */
  readonly previous: string
  /** 1 if the row has no statement and only carries something. */
  readonly is_carry: 0 | 1
}

/** A statement that may be approved. */
export interface Candidate {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly hash: string
  /** When its computation began to read, in milliseconds. */
  readonly read_at: number
  /** The records that wait for a rate or a currency. */
  readonly held: number
  /** The currencies that lack a rate for these records. */
  readonly lacking: readonly string[]
  /** 1 if its period is closed for its affiliate. */
  readonly closed: 0 | 1
  /** 1 if it lists a manual entry or a received balance that has changed since. */
  readonly outdated: 0 | 1
  /** The id of a draft that transfers to it. */
  readonly sender: string | null
  /** Who has approved it so far, where two persons must. */
  readonly approvals: readonly { actor: string; at: number }[]
  /** The row itself, then the rows before it back to the latest approved row or the latest statement. */
  readonly chain: readonly ChainRow[]
}

/** Reads rows, each with the rows on which it builds. */
const READ_CHAINS = compileStatement(`
  with recursive chain (target, depth, id, affiliate_id, plan, period, status, digest, previous,
    is_carry) as (
    select s.id, 0, s.id, s.affiliate_id, s.plan, s.period, s.status, s.digest, s.previous,
      s.statement is null
    from ${JSON_EACH}(:ids) i cross join statements s on s.account = :account and s.id = i.value
    union all
    select c.target, c.depth + 1, b.id, b.affiliate_id, b.plan, b.period, b.status, b.digest,
      b.previous, b.statement is null
    from chain c
    cross join statements b on b.account = :account and b.affiliate_id = c.affiliate_id
      and b.plan = c.plan and b.period = ${periodBefore('c')}
    where c.status = 'draft' and (c.depth = 0 or c.is_carry = 1)
  )
  select target, id, status, digest, previous, is_carry from chain order by target, depth`)

/** Reads what decides whether rows can be approved. */
const READ_CANDIDATES = compileStatement(`
  select s.id, s.affiliate_id, s.plan, s.period, s.hash, s.read_at,
    ifnull((select sum(h.value ->> 'count') from json_each(s.statement, '$.holds') h), 0) as held,
    (select json_group_array(distinct h.value ->> 'currency') from json_each(s.statement, '$.holds') h
      where h.value ->> 'reason' <> 'no_currency') as lacking,
    ${IS_CLOSED} as closed,
    ${LISTS_BOOKED_ENTRY} or ${RECEIVES_UNSENT} as outdated,
    ${DRAFT_SENDER} as sender,
    (select json_group_array(json_object('actor', a.actor, 'at', a.at))
      from statement_approvals a
      where a.account = :account and a.id = s.id and a.hash = ${approvedHash('s')}) as approvals
  from ${JSON_EACH}(:ids) i cross join statements s on s.account = :account and s.id = i.value`)

/** Returns candidates by id; those that do not exist are left out. */
export async function readCandidates(
  db: Connection,
  account: string,
  ids: readonly string[],
): Promise<Candidate[]> {
  const values = { account, ids: JSON.stringify(ids) }
  type Lists = [
    chains: (ChainRow & { target: string })[],
    rows: (Omit<Candidate, 'approvals' | 'lacking' | 'chain'> & {
      approvals: string
      lacking: string
    })[],
  ]
  const [chains, rows] = await readBatch<Lists>(db, [
    bindStatement(db, READ_CHAINS, values),
    bindStatement(db, READ_CANDIDATES, values),
  ])
  const byTarget = Map.groupBy(chains, ({ target }) => target)
  return rows.map((row) => ({
    ...row,
    approvals: JSON.parse(row.approvals),
    lacking: JSON.parse(row.lacking).sort(),
    chain: lookUp(byTarget, row.id),
  }))
}

/** Reads the drafts of a plan and period after an affiliate. */
const LIST_DRAFT_IDS = compileStatement(`
  select id, affiliate_id from statements indexed by statements_status
  where account = :account and ${isDraft('status')} and plan = :plan
    and period = :period
    and affiliate_id > :after
  order by affiliate_id limit :limit`)

/** Returns the ids of some drafts of a plan and period, by affiliate. */
export async function listDraftIds(
  db: Connection,
  account: string,
  page: { plan: string; period: string; after: string; limit: number },
): Promise<{ id: string; affiliate_id: string }[]> {
  return all<{ id: string; affiliate_id: string }>(db, LIST_DRAFT_IDS, { account, ...page })
}

/** The run that answers for the drafts of a period. */
export interface VouchingRun {
  /** When it began, in milliseconds; 0 if there is none. */
  readonly at: number
  /** From where it read marks of changed days. */
  readonly position: number
}

/** The runs that settled a period and are done: those of its kind, of the period or a later one. */
const VOUCHING_RUNS = `statement_runs
  where account = :account and status = 'done' and period >= :period and ${isOfKind('period')}`

const LAST_VOUCHING_RUN = compileStatement(`
  select unixepoch(max(started_at), 'subsec') * 1000 as at, ifnull(position, 0) as position
  from ${VOUCHING_RUNS}`)

/** Returns the last run that settled a period and is done. */
export async function lastVouchingRun(
  db: Connection,
  account: string,
  period: string,
): Promise<VouchingRun> {
  const { at, position } = await only<VouchingRun>(db, LAST_VOUCHING_RUN, { account, period })
  return { at: Math.round(at ?? 0), position }
}

/** Aborts the batch if the account was reset since the period was settled. */
const REQUIRE_RUN = compileStatement(
  `select ${ABORT} where not exists (select 1 from ${VOUCHING_RUNS})`,
)

/** Stores that a person closes a period of a plan, for accounts where two persons must. */
const PUT_CLOSING_APPROVAL = compileStatement(`
  insert into statement_approvals (account, id, hash, actor, at)
  values (:account, :closing, '', :actor, :now) on conflict do nothing`)

/** Whether the required number of persons has approved the period. */
const IS_APPROVED = `(:required <= 1 or :required <= (
    select count(*) from statement_approvals where account = :account and id = :closing))`

const IS_OPEN = `not exists (
    select 1 from closed_periods where account = :account and plan = :plan and period = :period)`

/** Stores the affiliates with drafts, for whom the period stays open when it is closed for all others. */
const LEAVE_OPEN = compileStatement(`
  insert into open_affiliates (account, plan, period, affiliate_id)
  select distinct :account, :plan, :period, s.affiliate_id
  from statements s indexed by statements_status
  where s.account = :account and ${isDraft('s.status')} and s.plan = :plan
    and s.period <= :period
    and ${IS_OPEN} and ${IS_APPROVED}`)

const CLOSE = compileStatement(`
  insert into closed_periods (account, plan, period, closed_at)
  select :account, :plan, :period, :now where ${IS_APPROVED} on conflict do nothing`)

/** Closes a period for the affiliates that no longer have a draft of it or of an earlier period. */
const CLOSE_LEFT_OPEN = compileStatement(`
  delete from open_affiliates
  where account = :account and plan = :plan and period = :period and affiliate_id not in (
    select s.affiliate_id from statements s indexed by statements_status
    where s.account = :account and ${isDraft('s.status')} and s.plan = :plan
      and s.period <= :period)`)

const READ_CLOSED = compileStatement(`
  select closed_at from closed_periods
  where account = :account and plan = :plan and period = :period`)

/** Returns whether a period is closed, from the results of `closingStatements`: another person may have to, too. */
export const isClosedBy = (results: readonly D1Result<unknown>[]): boolean =>
  results.at(-1)?.results.length === 1

/**
 * Returns the statements that close a period of a plan: for every affiliate but those with a draft.
 * `isClosedBy` reads their results.
 */
export function closingStatements(
  db: D1Database,
  { account, actor, required, now }: Approver,
  { plan, period }: { plan: string; period: string },
): D1PreparedStatement[] {
  const entry = {
    audit: newAuditId(),
    at: new Date(now).toISOString(),
    action: 'period.close',
    details: JSON.stringify({ plan, period }),
  }
  const closing = `${plan}/${period}`
  const values = { account, actor, required, now, plan, period, closing, ...entry }
  const bind = (statement: typeof CLOSE) => bindStatement(db, statement, values)
  return [
    bind(REQUIRE_RUN),
    ...(required > 1 ? [bind(PUT_CLOSING_APPROVAL)] : []),
    ...[LEAVE_OPEN, CLOSE, CLOSE_LEFT_OPEN, INSERT_AUDIT_OF_CLOSING, READ_CLOSED].map(bind),
  ]
}

/** Counts the affiliates for whom a closed period of some plans stays open. */
const COUNT_OPEN = compileStatement(`
  select count(distinct o.affiliate_id) as n from ${JSON_EACH}(:plans) p
  cross join open_affiliates o
    on o.account = :account and o.plan = p.value and o.period = :period`)

/** Returns the number of affiliates for whom a closed period of some plans stays open. */
export async function countOpen(
  db: Connection,
  account: string,
  plans: readonly string[],
  period: string,
): Promise<number> {
  const values = { account, plans: JSON.stringify(plans), period }
  const { n } = await only<{ n: number }>(db, COUNT_OPEN, values)
  return n
}

/** Reads the plans of an account with periods of a kind, and when their first version was stored. */
const READ_PLANS_OF_KIND = compileStatement(`
  select plan, min(created_at) as created_at from plan_versions
  where account = :account and terms ->> 'period' = :kind group by plan order by plan`)

/** A plan, and when its first version was stored. */
export interface PlanOfKind {
  readonly plan: string
  readonly created_at: string
}

/** Returns the plans of an account with periods of a kind, in order; also those that were withdrawn. */
export const plansOfKind = (
  db: Connection,
  account: string,
  kind: 'month' | 'week',
): Promise<PlanOfKind[]> => all<PlanOfKind>(db, READ_PLANS_OF_KIND, { account, kind })

/**
 * A row to approve: either a target, which the approver chose, or an earlier row without a statement,
 * which is approved together with its target.
 */
export interface ApprovedRow {
  readonly id: string
  /** The digest of the row that the approver has seen. */
  readonly digest: string
  /** The id of its target; its own id if it is a target. */
  readonly target: string
}

/**
 * The rows `r` to approve, and the targets `bad` that must not be approved: a row of the target is no
 * longer the draft that the approver has seen, or it builds on a draft that is not among the target's
 * rows.
 */
const TARGETS = `
  with r as materialized (
    select value ->> 0 as id, value ->> 1 as digest, value ->> 2 as target
    from ${JSON_EACH}(:rows)
  ),
  bad as materialized (
    select r.target from r
    left join statements s on s.account = :account and s.id = r.id
    left join statements b on b.account = :account and b.affiliate_id = s.affiliate_id
      and b.plan = s.plan and b.period = ${periodBefore('s')}
    where s.id is null or s.status <> 'draft' or s.digest <> r.digest
      or s.previous <> ifnull(b.digest, '')
      or (b.status = 'draft'
        and not exists (select 1 from r e where e.id = b.id and e.target = r.target))
      or (r.id = r.target and (${IS_CLOSED} or ${LISTS_BOOKED_ENTRY} or ${RECEIVES_UNSENT}))
  )`

/** Stores that a person has approved statements, for accounts where two persons must. */
const PUT_APPROVALS = compileStatement(`
  ${TARGETS}
  insert into statement_approvals (account, id, hash, actor, at)
  select :account, s.id, ${approvedHash('s')}, :actor, :now
  from r cross join statements s on s.account = :account and s.id = r.id
  where r.id = r.target and r.target not in (select target from bad)
  on conflict do nothing`)

/** Approves the statements that the required number of persons has approved. */
const APPROVE = compileStatement(`
  ${TARGETS},
  approved as materialized (
    select r.id from r
    where r.target not in (select target from bad) and (:required <= 1 or :required <= (
      select count(*) from statements t
      cross join statement_approvals a on a.account = :account and a.id = t.id
        and a.hash = ${approvedHash('t')}
      where t.account = :account and t.id = r.target))
  )
  update statements set status = 'approved', approval = :audit, approved_at = :now,
    awaits_invoice = :bills and payable glob '*[1-9]*'
  where account = :account and id in (select id from approved)`)

/** Returns the SQL of a decimal text with the opposite sign. */
const opposite = (amount: string) =>
  `iif((${amount}) glob '-*', substr(${amount}, 2), '-' || (${amount}))`

const APPROVED = `statements s indexed by statements_approval`
const OF_APPROVAL = `s.account = :account and s.approval = :audit and s.statement is not null`

/** The SQL of the last day of a period. That of week 1 is the first Sunday from 4 January on. */
const LAST_DAY = `iif(period like '%W%',
      date(substr(period, 1, 4) || '-01-04', 'weekday 0', (7 * (substr(period, 7) - 1)) || ' days'),
      date(period || '-01', '+1 month', '-1 day'))`

/** Books the statements of an approval in the ledger. Leaves out amounts of 0. */
const BOOK_STATEMENTS = bookEntries(`
  select affiliate_id, :audit || '-' || printf('%05d',
      row_number() over (order by affiliate_id, plan, period, position, reference)),
    kind, plan, period, id, currency, amount, reference, :actor, :at, :today,
    iif(kind in ('earned', 'adjusted'), ${LAST_DAY}, :today)
  from (
    select s.affiliate_id, s.plan, s.period, s.id, s.statement ->> 'currency' as currency,
      e.key as position, e.value ->> 0 as kind, e.value ->> 1 as amount, e.value ->> 2 as reference
    from ${APPROVED} cross join json_each(json_array(
      json_array('earned', s.statement ->> 'lines_sum', null),
      json_array('adjusted', s.statement ->> 'adjustments_sum', null),
      json_array('manual', s.statement ->> 'manual_sum', null),
      json_array('dropped', ${opposite("s.statement ->> 'dropped'")}, null),
      json_array('transferred', ${opposite("s.statement ->> '$.transferred.amount'")},
        s.statement ->> '$.transferred.to'))) e
    where ${OF_APPROVAL}
    union all
    select s.affiliate_id, s.plan, s.period, s.id, s.statement ->> 'currency', 5, 'transferred',
      t.value ->> 'amount', t.value ->> 'from'
    from ${APPROVED} cross join json_each(s.statement, '$.received') t
    where ${OF_APPROVAL}
  )
  where amount glob '*[1-9]*' and ${IS_FIRST_ATTEMPT}`)

/** Stores the approved statement of each manual entry. */
const BOOK_MANUAL_ENTRIES = compileStatement(`
  with v as materialized (
    select s.account, s.id, m.value ->> 'id' as entry
    from ${APPROVED} cross join json_each(s.statement, '$.manual') m where ${OF_APPROVAL}
  )
  update manual_entries set statement = v.id
  from v where manual_entries.account = v.account and manual_entries.id = v.entry
    and manual_entries.statement is null`)

/** Writes `statement.approved`. */
const NOTIFY_APPROVED = eventOf(
  'statement.approved',
  `select s.id as about, json_object(
      'statement_id', s.id, 'affiliate_id', s.affiliate_id, 'plan', s.plan, 'period', s.period,
      'currency', s.statement ->> 'currency', 'total', s.statement ->> 'total',
      'payable', s.payable, 'hash', s.hash) as data
    from ${APPROVED} where ${OF_APPROVAL}`,
)

/** Tells affiliates what is to be paid to them. */
const TELL_APPROVED = noticesOf(
  'statement_approved',
  `select s.id as cause, 'affiliate:' || s.affiliate_id as recipient from ${APPROVED}
    where ${OF_APPROVAL} and s.payable glob '*[1-9]*' and s.payable not glob '-*'`,
)

/** Reads the statements of an approval. */
const READ_APPROVED = compileStatement(
  `select s.id, 1 as approved from ${APPROVED} where ${OF_APPROVAL}`,
)

/** Reads the targets that are still drafts and that the person has approved in their present form. */
const READ_WAITING = compileStatement(`
  select s.id from ${JSON_EACH}(:rows) r
  cross join statements s on s.account = :account and s.id = r.value ->> 0 and s.status = 'draft'
  cross join statement_approvals a on a.account = :account and a.id = s.id
    and a.hash = ${approvedHash('s')} and a.actor = :actor
  where r.value ->> 0 = r.value ->> 2`)

/** Who approves, when, and how many persons must approve. */
export interface Approver {
  readonly account: string
  /** The same account, whose settings say whether it writes invoices. */
  readonly of: Account
  readonly actor: string
  readonly required: number
  /** In milliseconds. */
  readonly now: number
  /** The day of `now` in the time zone of the account. */
  readonly today: string
}

/** The ids of the targets that were approved, and of those that wait for another person. */
export interface Approved {
  readonly approved: ReadonlySet<string>
  readonly waiting: ReadonlySet<string>
  /** The results of the SQL statements of `closing`. */
  readonly closing: readonly D1Result<unknown>[]
}

/**
 * Approves rows in one atomic batch, and adds one entry to the audit log if it stored an approval. Does
 * not approve targets that have changed since the approver saw them.
 *
 * @param closing The SQL statements that close the period afterwards, if these are its last rows; else none.
 */
export async function approveRows(
  db: D1Database,
  { account, of, actor, required, now, today }: Approver,
  rows: readonly ApprovedRow[],
  { action, details }: { action: string; details: object },
  closing: readonly D1PreparedStatement[],
): Promise<Approved> {
  const audit = newAuditId()
  const list = JSON.stringify(rows.map(({ id, digest, target }) => [id, digest, target]))
  const bills = of.self_billing === 'off' ? 0 : 1
  const entry = { audit, at: new Date(now).toISOString(), action, details: JSON.stringify(details) }
  const values = { account, actor, required, now, today, bills, rows: list, ...entry }
  const bind = (statement: typeof APPROVE) => bindStatement(db, statement, values)
  const results = await withD1Retry(() =>
    db.batch<{ id: string; approved?: number }>([
      ...(required > 1 ? [bind(PUT_APPROVALS)] : []),
      ...[APPROVE, BOOK_STATEMENTS, BOOK_MANUAL_ENTRIES, NOTIFY_APPROVED, TELL_APPROVED].map(bind),
      ...(bills ? writeInvoices(db, of, { audit, actor, now }) : []),
      bind(INSERT_AUDIT_OF_APPROVAL),
      ...closing,
      ...[READ_APPROVED, READ_WAITING].map(bind),
    ]),
  ).catch((error) => {
    throw isAssertionFailure(error) ? unavailable(error, 1) : error
  })
  const [approved, waiting] = results
    .slice(-2)
    .map(({ results: found }) => found.map(({ id }) => id))
  return {
    approved: new Set(approved),
    waiting: new Set(waiting),
    closing: results.slice(-2 - closing.length, -2),
  }
}
