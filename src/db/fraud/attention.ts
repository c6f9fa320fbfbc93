import { EXPIRE_DAYS } from '../../durations.ts'
import type { Connection } from '../database.ts'
import { first } from '../query.ts'
import { compileStatement } from '../statement.ts'
import { endingDay, IS_WAITING } from './cases.ts'

/** The open cases, of the latest days, that are read for what needs attention. */
export const ATTENTION_CASES = 1000

const READ = compileStatement(`
  with o as materialized (
    select c.affiliate_id, c.severity, c.action, c.last_day, ${IS_WAITING} as is_waiting
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
  ),
  e as materialized (select * from o where action = 'hold' and last_day <= :ending),
  n as materialized (
    select affiliate_id from fraud_ended_holds where account = :account
    order by ended_at desc, case_id desc limit ${ATTENTION_CASES}
  )
  select (select count(*) from u) as urgent,
    (select json_group_array(affiliate_id) from (
      select distinct affiliate_id from u order by affiliate_id)) as urgent_of,
    (select count(*) from w) as waiting,
    (select json_group_array(affiliate_id) from (
      select distinct affiliate_id from w order by affiliate_id)) as waiting_of,
    (select count(*) from e) as ending,
    (select json_group_array(affiliate_id) from (
      select distinct affiliate_id from e order by affiliate_id)) as ending_of,
    (select min(last_day) from e) as first_day,
    (select count(*) from n) as ended,
    (select json_group_array(affiliate_id) from (
      select distinct affiliate_id from n order by affiliate_id)) as ended_of,
    ifnull((select too_large from fraud_progress where account = :account), '{}') as too_large`)

interface Row {
  urgent: number
  urgent_of: string
  waiting: number
  waiting_of: string
  ending: number
  ending_of: string
  first_day: number | null
  ended: number
  ended_of: string
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
  /** The number of cases whose hold ends within seven days, their affiliates, and the first day of an end. */
  readonly ending: number
  readonly endingOf: readonly string[]
  readonly firstEnd: number | null
  /** The number of holds that ended without a decision, and their affiliates. */
  readonly ended: number
  readonly endedOf: readonly string[]
  /** The affiliates with too many records to be evaluated. */
  readonly tooLarge: readonly string[]
}

/** Reads what needs attention of the cases of an account at a time, in milliseconds. */
export async function readCasesToNote(
  db: Connection,
  account: string,
  now: number,
): Promise<CasesToNote> {
  const row = await first<Row>(db, READ, { account, ending: endingDay(now) })
  const listOf = (text = '[]'): string[] => JSON.parse(text)
  return {
    urgent: row?.urgent ?? 0,
    urgentOf: listOf(row?.urgent_of),
    waiting: row?.waiting ?? 0,
    waitingOf: listOf(row?.waiting_of),
    ending: row?.ending ?? 0,
    endingOf: listOf(row?.ending_of),
    firstEnd: typeof row?.first_day === 'number' ? row.first_day + EXPIRE_DAYS : null,
    ended: row?.ended ?? 0,
    endedOf: listOf(row?.ended_of),
    tooLarge: Object.keys(JSON.parse(row?.too_large ?? '{}')).sort(),
  }
}
