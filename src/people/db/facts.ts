import type { Connection } from '../../platform/db/database.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import type { NoticeKind, StoredNotice } from '../../platform/directory/outbox.ts'

// What notices say of their causes, read when they are shown or sent: a cause that is no more has no facts, and its notice
// is not sent. No fact is about a customer, and none is a number of an account.

/**
 * What the text of a notice names. `link` is what its button acts on; `at` and `on` are paths of the page that it
 * leads to. A member `currency` belongs to `amount`.
 */
export interface Facts {
  readonly amount?: string
  readonly currency?: string
  readonly day?: string | null
  readonly period?: string
  readonly link?: string
  readonly [name: string]: string | number | null | undefined
}

const STATEMENT = `
  select s.id as page, s.period, s.payable as amount, s.statement ->> 'currency' as currency,
    max(s.statement ->> 'payable_on', ifnull(date(p.payable_from / 1000, 'unixepoch'), '')) as day,
    p.state in ('entered', 'approved') as has_details
  from statements s
  left join payees p on p.account = :account and p.party = 'payee' and p.id = s.affiliate_id
    and p.version = (select max(n.version) from payees n where n.account = :account and n.party = 'payee'
      and n.id = s.affiliate_id)
  where s.account = :account and s.id = :cause and s.status <> 'draft'`

/** The affiliate whom a notice of the team is about, as the team calls them. */
const ABOUT = `(select ifnull(a.display_name, a.affiliate_id) from affiliates a
    where a.account = :account and a.affiliate_id = :about)`

const INVITATION = `
  select digest as link from affiliate_invitations
  where account = :account and affiliate_id = :about and id = :cause and used_at is null and ends_at > :now`

/** A change of a member of the team, by its entry in the audit log. */
const CHANGE = `
  select ifnull((select name from members where email = l.actor order by removed_at is null desc limit 1),
      l.actor) as "by", m.name
  from audit_log l cross join members m on m.id = l.details ->> 'member' where l.id = :cause`

/** The facts of each kind, in the database of the account; of the team's own, in the directory. */
const FACTS: { readonly [Kind in NoticeKind]?: string } = {
  invitation: INVITATION,
  application_approved: INVITATION,
  statement_approved: STATEMENT,
  application_received: `
    select id as link from applications
    where account = :account and id = :cause and status = 'unproved'`,
  application_rejected: `
    select 1 as decided from applications
    where account = :account and id = :cause and status = 'rejected'`,
  application: `
    select name from applications where account = :account and id = :cause and status = 'waiting'`,
  payment_sent: `
    select t.id as reference, t.amount, t.currency, b.execute_on as day from transfers t
    cross join payout_batches b on b.account = :account and b.id = t.batch
    where t.account = :account and t.id = :cause and t.state <> 'cancelled'`,
  payment_paid: `
    select reference, amount, currency, paid_on as day from payments
    where account = :account and reference = :cause`,
  payment_returned: `
    select t.id as reference, t.amount, t.currency from transfers t
    where t.account = :account and t.id = :cause and t.state = 'rejected'
    union all
    select reference, amount, currency from payments
    where account = :account and reference = :cause and exists (select 1 from payment_returns
      where account = :account and payment = :cause)`,
  details_changed: `
    select :id as link, entered_at from payees where account = :account and party = 'payee'
      and id = substr(:cause, instr(:cause, ' ') + 1) and version = cast(:cause as integer)
      and state <> 'missing'`,
  question_answered: `
    select question as page from affiliate_question_messages m
    where account = :account and id = :cause and question in (
      select id from affiliate_questions q where q.account = :account and q.affiliate_id = :about)`,
  terms_changed: `
    select substr(:cause, instr(:cause, ' ') + 1, 10) as day,
      substr(:cause, instr(:cause, ' ') + 12) as plan
    where cast(:cause as integer) = 0 or exists (select 1 from plan_versions
      where account = :account and plan = substr(:cause, instr(:cause, ' ') + 12)
        and version = cast(:cause as integer) and withdrawn_at is null)`,
  batch_prepared: `
    select id as page, total as amount, currency, execute_on as day,
      (select group_concat(value, ', ') from json_each(authors)) as "by"
    from payout_batches where account = :account and id = :cause and confirmed_by is null and ends_at > :now`,
  details_entered: `select ifnull(${ABOUT}, '') as affiliate where :cause <> ''`,
  question_asked: `
    select question as page, ${ABOUT} as affiliate from affiliate_question_messages
    where account = :account and id = :cause and question in (
      select id from affiliate_questions q where q.account = :account and q.affiliate_id = :about)`,
  member_invitation: `
    select i.digest as link, ifnull((select name from members where email = i.created_by
      order by removed_at is null desc limit 1), 'Tributary') as "by"
    from member_invitations i where i.id = :cause and i.used_at is null and i.ends_at > :now`,
  approver_changed: CHANGE,
  approval_waits: CHANGE,
  attention: `
    select substr(:cause, 12) ->> 'count' as count, substr(:cause, 12) ->> 'fresh' as fresh where :cause <> ''`,
}

const STATEMENTS = Object.fromEntries(
  Object.entries(FACTS).map(([kind, sql]) => [kind, compileStatement(sql)]),
)

const NO_FACTS = compileStatement('select 1 where false')

/** Returns the affiliate whom a notice is for, or about; null if there is none. */
export const affiliateOf = ({ recipient, affiliate_id }: StoredNotice): string | null =>
  recipient.startsWith('affiliate:') ? recipient.slice('affiliate:'.length) : affiliate_id

/** Returns the facts of notices; null of a cause that is no more. `now` is in milliseconds. */
export async function readFacts(
  db: Connection,
  notices: readonly StoredNotice[],
  now: number,
): Promise<(Facts | null)[]> {
  if (notices.length === 0) return []
  const lists = await readBatch<Facts[][]>(
    db,
    notices.map((notice) =>
      bindStatement(db, STATEMENTS[notice.kind] ?? NO_FACTS, {
        ...notice,
        about: affiliateOf(notice),
        now,
      }),
    ),
  )
  return lists.map(([facts]) => facts ?? null)
}
