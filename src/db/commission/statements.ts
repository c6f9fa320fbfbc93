import type { Connection } from '../database.ts'
import { type FoundPage, type Page, paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { PAYMENT_RETURN } from './books/booked.ts'

/** By what a list of statements is narrowed. */
export interface StatementFilter {
  readonly affiliate_id?: string
  readonly period?: string
  readonly plan?: string
  readonly status?: string
}

/** A statement as lists read it. */
export interface ListedStatement {
  readonly period: string
  readonly affiliate_id: string
  readonly plan: string
  readonly status: string
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

/** Statements with the day of their payment, and how the last one came back. */
const WITH_PAYMENT = `(
    select s.*, (
      select p.paid_on from payments p where p.account = s.account and p.reference = s.payment
    ) as paid_on, ${PAYMENT_RETURN} as payment_return from statements s)`

/** Returns the query of a list of statements, by period, affiliate and plan. */
export const statementsQuery = (account: string, filter: StatementFilter) => ({
  columns: LIST_COLUMNS,
  from: `${WITH_PAYMENT} where account = :account and statement is not null${Object.keys(filter)
    .map((name) => ` and ${name} = :${name}`)
    .join('')}`,
  key: ['period', 'affiliate_id', 'plan'],
  values: { account, ...filter },
  limitsBytes: true,
})

/** Reads one page of an account's statements. */
export const listStatements = (
  db: D1DatabaseSession,
  account: string,
  filter: StatementFilter,
  page: Page,
): Promise<FoundPage<ListedStatement>> => paginate(db, statementsQuery(account, filter), page)

/** A statement with one part of its lines. */
export interface FoundStatement extends ListedStatement {
  readonly lines: string
  readonly parts: number
}

/** Reads a statement with one part of its lines. */
export const FIND_STATEMENT = compileStatement(`
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
): Promise<FoundStatement | null> =>
  withD1Retry(() =>
    bindStatement(db, FIND_STATEMENT, { account, id, part }).first<FoundStatement>(),
  )
