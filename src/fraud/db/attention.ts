import type { Connection } from '../../platform/db/database.ts'
import { first } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { IS_WAITING } from './cases.ts'

/** The open cases, of the latest days, that are read for what needs attention. */
export const ATTENTION_CASES = 1000

const READ = compileStatement(`
  with o as materialized (
    select c.affiliate_id, c.severity, c.action, ${IS_WAITING} as is_waiting
    from fraud_cases c where c.account = :account and c.status = 'open'
    order by c.opened_for desc, c.id desc limit ${ATTENTION_CASES}
  ),
  k as materialized (
    select c.affiliate_id from fraud_cases c
    where c.account = :account and c.status = 'confirmed' and c.keep_hold = 1 and ${IS_WAITING}
    order by c.opened_for desc, c.id desc limit ${ATTENTION_CASES}
  ),
  u as materialized (
    select affiliate_id from o where not is_waiting and (severity = 'high' or action = 'hold')
  ),
  w as materialized (
    select affiliate_id from o where is_waiting union all select affiliate_id from k
  )
  select (select count(*) from u) as urgent,
    (select json_group_array(affiliate_id) from (
      select distinct affiliate_id from u order by affiliate_id)) as urgent_of,
    (select count(*) from w) as waiting,
    (select json_group_array(affiliate_id) from (
      select distinct affiliate_id from w order by affiliate_id)) as waiting_of,
    ifnull((select too_large from fraud_progress where account = :account), '[]') as too_large`)

interface Row {
  urgent: number
  urgent_of: string
  waiting: number
  waiting_of: string
  too_large: string
}

/** What needs attention of the cases of an account. */
export interface CasesToNote {
  /** The number of open cases that are of high severity or hold payouts and that nobody decided, and their affiliates. */
  readonly urgent: number
  readonly urgentOf: readonly string[]
  /** The number of cases that a second person must decide, and their affiliates. */
  readonly waiting: number
  readonly waitingOf: readonly string[]
  /** The affiliates with too many records to be evaluated. */
  readonly tooLarge: readonly string[]
}

/** Reads what needs attention of the cases of an account. */
export async function readCasesToNote(db: Connection, account: string): Promise<CasesToNote> {
  const row = await first<Row>(db, READ, { account })
  const listOf = (text = '[]'): string[] => JSON.parse(text)
  return {
    urgent: row?.urgent ?? 0,
    urgentOf: listOf(row?.urgent_of),
    waiting: row?.waiting ?? 0,
    waitingOf: listOf(row?.waiting_of),
    tooLarge: listOf(row?.too_large),
  }
}
