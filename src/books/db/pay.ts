import type { ReturnedPayment } from '../../ledger/db/booked.ts'
import { bookEntries, IS_DUE, IS_FREE } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all } from '../../platform/db/query.ts'
import type { Account, payments, statements } from '../../platform/db/schema.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../../platform/db/statement.ts'
import { newAuditId, tryWithAudit } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  isZero,
  least,
  subtract,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import { moneyText } from '../../platform/money/money.ts'
import { bookZoneOf, dayInZone } from '../../platform/zone.ts'
import { eventOf } from '../../webhooks/db/events.ts'

/** A payment to make, and the ids of the statements that it pays: of the first ones all that is due. */
export interface NewPayment {
  readonly reference: string
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly paid_on: string
  readonly ids: readonly string[]
}

const ROWS = `
  with r as materialized (
    select key as position, value ->> 'reference' as reference, value ->> 'affiliate_id' as affiliate_id,
      value ->> 'currency' as currency, value ->> 'amount' as amount, value ->> 'paid_on' as paid_on,
      value -> 'parts' as parts
    from json_each(:rows)
  )`

const READ_DUE = compileStatement(`
  select r.value ->> 'reference' as reference, s.id, s.payable as amount
  from ${JSON_EACH}(:made) r cross join json_each(r.value -> 'ids') i
  cross join statements s on s.account = :account and s.id = i.value
  where ${IS_DUE} and (s.transfer = r.value ->> 'reference' or ${IS_FREE})
  order by r.key, i.key`)

/**
 * Returns what each payment pays of its statements: their ids, what was due, what is paid, and what stays due, if something
 * does. More may be due than is paid: an earlier payment of it came back meanwhile. Null if less is due.
 */
export async function partsOf<P extends Omit<NewPayment, 'affiliate_id' | 'paid_on'>>(
  db: Connection,
  account: string,
  made: readonly P[],
) {
  const found = await all<Due>(db, READ_DUE, { account, made: JSON.stringify(made) })
  const due = Map.groupBy(found, ({ reference }) => reference)
  const paid = made.map((one) => {
    const text = (amount: Decimal) => moneyText(amount, one.currency)
    const parts = divide(due.get(one.reference) ?? [], one.amount).map(({ id, amount, moved }) => {
      const rest = subtract(decimal(amount), moved)
      return [id, amount, text(moved), isZero(rest) ? null : text(rest)] as const
    })
    return { ...one, parts }
  })
  const isDue = ({ amount, parts }: (typeof paid)[number]) =>
    compare(sum(parts.map(([, , part]) => decimal(part))), decimal(amount)) === 0
  return paid.every(isDue) ? paid : null
}

/** Aborts the batch if a reference is taken, or a statement must no longer be paid. */
const REJECT_CHANGED = compileStatement(`
  ${ROWS}
  select ${ABORT} from r where
    exists (select 1 from payments p where p.account = :account and p.reference = r.reference)
    or exists (
      select 1 from json_each(r.parts) i
      left join statements s on s.account = :account and s.id = i.value ->> 0 and s.status = 'approved'
        and s.payable = i.value ->> 1 and ${IS_FREE}
      where s.id is null)`)

/** Inserts payments. */
const INSERT_PAYMENTS = compileStatement(`
  ${ROWS}
  insert into payments (account, reference, affiliate_id, currency, amount, paid_on, statements,
    actor, at)
  select :account, reference, affiliate_id, currency, amount, paid_on,
    (select json_group_array(value ->> 0) from json_each(parts)), :actor, :at from r`)

/** Books what was paid in the ledger: an entry for each statement. */
const BOOK_PAYMENTS = bookEntries(`
  ${ROWS}
  select s.affiliate_id,
    :audit || '-' || printf('%05d', row_number() over (order by r.position, i.key)), 'paid', s.plan,
    s.period, s.id, r.currency, '-' || (i.value ->> 2), r.reference, :actor, :at, :today, r.paid_on
  from r cross join json_each(r.parts) i
  cross join statements s on s.account = :account and s.id = i.value ->> 0`)

/** Marks statements as paid. Of one that is paid in part, the rest stays payable. */
const PAY = compileStatement(`
  with v as materialized (
    select :account as account, r.value ->> 'reference' as reference, i.value ->> 0 as id,
      i.value ->> 3 as rest
    from ${JSON_EACH}(:rows) r cross join json_each(r.value -> 'parts') i
  )
  update statements set status = iif(v.rest is null, 'paid', 'approved'),
    payment = iif(v.rest is null, v.reference, null), payable = ifnull(v.rest, payable)
  from v where statements.account = v.account and statements.id = v.id`)

/** What an event of a payment names of a statement. */
const PAID_MEMBERS = `'statement_id', s.id, 'affiliate_id', s.affiliate_id, 'plan', s.plan, 'period', s.period,
      'currency', s.statement ->> 'currency'`

/** Writes `statement.paid`: for each payment of a statement. */
const NOTIFY_PAID = eventOf(
  'statement.paid',
  `select s.id || ' ' || s.payment as about, json_object(${PAID_MEMBERS}, 'amount', s.payable,
      'reference', s.payment, 'paid_on', r.value ->> 'paid_on') as data
    from ${JSON_EACH}(:rows) r cross join json_each(r.value -> 'parts') i
    cross join statements s on s.account = :account and s.id = i.value ->> 0
      and s.payment = r.value ->> 'reference'`,
)

/** Tells affiliates that they are paid. */
const TELL_PAID = noticesOf(
  'payment_paid',
  `select value ->> 'reference' as cause, 'affiliate:' || (value ->> 'affiliate_id') as recipient
    from ${JSON_EACH}(:rows)`,
)

const PAY_STATEMENTS = [REJECT_CHANGED, INSERT_PAYMENTS, BOOK_PAYMENTS, PAY, NOTIFY_PAID, TELL_PAID]

/** The account that pays, with what decides on its days. */
export type PayingAccount = Pick<Account, 'id' | 'vertical' | 'time_zone' | 'book_zone'>

/** Who pays, and how the audit log calls it. */
interface Payer {
  readonly account: PayingAccount
  readonly actor: string
  readonly action: string
  readonly details: Record<string, unknown>
  /** In milliseconds. */
  readonly now: number
}

/**
 * Books payments, all or none, in one atomic batch. Returns false if a reference is taken, or a statement must no longer
 * be paid. What a case of the fraud review holds meanwhile is booked, too: the money has left.
 *
 * @param also What is stored in the same batch, before the payments.
 */
export async function bookPayments(
  db: D1Database,
  payer: Payer,
  made: readonly NewPayment[],
  also: readonly D1PreparedStatement[] = [],
): Promise<boolean> {
  const paid = await partsOf(db, payer.account.id, made)
  return paid !== null && book(db, payer, PAY_STATEMENTS, { rows: JSON.stringify(paid) }, also)
}

/** A statement, what is due of it, and which payment pays it. */
interface Due extends Pick<Moved, 'id' | 'amount'> {
  readonly reference: string
}

/** A statement, and what of it moves. */
interface Moved extends Pick<typeof statements.$inferSelect, 'id' | 'status' | 'payable'> {
  readonly amount: string
}

/** Returns of which statements an amount moves, and how much: of the first ones in whole. */
function divide<M extends Pick<Moved, 'amount'>>(all: readonly M[], amount: string) {
  let left = decimal(amount)
  return all.flatMap((one) => {
    const moved: Decimal = least(decimal(one.amount), left)
    left = subtract(left, moved)
    return isZero(moved) ? [] : [{ ...one, moved }]
  })
}

const READ_PAID = compileStatement(`
  select s.id, s.status, s.payable, substr(l.amount, 2) as amount, l.currency
  from payments p
  cross join ledger l on l.account = :account and l.affiliate_id = p.affiliate_id
    and l.kind = 'paid' and l.reference = p.reference
  cross join statements s on s.account = :account and s.id = l.statement
  where p.account = :account and p.reference = :payment order by l.id`)

/**
 * Books that a payment came back. Returns false if it did already.
 *
 * @param also What is stored in the same batch, before the return.
 * @param amount What came back; absent: all of it.
 */
export async function bookReturn(
  db: D1Database,
  payer: Payer,
  returned: ReturnedPayment,
  also: readonly D1PreparedStatement[] = [],
  amount?: string,
): Promise<boolean> {
  const { payment } = returned
  const account = payer.account.id
  const paid = await all<Moved & { currency: string }>(db, READ_PAID, { account, payment })
  const back =
    amount === undefined
      ? paid.map((one) => ({ ...one, moved: decimal(one.amount) }))
      : divide(paid, amount)
  const parts = back.map(({ id, status, payable, currency, moved }) => {
    const due = status === 'approved' ? decimal(payable) : ZERO
    const texts = [moved, add(due, moved)].map((one) => moneyText(one, currency))
    return [id, ...texts, status, payable]
  })
  return book(db, payer, RETURN_STATEMENTS, { ...returned, parts: JSON.stringify(parts) }, also)
}

function book(
  db: D1Database,
  { account: { id: account, ...zones }, actor, action, details, now }: Payer,
  statements: readonly Statement[],
  values: object,
  also: readonly D1PreparedStatement[],
): Promise<boolean> {
  const audit = newAuditId()
  const today = dayInZone(bookZoneOf(zones), now)
  const all = { account, actor, at: new Date(now).toISOString(), today, audit, ...values }
  const bound = statements.map((one) => bindStatement(db, one, all))
  return tryWithAudit(db, { actor, action, account, details }, [...also, ...bound], audit)
}

/** The statements `s` of which a payment paid what came back, and of `r` how much and what is due then. */
const OF_RETURN = `${JSON_EACH}(:parts) r
  cross join statements s on s.account = :account and s.id = r.value ->> 0`

/** Aborts the batch if the payment is gone or came back already, or a statement is used otherwise. */
const REJECT_RETURNED = compileStatement(`
  select ${ABORT} where
    not exists (select 1 from payments where account = :account and reference = :payment)
    or exists (select 1 from payment_returns
      where account = :account and payment = :payment)
    or exists (select 1 from ${OF_RETURN}
      where (s.status, s.payable) is not (r.value ->> 3, r.value ->> 4))`)

/** Inserts a return. */
const INSERT_RETURN = compileStatement(`
  insert into payment_returns (account, payment, returned_on, reason, actor, at)
  values (:account, :payment, :returned_on, :reason, :actor, :at)`)

/** Books what came back in the ledger: an entry for each statement. */
const BOOK_RETURN = bookEntries(`
  select s.affiliate_id, :audit || '-' || printf('%05d', r.key + 1), 'returned', s.plan, s.period,
    s.id, s.statement ->> 'currency', r.value ->> 1, :payment, :actor, :at, :today, :returned_on
  from ${OF_RETURN}`)

/** Marks the statements of a payment that came back as approved. */
const RETURN = compileStatement(`
  with v as materialized (select :account as account, value ->> 0 as id, value ->> 2 as payable
    from ${JSON_EACH}(:parts))
  update statements set status = 'approved', payment = null, returned = :payment, payable = v.payable
  from v where statements.account = v.account and statements.id = v.id`)

/** Writes \`statement.returned\`: for each statement of the payment. */
const NOTIFY_RETURNED = eventOf(
  'statement.returned',
  `select s.id || ' ' || s.returned as about, json_object(${PAID_MEMBERS}, 'amount', r.value ->> 1,
      'payment', s.returned, 'returned_on', :returned_on) as data
    from ${OF_RETURN}`,
)

/** Tells the affiliate that it came back. */
const TELL_RETURNED = noticesOf(
  'payment_returned',
  `select reference as cause, 'affiliate:' || affiliate_id as recipient from payments
    where account = :account and reference = :payment`,
)

/** The statements that book a return, in their order. */
const RETURN_STATEMENTS = [
  REJECT_RETURNED,
  INSERT_RETURN,
  BOOK_RETURN,
  RETURN,
  NOTIFY_RETURNED,
  TELL_RETURNED,
]

/** A payment, and how it came back; null if it did not. */
export type Payment = typeof payments.$inferSelect & {
  readonly returned_on: string | null
  readonly reason: string | null
  /** The batch that made it; null if a person booked it. */
  readonly batch: string | null
}

/** Payments `p` with their returns. */
const WITH_RETURN = `(
    select p.*, n.returned_on, n.reason,
      (select t.batch from transfers t where t.account = p.account and t.id = p.reference) as batch
    from payments p
    left join payment_returns n on n.account = p.account and n.payment = p.reference)`

/** Which payments a list has; null does not narrow it. */
export interface PaymentFilter {
  readonly affiliate_id: string | null
  /** The first day of payment. */
  readonly from: string | null
  /** The last day of payment. */
  readonly to: string | null
  readonly reference?: string | null
}

/** The conditions of the filter of payments. */
const OF_PAYMENTS = {
  affiliate_id: 'affiliate_id = :affiliate_id',
  from: 'paid_on >= :from',
  to: 'paid_on <= :to',
  reference: 'reference = :reference',
} satisfies Record<keyof PaymentFilter, string>

/** Reads one page of the payments of an account, the latest day first. */
export function listPayments(
  db: Parameters<typeof paginate>[0],
  account: string,
  filter: PaymentFilter,
  page: Page,
): Promise<FoundPage<Payment>> {
  const given = Object.entries(OF_PAYMENTS).flatMap(([name, condition]) =>
    filter[name as keyof PaymentFilter] ? ` and ${condition}` : [],
  )
  return paginate(
    db,
    {
      columns: ['*'],
      from: `${WITH_RETURN} where account = :account${given.join('')}`,
      key: ['paid_on', 'reference'],
      descending: true,
      values: { account, ...filter },
    },
    page,
  )
}
