import {
  bindStatement,
  compileStatement,
  readBatch,
  required,
  type Statement,
} from '../../platform/db/statement.ts'
import { ulidPrefix } from '../../platform/db/ulid.ts'
import { HOUR_MS } from '../../platform/durations.ts'

/** The most rows of a kind that are counted. */
export const MOST_CHANGES = 10_000

/** What has changed since a start of a day. */
export interface Changes {
  readonly signups: number
  readonly records: number
  readonly approved_statements: number
  readonly cases_opened: number
}

const COUNT_SIGNUPS = compileStatement(`
  select count(*) as signups from (select 1 from customers indexed by customers_day
    where account = :account and day >= :day limit ${MOST_CHANGES})`)

const COUNT_RECORDS = compileStatement(`
  select ifnull(sum(received), 0) as records
  from arrivals where account = :account and hour >= :hour and resource not in ('dry-run', 'clicks')`)

/** An approval is named by its entry of the audit log, which begins with the time. */
const COUNT_APPROVED = compileStatement(`
  select count(*) as approved_statements from (select 1 from statements indexed by statements_approval
    where account = :account and approval >= :start and statement is not null limit ${MOST_CHANGES})`)

const COUNT_CASES = compileStatement(`
  select count(*) as cases_opened from (select opened_at from fraud_cases where account = :account
    order by opened_for desc, id desc limit ${MOST_CHANGES}) where opened_at >= :at`)

/** Counts what has changed in an account since a day began: its number since 1970, and its instant in milliseconds. */
export async function readChanges(
  db: D1Database,
  account: string,
  { day, at }: { readonly day: number; readonly at: number },
): Promise<Changes> {
  const values = { account, day, at, hour: Math.floor(at / HOUR_MS), start: ulidPrefix(at) }
  const bind = (statement: Statement) => bindStatement(db, statement, values)
  const [signups, records, approved, cases] = await readBatch<
    [
      Pick<Changes, 'signups'>[],
      Pick<Changes, 'records'>[],
      Pick<Changes, 'approved_statements'>[],
      Pick<Changes, 'cases_opened'>[],
    ]
  >(db, [bind(COUNT_SIGNUPS), bind(COUNT_RECORDS), bind(COUNT_APPROVED), bind(COUNT_CASES)])
  return {
    ...required(signups[0], 'count'),
    ...required(records[0], 'count'),
    ...required(approved[0], 'count'),
    ...required(cases[0], 'count'),
  }
}
