import type { Connection } from '../database.ts'
import { livesHere } from '../lives-here.ts'
import { all, only } from '../query.ts'
import { compileStatement } from '../statement.ts'
import type { Month } from './months.ts'

/** A month on which there is work to do. */
export interface DueMonth extends Month {
  /** 1 if its records come back, or have; 0 if they leave. */
  readonly comes_back: number
}

const DUE = compileStatement(`
  select account, resource, first_day, last_day,
    state in ('restoring', 'ended') or (state in ('sealed', 'archived') and wanted_at is not null)
      as comes_back
  from archived_months indexed by archived_months_due
  where (state <> 'archived' or wanted_at is not null) and account > '' and ${livesHere('account')}
  order by fault is not null, wanted_at is null, row_number() over (
      partition by account, fault is not null, wanted_at is null
      order by state <> 'restoring', wanted_at, first_day, resource),
    wanted_at, account
  limit :limit`)

/**
 * Returns months on which there is work to do, at most `limit`: those first whose records are needed, and those
 * with a damaged object last. Accounts take turns, so that one that needs many months holds up no other.
 */
export const dueMonths = (db: Connection, limit: number): Promise<DueMonth[]> =>
  all(db, DUE, { limit })

const HAS_DUE = compileStatement(`
  select exists (select 1 from archived_months indexed by archived_months_due
      where (state <> 'archived' or wanted_at is not null) and account > '' and ${livesHere('account')})
    or exists (select 1 from retired_archives indexed by retired_archives_due
      where delete_at <= :now and ${livesHere('account')}) as due`)

/** Returns whether a database has work on archives to do. */
export const hasDueArchives = async (db: Connection, now: number): Promise<boolean> =>
  (await only<{ due: number }>(db, HAS_DUE, { now })).due === 1
