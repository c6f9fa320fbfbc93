import { PAYMENT_RETURN } from '../../ledger/db/booked.ts'
import { IS_DUE, IS_FREE, sumOf } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import {
  type FoundPage,
  LIST_LIMITS,
  LIST_ORDERS,
  type Page,
  paginate,
} from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { isDraft } from './is-draft.ts'

/** A part of the lines and adjustments of a statement. */
export interface StatementPart {
  readonly id: string
  readonly hash: string
  /** The number of parts. */
  readonly parts: number
  /** A JSON array. */
  readonly lines: string | null
}

/** Reads the same part of several statements. */
const READ_PARTS = compileStatement(`
  select s.id, s.hash, s.parts, iif(:part = 1, s.lines, l.lines) as lines
  from json_each(:ids) i
  cross join statements s on s.account = :account and s.id = i.value
  left join statement_lines l on l.account = :account and l.id = s.id and l.part = :part
  where s.statement is not null`)

/** Returns one part of each of these statements, in any order. */
export const readParts = (
  db: Connection,
  account: string,
  ids: readonly string[],
  part: number,
): Promise<StatementPart[]> => all(db, READ_PARTS, { account, ids: JSON.stringify(ids), part })

/** By what statements are chosen. */
export interface StatementFilter {
  readonly affiliate_id?: string
  readonly period?: string
  readonly plan?: string
  readonly status?: string
  /** Whether drafts are left out. */
  readonly isApproved?: true
}

/** A statement as lists read it, with its approval and payment. */
export interface ListedStatement {
  readonly period: string
  readonly affiliate_id: string
  readonly plan: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly hash: string
  readonly statement: string
  readonly computed_at: string
  /** In milliseconds; null for drafts. */
  readonly approved_at: number | null
  /** The reference of its payment, and its day; null until it is paid. */
  readonly payment: string | null
  readonly paid_on: string | null
  /** How its last payment that came back did so, as JSON; null if none did. */
  readonly payment_return: string | null
  /** What the same affiliate earned by the same plan in the period before; null unless a list is ordered by changes. */
  readonly earned_before?: string | null
}

const LIST_COLUMNS = [
  'period',
  'affiliate_id',
  'plan',
  'status',
  'hash',
  'statement',
  'computed_at',
  'approved_at',
  'payment',
  'paid_on',
  'payment_return',
]

/** Statements with the day of their payment, and how the last one came back; those of an affiliate by an index. */
const withPayment = (isOfOne: boolean, more = '') => `(
    select s.*, (
      select p.paid_on from payments p where p.account = s.account and p.reference = s.payment
    ) as paid_on, ${PAYMENT_RETURN} as payment_return${more}
    from statements s ${isOfOne ? 'indexed by statements_affiliate' : ''})`

/** What the same affiliate earned by the same plan in the period before. */
const EARNED_BEFORE = `, ifnull((
      select b.statement ->> 'earned' from statements b
      where b.account = s.account and b.period = :before and b.affiliate_id = s.affiliate_id and b.plan = s.plan
    ), '0') as earned_before`

/** The values of `order`: by period and affiliate, or the largest change first. */
export const STATEMENT_ORDERS = [...LIST_ORDERS, 'change'] as const

const CHANGE = `abs(cast(statement ->> 'earned' as real) - cast(earned_before as real))`

/** The order of a list, and the period before for the changes against it. */
interface StatementOrder {
  readonly by: (typeof STATEMENT_ORDERS)[number]
  readonly before?: string
}

/** Reads one page of an account's statements, by period, affiliate and plan unless told otherwise. */
export function listStatements(
  db: D1DatabaseSession,
  account: string,
  { isApproved, ...filter }: StatementFilter,
  page: Page,
  { by, before }: StatementOrder = { by: 'oldest' },
): Promise<FoundPage<ListedStatement>> {
  const rows = withPayment(filter.affiliate_id !== undefined, before && EARNED_BEFORE)
  const conditions = Object.keys(filter).map((name) => ` and ${name} = :${name}`)
  return paginate(
    db,
    {
      columns: [...LIST_COLUMNS, ...(before ? ['earned_before', 'change'] : [])],
      from: `${before ? `(select *, ${CHANGE} as change from ${rows})` : rows} where account = :account
        and statement is not null${conditions.join('')}${isApproved ? " and status <> 'draft'" : ''}`,
      key: [...(before ? ['change'] : []), 'period', 'affiliate_id', 'plan'],
      values: { account, ...filter, ...(before && { before }) },
      limitsBytes: true,
      descending: by !== 'oldest',
    },
    page,
  )
}

/** Whether a period has ended on the day `:today`. */
const HAS_ENDED = `period < strftime(iif(period glob '*W*', '%G-W%V', '%Y-%m'), :today)`

/** A statement whose money waits: for its approval, or below the minimum. */
export interface PendingStatement {
  readonly statement: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly payable_on: string
  readonly amount: string
}

const pendingColumns = (amount: string) => `id as statement, plan, period,
    statement ->> 'currency' as currency, statement ->> 'payable_on' as payable_on, ${amount} as amount`

/** Reads the drafts of an affiliate that pay something, of months and weeks that have ended. */
const READ_UNAPPROVED = compileStatement(`
  select ${pendingColumns('payable')}
  from statements indexed by statements_affiliate
  where account = :account and affiliate_id = :affiliate_id and :is_approved = 0
    and status = 'draft' and payable glob '*[1-9]*' and ${HAS_ENDED}
  order by payable_on, plan, period`)

/** Reads what the last statement of each plan and currency carries on, without debts. */
const READ_CARRIED_ON = compileStatement(`
  with last as (
    select period, plan, row_number() over (
      partition by plan, statement ->> 'currency' order by period desc) as place
    from statements indexed by statements_affiliate
    where account = :account and affiliate_id = :affiliate_id and statement is not null
      and (:is_approved = 0 or status <> 'draft')
  )
  select ${pendingColumns('closing')}
  from last join statements s using (period, plan)
  where place = 1 and s.account = :account and s.affiliate_id = :affiliate_id
    and closing glob '*[1-9]*' and closing not glob '-*'
  order by plan, currency`)

/**
 * Reads what of an affiliate waits for approval, of periods that have ended on a day (`YYYY-MM-DD`), and what their last
 * statements carry on, because it is below the minimum.
 */
export async function readPendingStatements(
  session: D1DatabaseSession,
  account: string,
  { affiliate_id, isApproved }: Pick<StatementFilter, 'isApproved'> & { affiliate_id: string },
  today: string,
) {
  const values = { account, affiliate_id, today, is_approved: isApproved ? 1 : 0 }
  const [unapproved, below_minimum] = await readBatch<[PendingStatement[], PendingStatement[]]>(
    session,
    [
      bindStatement(session, READ_UNAPPROVED, values),
      bindStatement(session, READ_CARRIED_ON, values),
    ],
  )
  return { unapproved, below_minimum }
}

const FIND_CURRENCY = compileStatement(`
  select statement ->> 'currency' as currency from statements indexed by statements_affiliate
  where account = :account and affiliate_id = :affiliate_id and statement is not null
  order by period desc, plan desc limit 1`)

/** Returns the currency of the latest statement of an affiliate; null if they have none. */
export const findPayoutCurrency = async (
  session: D1DatabaseSession,
  account: string,
  affiliate_id: string,
): Promise<string | null> =>
  (await first<{ currency: string }>(session, FIND_CURRENCY, { account, affiliate_id }))
    ?.currency ?? null

/** A statement with one part of its lines. */
export interface FoundStatement extends ListedStatement {
  readonly lines: string
  readonly parts: number
}

/** Reads a statement with one part of its lines. */
const FIND_STATEMENT = compileStatement(`
  select s.period, s.affiliate_id, s.plan, s.status, s.hash, s.statement, s.computed_at,
    s.approved_at, s.payment, p.paid_on, ${PAYMENT_RETURN} as payment_return, s.parts,
    iif(:part = 1, s.lines, l.lines) as lines
  from statements s
  left join payments p on p.account = :account and p.reference = s.payment
  left join statement_lines l on l.account = :account and l.id = s.id and l.part = :part
  where s.account = :account and s.id = :id and s.statement is not null`)

/** Returns a statement of an account with one part of its lines; null if there is none. */
export const findStatement = (
  db: Connection,
  account: string,
  id: string,
  part: number,
): Promise<FoundStatement | null> => first(db, FIND_STATEMENT, { account, id, part })

/** The statements with the same status and currency, added up. Sums are as `sumOf` returns them. */
export interface SummedStatements {
  readonly status: 'draft' | 'approved' | 'paid'
  readonly currency: string
  readonly statements: number
  /** The statements with records that wait for a rate or a currency. */
  readonly with_holds: number
  /** The statements that pay something. */
  readonly paying: number
  readonly earned: string
  readonly payable: string
}

/** Counts the statements whose payable amount is not 0. */
const COUNT_PAYING = `sum(payable glob '*[1-9]*')`

/** Adds up the statements that a filter matches: at most 100,000, the first by period. */
const SUM_STATEMENTS = compileStatement(`
  with chosen as (
    select status, statement ->> 'currency' as currency, statement ->> 'earned' as earned,
      statement ->> 'payable' as payable,
      json_array_length(statement, '$.holds') > 0 as has_holds
    from statements
    where account = :account and statement is not null
      and period between ifnull(:period, '') and ifnull(:period, '~')
      and (:affiliate_id is null or affiliate_id = :affiliate_id)
      and (:plan is null or plan = :plan) and (:status is null or status = :status)
    order by period, affiliate_id, plan limit :limit
  )
  select status, currency, count(*) as statements, sum(has_holds) as with_holds,
    ${COUNT_PAYING} as paying, ${sumOf('earned')} as earned, ${sumOf('payable')} as payable
  from chosen group by status, currency
  order by case status when 'draft' then 1 when 'approved' then 2 else 3 end, currency`)

/** Adds up the statements that a filter matches, by status and currency. */
export async function sumStatements(
  db: Connection,
  account: string,
  filter: StatementFilter,
): Promise<SummedStatements[]> {
  const nothing = { affiliate_id: null, period: null, plan: null, status: null }
  const values = { account, ...nothing, ...filter, limit: LIST_LIMITS.total }
  return all<SummedStatements>(db, SUM_STATEMENTS, values)
}

// Statements by period. Periods are months such as `2026-10` and weeks such as `2026-W41`.

/** The statements of the latest periods that are added up, and the drafts that are counted. */
export const SUMMED_STATEMENTS = 10_000

/**
 * The statements of a period with the same status and currency, added up. Sums are as `sumOf`
 * returns them.
 */
export interface PeriodSums {
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly currency: string
  readonly statements: number
  /** The statements that pay something. */
  readonly paying: number
  readonly earned: string
  /** With manual entries. */
  readonly total: string
  /** When the latest of them was computed. */
  readonly computed_at: string
}

/**
 * Adds up the latest statements by period: in the order of their texts, weeks of a year before its
 * months.
 */
const SUM_PERIODS = compileStatement(`
  select period, status, currency, count(*) as statements, ${COUNT_PAYING} as paying,
    ${sumOf('earned')} as earned, ${sumOf('total')} as total, max(computed_at) as computed_at
  from (
    select period, status, statement ->> 'currency' as currency, statement ->> 'earned' as earned,
      statement ->> 'total' as total, payable, computed_at
    from statements where account = :account and statement is not null
    order by period desc limit :limit)
  group by period, currency, status order by period desc, currency, status = 'paid', status desc`)

/** What is payable in a currency: the sum is as `sumOf` returns it. */
export interface DueSum {
  readonly currency: string
  readonly affiliates: number
  readonly statements: number
  readonly amount: string
}

/** Adds up what is payable by a day: approved statements that are not paid, nor under way to the bank. */
const SUM_DUE = compileStatement(`
  select currency, count(distinct affiliate_id) as affiliates, count(*) as statements,
    ${sumOf('payable')} as amount
  from (
    select affiliate_id, statement ->> 'currency' as currency, payable
    from statements s indexed by statements_due
    where account = :account and ${IS_DUE} and ${IS_FREE}
      and statement ->> 'payable_on' <= :today
    limit :limit)
  group by currency order by currency`)

/** Adds up the latest statements of an account by period, status and currency, and what is payable on a day. */
export async function sumPeriods(session: D1DatabaseSession, account: string, today: string) {
  const values = { account, today, limit: SUMMED_STATEMENTS }
  type Lists = [sums: PeriodSums[], due: DueSum[]]
  const [sums, due] = await readBatch<Lists>(session, [
    bindStatement(session, SUM_PERIODS, values),
    bindStatement(session, SUM_DUE, values),
  ])
  return { sums, due }
}

/** The drafts of an ended period in which some draft pays something. */
interface UnapprovedPeriod {
  readonly period: string
  readonly drafts: number
}

/**
 * Counts the drafts of periods that have ended, by the month and the ISO week of a day. A period whose drafts pay nothing is left out: it is approved with the next one that pays something.
 */
const COUNT_UNAPPROVED = compileStatement(`
  select period, sum(drafts) as drafts
  from (
    select period, count(*) as drafts, ${COUNT_PAYING} as paying
    from (
      select plan, period, statement, payable from statements indexed by statements_status
      where account = :account and ${isDraft('status')} order by plan, period limit :limit)
    where statement is not null and ${HAS_ENDED} group by plan, period)
  group by period having sum(paying) > 0 order by period`)

/** The amounts of a currency in drafts that wait for an exchange rate. */
interface WaitingForRates {
  readonly currency: string
  readonly count: number
}

/** Counts the amounts in drafts without an exchange rate, also those whose rate may still be published. */
const COUNT_WAITING_FOR_RATES = compileStatement(`
  select h.value ->> 'currency' as currency, sum(h.value ->> 'count') as count
  from (
    select statement from statements indexed by statements_status
    where account = :account and ${isDraft('status')} limit :limit) s
  cross join json_each(s.statement, '$.holds') h
  where h.value ->> 'reason' in ('fx_missing', 'fx_pending')
  group by 1 order by 2 desc, 1`)

/**
 * Counts the drafts of periods that have ended on a day, and the amounts in drafts that have no
 * exchange rate, by currency, the most frequent first.
 */
export async function countDrafts(session: D1DatabaseSession, account: string, today: string) {
  const values = { account, today, limit: SUMMED_STATEMENTS }
  const [unapproved, waiting] = await readBatch<[UnapprovedPeriod[], WaitingForRates[]]>(session, [
    bindStatement(session, COUNT_UNAPPROVED, values),
    bindStatement(session, COUNT_WAITING_FOR_RATES, values),
  ])
  return { unapproved, waiting }
}
