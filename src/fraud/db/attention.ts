import type { Connection } from '../../platform/db/database.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { IS_WAITING } from './cases.ts'

/** The cases that somebody must decide, by affiliate: those that wait for a second person, and the others. */
const READ_CASES = compileStatement(`
  select affiliate_id, waiting, count(*) as cases from (
    select c.affiliate_id, c.status, c.severity, c.action, ${IS_WAITING} as waiting from (
      select * from fraud_cases where account = :account and status = 'open'
      union all
      select * from fraud_cases where account = :account and status = 'confirmed' and keep_hold = 1
    ) c
  )
  where waiting or status = 'open' and (severity = 'high' or action = 'hold')
  group by affiliate_id, waiting order by affiliate_id`)

const READ_TOO_LARGE = compileStatement(`
  select too_large from fraud_progress where account = :account`)

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
  /** The affiliates with too many records to be evaluated. */
  readonly tooLarge: readonly string[]
}

/** Reads what needs attention of the cases of an account. */
export async function readCasesToNote(db: Connection, account: string): Promise<CasesToNote> {
  type Lists = [cases: (CasesOf & { waiting: number })[], progress: { too_large: string }[]]
  const [cases, [progress]] = await readBatch<Lists>(db, [
    bindStatement(db, READ_CASES, { account }),
    bindStatement(db, READ_TOO_LARGE, { account }),
  ])
  return {
    undecided: cases.filter(({ waiting }) => !waiting),
    waiting: cases.filter(({ waiting }) => waiting),
    tooLarge: JSON.parse(progress?.too_large ?? '[]'),
  }
}
