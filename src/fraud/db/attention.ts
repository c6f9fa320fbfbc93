import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { IS_WAITING } from './cases.ts'

/** The cases that somebody must decide, by affiliate: those that wait for a second person, and the others. */
const READ_CASES = compileStatement(`
  select affiliate_id, waiting, count(*) as cases from (
    select c.affiliate_id, c.status, c.severity, c.action, ${IS_WAITING} as waiting from (
      select * from fraud_cases indexed by fraud_cases_open
      where account = :account and status = 'open'
      union all
      select * from fraud_cases indexed by fraud_cases_holding
      where account = :account and status = 'confirmed' and keep_hold = 1
    ) c
  )
  where waiting or status = 'open' and (severity = 'high' or action = 'hold')
  group by affiliate_id, waiting order by affiliate_id`)

/** How many cases of an affiliate need something. */
export interface CasesOf {
  readonly affiliate_id: string
  readonly cases: number
}

/** What needs attention of the cases of an account. */
export interface CasesToNote {
  /** Open cases that are of high severity or hold payouts and that nobody decided. */
  readonly undecided: readonly CasesOf[]
  /** Cases that a second person must decide. */
  readonly waiting: readonly CasesOf[]
}

/** Reads what needs attention of the cases of an account. */
export async function readCasesToNote(db: Connection, account: string): Promise<CasesToNote> {
  const cases = await all<CasesOf & { waiting: number }>(db, READ_CASES, { account })
  return {
    undecided: cases.filter(({ waiting }) => !waiting),
    waiting: cases.filter(({ waiting }) => waiting),
  }
}
