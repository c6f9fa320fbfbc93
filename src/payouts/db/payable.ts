import { isCurrent, LACKS_AGREEMENT, LACKS_TREATMENT } from '../../books/db/invoices.ts'
import { BOOK_LIMITS } from '../../books/limits.ts'
import { CASE_NAME, isHeld } from '../../fraud/db/holds.ts'
import { IS_DUE, IS_FREE, IS_NOT_UNDER_WAY } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { only } from '../../platform/db/query.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import type { StoredDetails } from '../model.ts'
import { PAID_TWICE } from './movements.ts'
import { SAME_ACCOUNT } from './payees.ts'

/** A statement that has to be paid. */
export interface DueStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly period: string
  readonly currency: string
  readonly amount: string
  /** How its last payment came back or was refused, as JSON of `CameBack`; null if it was not. */
  readonly came_back: string | null
  /** Whether its invoice waits, and for what: 1 or 0. */
  readonly no_agreement: number
  readonly no_treatment: number
}

/** How a payment came back, until bank details change or are approved again. */
export interface CameBack {
  readonly payment: string
  readonly day: string
  readonly words: string
}

/** What is known of an affiliate to whom something is due. Its bank details are null if there are none. */
export type DuePayee = Pick<StoredDetails, 'id'> & {
  readonly [K in 'version' | 'state' | 'payable_from' | 'details' | 'entered_at' | 'reason']:
    | StoredDetails[K]
    | null
} & {
  readonly is_held: number
  readonly is_suspended: number
  /** Whether other details were approved before. */
  readonly is_changed: number
  /** JSON arrays: as `SAME_ACCOUNT`; of open cases `{id, name}`; of references that left twice; of the latest payments `[currency, amount]`. */
  readonly same_account: string
  readonly open_cases: string
  readonly paid_twice: string
  readonly payments: string
}

const DUE = `statements s indexed by statements_due
  where s.account = :account and ${IS_DUE} and ${IS_NOT_UNDER_WAY} and s.statement ->> 'payable_on' <= :day
    and (:affiliates is null or s.affiliate_id in (select value from json_each(:affiliates)))`

/** The SQL that joins the details of a payee, named by SQL, as `p`. */
export const joinPayee = (
  id: string,
) => `left join payees p on p.account = :account and p.party = 'payee'
    and p.id = ${id} and ${isCurrent('p')} and p.state <> 'missing'`

/** The SQL of a day that is stored in milliseconds. */
const dayOf = (time: string) => `date(${time} / 1000, 'unixepoch')`

/**
 * The transfers `t` of statements `s` that came back or were refused, until the details `p` of the payee change or are
 * approved again, or a transfer that was confirmed since has paid a part of the statement.
 */
const FAILED = `t.state in ('rejected', 'returned') and t.payee_version = ifnull(p.version, 0)
        and t.changed_at >= ifnull(p.payable_from, 0) and not exists (select 1 from transfers l
          join payout_batches b on b.account = l.account and b.id = l.batch and b.confirmed_at >= t.changed_at
          where l.account = s.account and l.id = s.transfer and l.state = 'paid')`

/** The SQL of `CameBack`, as JSON, of a statement `s` whose payee is `p`; null if its payment did not come back. */
export const CAME_BACK = `(
      select json_object('payment', t.id, 'words', concat_ws(' ', t.code, t.reason), 'day', ifnull((
        select n.returned_on from payment_returns n where n.account = s.account and n.payment = t.id
      ), ${dayOf('t.changed_at')}))
      from transfers t indexed by transfers_failed
      where t.account = s.account and t.affiliate_id = s.affiliate_id and ${FAILED}
        and exists (select 1 from json_each(t.statements) i where i.value = s.id)
      order by t.changed_at desc, t.id desc limit 1)`

const COUNT_RETURNED = compileStatement(`
  select count(distinct t.id) as count, json_group_array(distinct t.affiliate_id) as affiliates
  from transfers t indexed by transfers_failed
  cross join json_each(t.statements) i
  cross join statements s on s.account = :account and s.id = i.value and ${IS_DUE} and ${IS_FREE}
  ${joinPayee('t.affiliate_id')}
  where t.account = :account and ${FAILED}`)

/**
 * Counts the payments that came back or were rejected and are due again, until the bank details change or are approved
 * again, and names their affiliates as a JSON array.
 */
export const countReturned = (db: Connection, account: string) =>
  only<{ count: number; affiliates: string }>(db, COUNT_RETURNED, { account })

const READ_STATEMENTS = compileStatement(`
  select s.id, s.affiliate_id, s.period, s.statement ->> 'currency' as currency, s.payable as amount,
    ${CAME_BACK} as came_back, ${LACKS_AGREEMENT} as no_agreement,
    ${LACKS_TREATMENT} as no_treatment
  from (select s.account, s.awaits_invoice, s.id, s.affiliate_id, s.period, s.plan, s.statement, s.payable, s.transfer from ${DUE}) s
  ${joinPayee('s.affiliate_id')}
  order by s.affiliate_id, currency, s.period, s.plan limit ${BOOK_LIMITS.due}`)

/** How many of the latest payments of an affiliate are compared with the next one. */
const PAYMENTS = 60

const READ_PAYEES = compileStatement(`
  with twice as materialized (${PAID_TWICE})
  select a.id, p.version, p.state, p.payable_from, p.details, p.entered_at, p.reason,
    ${isHeld('a.id')} as is_held, ${SAME_ACCOUNT} as same_account,
    exists (select 1 from affiliates f where f.account = :account and f.affiliate_id = a.id
      and f.status = 'suspended') as is_suspended,
    exists (select 1 from payees o where o.account = :account and o.party = 'payee' and o.id = a.id
      and o.version < p.version and o.payable_from is not null) as is_changed,
    (select json_group_array(json_object('id', id, 'name', name) order by id) from (
      select c.id, ${CASE_NAME} from fraud_cases c indexed by fraud_cases_position
      where c.account = :account and c.affiliate_id = a.id and c.status = 'open' and c.severity <> 'low'
        and c.action <> 'hold'
    )) as open_cases,
    (select json_group_array(distinct w.reference order by w.reference) from twice w
      where w.affiliate_id = a.id) as paid_twice,
    (select json_group_array(json_array(currency, amount)) from (
      select y.currency, y.amount from payments y indexed by payments_by_affiliate
      where y.account = :account and y.affiliate_id = a.id and not exists (
        select 1 from payment_returns n where n.account = :account and n.payment = y.reference)
      order by y.paid_on desc, y.reference desc limit ${PAYMENTS})) as payments
  from (select distinct s.affiliate_id as id from ${DUE}) a ${joinPayee('a.id')}`)

/** Reads what is due by a day, of some affiliates if these are named, in order of affiliates and currencies. */
export async function readDue(
  db: Connection,
  account: string,
  day: string,
  affiliates: readonly string[] | null,
): Promise<readonly [DueStatement[], ReadonlyMap<string, DuePayee>]> {
  const values = { account, day, affiliates: affiliates && JSON.stringify(affiliates) }
  const [statements, payees] = await readBatch<[DueStatement[], DuePayee[]]>(
    db,
    [READ_STATEMENTS, READ_PAYEES].map((one) => bindStatement(db, one, values)) as never,
  )
  return [statements, new Map(payees.map((one) => [one.id, one]))]
}
