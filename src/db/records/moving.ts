import { first, only } from '../query.ts'
import type { AccountMove } from '../schema.ts'
import { compileStatement } from '../statement.ts'

const FIND_WORK = compileStatement(`
  select case
    when exists (select 1 from statement_runs where account = :account and status = 'running') then 'run'
    when exists (select 1 from resets where account = :account) then 'reset'
    when exists (select 1 from erasures where account = :account and next_day is not null) then 'erasure'
    when exists (select 1 from archived_months where account = :account and state <> 'archived'
      and fault is null) then 'archive'
  end as work`)

const COUNT_RECORDS = compileStatement(`
  select (select coalesce(sum(total + held), 0) from totals where account = :account)
    - (select coalesce(sum(records), 0) from archived_months
      where account = :account) as records`)

/** Returns about how many records of an account are in its database: of months that leave or come back, none. */
export const countRecords = async (db: D1Database, account: string): Promise<number> =>
  (await only<{ records: number }>(db, COUNT_RECORDS, { account })).records

/**
 * Returns the work of an account that has to end before its writes are refused; null if there is none.
 */
export async function findWork(
  db: D1Database,
  account: string,
): Promise<Exclude<AccountMove['waits_for'], 'writes'>> {
  const found = await first<{ work: Exclude<AccountMove['waits_for'], 'writes'> }>(db, FIND_WORK, {
    account,
  })
  return found?.work ?? null
}
