import { newAuditId } from '../../directory/audit.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { withD1Retry } from '../../retry.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import {
  approvedHash,
  IS_CLOSED,
  LISTS_BOOKED_ENTRY,
  periodBefore,
  RECEIVES_UNSENT,
} from './approval-conditions.ts'
import { auditApproval, IS_FIRST_ATTEMPT } from './audit-guard.ts'

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
export const PUT_APPROVALS = compileStatement(`
  ${TARGETS}
  insert into statement_approvals (account, id, hash, actor, at)
  select :account, s.id, ${approvedHash('s')}, :actor, :now
  from r cross join statements s on s.account = :account and s.id = r.id
  where r.id = r.target and r.target not in (select target from bad)
  on conflict do nothing`)

/** Approves the statements that the required number of persons has approved. */
export const APPROVE = compileStatement(`
  ${TARGETS},
  approved as materialized (
    select r.id from r
    where r.target not in (select target from bad) and (:required <= 1 or :required <= (
      select count(*) from statements t
      cross join statement_approvals a on a.account = :account and a.id = t.id
        and a.hash = ${approvedHash('t')}
      where t.account = :account and t.id = r.target))
  )
  update statements set status = 'approved', approval = :audit, approved_at = :now
  where account = :account and id in (select id from approved)`)

/** Returns the SQL of a decimal text with the opposite sign. */
const opposite = (amount: string) =>
  `iif((${amount}) glob '-*', substr(${amount}, 2), '-' || (${amount}))`

const APPROVED = `statements s indexed by statements_approval`
const OF_APPROVAL = `s.account = :account and s.approval = :audit and s.statement is not null`

/** Books the statements of an approval in the ledger. Leaves out amounts of 0. */
export const BOOK_STATEMENTS = compileStatement(`
  insert into ledger (account, affiliate_id, id, kind, plan, period, statement, currency, amount,
    reference, actor, at)
  select :account, affiliate_id, :audit || '-' || printf('%05d',
      row_number() over (order by affiliate_id, plan, period, position, reference)),
    kind, plan, period, id, currency, amount, reference, :actor, :at
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
export const BOOK_MANUAL_ENTRIES = compileStatement(`
  update manual_entries set statement = v.id
  from (
    select s.id, m.value ->> 'id' as entry
    from ${APPROVED} cross join json_each(s.statement, '$.manual') m where ${OF_APPROVAL}
  ) v
  where manual_entries.account = :account and manual_entries.id = v.entry
    and manual_entries.statement is null`)

/** Reads the statements of an approval. */
export const READ_APPROVED = compileStatement(
  `select s.id, 1 as approved from ${APPROVED} where ${OF_APPROVAL}`,
)

/** Reads the targets that are still drafts and that the person has approved in their present form. */
export const READ_WAITING = compileStatement(`
  select s.id from ${JSON_EACH}(:rows) r
  cross join statements s on s.account = :account and s.id = r.value ->> 0 and s.status = 'draft'
  cross join statement_approvals a on a.account = :account and a.id = s.id
    and a.hash = ${approvedHash('s')} and a.actor = :actor
  where r.value ->> 0 = r.value ->> 2`)

/** Who approves, when, and how many persons must approve. */
export interface Approver {
  readonly account: string
  readonly actor: string
  readonly required: number
  /** In milliseconds. */
  readonly now: number
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
  { account, actor, required, now }: Approver,
  rows: readonly ApprovedRow[],
  { action, details }: { action: string; details: object },
  closing: readonly D1PreparedStatement[],
): Promise<Approved> {
  const audit = newAuditId()
  const list = JSON.stringify(rows.map(({ id, digest, target }) => [id, digest, target]))
  const at = new Date(now).toISOString()
  const values = { account, actor, required, now, audit, at, rows: list }
  const bind = (statement: typeof APPROVE) => bindStatement(db, statement, values)
  const entry = { audit, actor, action, account, details, now }
  const results = await withD1Retry(() =>
    db.batch<{ id: string; approved?: number }>([
      ...(required > 1 ? [bind(PUT_APPROVALS)] : []),
      ...[APPROVE, BOOK_STATEMENTS, BOOK_MANUAL_ENTRIES].map(bind),
      auditApproval(db, entry, list),
      ...closing,
      ...[READ_APPROVED, READ_WAITING].map(bind),
    ]),
  )
  const [approved, waiting] = results
    .slice(-2)
    .map(({ results: found }) => found.map(({ id }) => id))
  return {
    approved: new Set(approved),
    waiting: new Set(waiting),
    closing: results.slice(-2 - closing.length, -2),
  }
}
