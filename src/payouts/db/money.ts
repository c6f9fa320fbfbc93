import { isHeld } from '../../fraud/db/holds.ts'
import { IS_DUE, sumOf } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { negate } from '../../platform/money/decimal.ts'
import { fromUnits, moneyText } from '../../platform/money/money.ts'
import type { Method, MoneyState } from '../model.ts'
import { CAME_BACK, joinPayee } from './payable.ts'

/** Where the money of an approved statement is, as its affiliate reads it. */
export interface StatementMoney {
  readonly statement: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly state: MoneyState
  /** What the statement pays; of one that is not paid, what of it is not paid yet. */
  readonly amount: string
  /** The day of the payment, of what is to become it, or of the return. Null: nobody knows. */
  readonly on: string | null
  /** Why it came back. Null if it did not, or if nobody says so. */
  readonly reason: string | null
  /** How it is paid, if it is under way. */
  readonly method: Method | null
}

const UNDER_WAY = `state in ('preparing', 'sent')`

const selectMoney = (statements: string, where: string) =>
  compileStatement(`
  select statement, plan, period, currency, state, amount, paid,
    case when ${UNDER_WAY} then execute_on
      when state = 'paid' then paid_on
      when state = 'came_back' then came_back ->> 'day'
      when state = 'approved' and not is_held then max(payable_on, payable_from)
    end as "on",
    iif(state = 'came_back', nullif(came_back ->> 'words', ''), null) as reason,
    iif(${UNDER_WAY}, method, null) as method
  from (
    select *, case
        when status = 'paid' then 'paid'
        when transfer = 'created' then 'preparing'
        when transfer in ('exported', 'accepted') then 'sent'
        when came_back is not null then 'came_back'
        when payee is null or payee in ('blocked', 'returned') then 'no_details'
        when is_held and :shows_review then 'under_review'
        else 'approved'
      end as state
    from (
      select s.id as statement, s.plan, s.period, s.statement ->> 'currency' as currency, s.status,
        s.payable as amount,
        iif(s.status = 'paid', (select ${sumOf('l.amount')} from ledger l where l.account = :account
          and l.affiliate_id = :affiliate and l.statement = s.id and l.kind in ('paid', 'returned')), null) as paid,
        s.statement ->> 'payable_on' as payable_on, t.state as transfer, b.execute_on, b.method,
        (select paid_on from payments m where m.account = :account and m.reference = s.payment) as paid_on,
        ${CAME_BACK} as came_back, p.state as payee, ${isHeld('s.affiliate_id')} as is_held,
        ifnull(date(p.payable_from / 1000, 'unixepoch'), '') as payable_from
      from ${statements}
      left join transfers t on t.account = :account and t.id = s.transfer
      left join payout_batches b on b.account = :account and b.id = t.batch
      ${joinPayee('s.affiliate_id')}
      where s.account = :account and s.affiliate_id = :affiliate and ${where}))`)

const READ_OF = selectMoney(
  `${JSON_EACH}(:ids) i cross join statements s on s.account = :account and s.id = i.value`,
  `s.status <> 'draft' and s.statement ->> 'payable' glob '*[1-9]*'`,
)

const READ_UNPAID = selectMoney('statements s indexed by statements_due', IS_DUE)

/** Whose money is read. `shows_review`: 1 if they see that it is under review. */
export interface MoneyOf {
  readonly account: string
  readonly affiliate: string
  readonly shows_review: 0 | 1
}

/** Reads where the money of an affiliate's approved statements is: of those with some ids, or of all that are not paid. */
export async function readStatementMoney(
  db: Connection,
  of: MoneyOf,
  ids: readonly string[] | null,
): Promise<StatementMoney[]> {
  const values = { ...of, ids: JSON.stringify(ids) }
  const found = await all<StatementMoney & { readonly paid: string | null }>(
    db,
    ids === null ? READ_UNPAID : READ_OF,
    values,
  )
  return found.map(({ paid, ...one }) => {
    if (paid === null) return one
    return { ...one, amount: moneyText(negate(fromUnits(paid, one.currency)), one.currency) }
  })
}

const LAST_MOVED = compileStatement(`
  select max(
    ifnull((select max(changed_at) from transfers indexed by transfers_affiliate
      where account = :account and affiliate_id = :affiliate), 0),
    ifnull((select cast(unixepoch(at, 'subsec') * 1000 as integer) from ledger
      where account = :account and affiliate_id = :affiliate order by id desc limit 1), 0)) as at`)

/** Returns when the money of an affiliate last moved, or was last approved, in milliseconds; 0 if it never was. */
export const readLastMoved = async (db: Connection, account: string, affiliate: string) =>
  (await only<{ at: number }>(db, LAST_MOVED, { account, affiliate })).at
