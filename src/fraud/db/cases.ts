import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import type { fraudCases, fraudDecisions } from '../../platform/db/schema.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  type Statement,
} from '../../platform/db/statement.ts'
import { DECISION_LIMITS } from '../limits.ts'
import { CASE_NAME } from './holds.ts'

type Row = typeof fraudCases.$inferSelect

/** The columns of a case that lists show. */
const COLUMNS = [
  'id',
  'affiliate_id',
  'rule',
  'subject',
  'version',
  'kind',
  'severity',
  'action',
  'status',
  'opened_for',
  'opened_at',
  'last_day',
  'since',
  'figures',
  'sentence',
  'evidence_count',
  'keep_hold',
  'decided_at',
] as const satisfies readonly (keyof Row)[]

/** A stored case, with the name of its rule. Days are in days since 1970. */
export interface StoredCase
  extends Omit<Pick<Row, (typeof COLUMNS)[number]>, 'opened_for' | 'last_day'> {
  readonly name: string
  /** 1 if a person has decided it and another one must decide the same. */
  readonly waiting: number
  readonly opened_for: number
  readonly last_day: number
}

/**
 * Whether another person must decide the same: an open case was decided as it is now, or the end of a hold was
 * decided that is still kept.
 */
export const IS_WAITING = `exists (select 1 from fraud_decisions d
  where d.account = c.account and d.case_id = c.id and iif(c.status = 'open',
    d.shown = c.evidence_count,
    c.keep_hold = 1 and d.position > (select max(k.position) from fraud_decisions k
      where k.account = c.account and k.case_id = c.id and k.keep_hold = 1)))`

const SELECTED = [...COLUMNS.map((column) => `c.${column}`), CASE_NAME, `${IS_WAITING} as waiting`]

/** The conditions of filters, as SQL. */
const CONDITIONS = {
  rule: 'c.rule = :rule',
  severity: 'c.severity = :severity',
  affiliate_id: 'c.affiliate_id = :affiliate_id',
  customer_id: '(c.customer_id = :customer_id or c.other_customer_id = :customer_id)',
} as const

/** What cases can need, as `needs` names it. */
export const CASE_NEEDS = ['decision', 'second_person'] as const

type CaseNeed = (typeof CASE_NEEDS)[number]

/** The conditions of what cases need, as SQL: what needs attention counts the same cases. */
const NEEDS: Readonly<Record<CaseNeed, string>> = {
  decision: `c.status = 'open' and (c.severity = 'high' or c.action = 'hold') and not ${IS_WAITING}`,
  second_person: `(c.status = 'open' or c.status = 'confirmed' and c.keep_hold = 1) and ${IS_WAITING}`,
}

/** Which cases a list has. */
export type CaseFilter = {
  readonly needs?: CaseNeed
  readonly status?: Row['status']
} & {
  readonly [name in 'rule' | 'severity' | 'affiliate_id' | 'customer_id']?: string
}

/** Reads one page of the cases of an account the latest first. */
export function listCases(
  db: D1Database | D1DatabaseSession,
  account: string,
  { status, needs, ...filter }: CaseFilter,
  page: Page,
): Promise<FoundPage<StoredCase>> {
  const values = { account, status, ...filter }
  const conditions = (Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[])
    .filter((name) => values[name] !== undefined)
    .map((name) => ` and ${CONDITIONS[name]}`)
  // The partial index of open cases needs the status as a literal.
  const ofStatus = status === undefined ? '' : ` and c.status = '${status}'`
  const ofNeed = needs === undefined ? '' : ` and ${NEEDS[needs]}`
  return paginate(
    db,
    {
      columns: SELECTED,
      from: `fraud_cases c where c.account = :account${ofStatus}${ofNeed}${conditions.join('')}`,
      key: ['opened_for', 'id'],
      descending: true,
      values,
    },
    page,
  )
}

/** A decision as it is shown. */
export type StoredDecision = Omit<
  typeof fraudDecisions.$inferSelect,
  'account' | 'case_id' | 'position' | 'from_day'
> & { readonly from_day: number | null }

const FIND_CASE = compileStatement(`
  select ${SELECTED.join()} from fraud_cases c where c.account = :account and c.id = :id`)

const READ_DECISIONS = compileStatement(`
  select decision, reason, keep_hold, refuse, from_day, shown, actor, at from fraud_decisions
  where account = :account and case_id = :id order by position`)

const READ_CUSTOMERS = compileStatement(`
  select distinct customer_id from fraud_evidence
  where account = :account and case_id = :id and customer_id is not null
  order by customer_id limit ${DECISION_LIMITS.refused}`)

/** A case with what persons have decided. */
export interface WholeCase {
  readonly found: StoredCase
  readonly decisions: readonly StoredDecision[]
  /** The first customers who have records in it, in order of id: a decision can refuse them. */
  readonly customers: readonly string[]
}

/** Returns a case of an account; null if there is none. */
export async function findCase(
  db: Connection,
  account: string,
  id: string,
): Promise<WholeCase | null> {
  const bind = (statement: Statement) => bindStatement(db, statement, { account, id })
  const [[found], decisions, customers] = await readBatch<
    [StoredCase[], StoredDecision[], { customer_id: string }[]]
  >(db, [bind(FIND_CASE), bind(READ_DECISIONS), bind(READ_CUSTOMERS)])
  return found ? { found, decisions, customers: customers.map((one) => one.customer_id) } : null
}
