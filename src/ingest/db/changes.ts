import { only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
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

/** An approval is named by its entry of the audit log, which begins with the time. */
const COUNT = compileStatement(`
  select
    (select count(*) from (select 1 from customers indexed by customers_day
      where account = :account and day >= :day limit ${MOST_CHANGES})) as signups,
    (select ifnull(sum(received), 0) from arrivals
      where account = :account and hour >= :hour and resource not in ('dry-run', 'clicks')) as records,
    (select count(*) from (select 1 from statements indexed by statements_approval
      where account = :account and approval >= :start and statement is not null
      limit ${MOST_CHANGES})) as approved_statements,
    (select count(*) from (select 1 from fraud_cases indexed by fraud_cases_opened
      where account = :account and opened_for >= :day limit ${MOST_CHANGES})) as cases_opened`)

/** Counts what has changed in an account since a day began: its number since 1970, and its instant in milliseconds. */
export const readChanges = (
  db: D1Database,
  account: string,
  { day, at }: { readonly day: number; readonly at: number },
): Promise<Changes> =>
  only(db, COUNT, { account, day, hour: Math.floor(at / HOUR_MS), start: ulidPrefix(at) })
