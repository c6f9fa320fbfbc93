import type { Connection } from '../database.ts'
import { livesHere } from '../lives-here.ts'
import { all } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** Objects that no month needs any more, by the beginning of their keys. */
export interface RetiredArchive {
  readonly account: string
  readonly prefix: string
}

const DUE = compileStatement(`
  select account, prefix from retired_archives indexed by retired_archives_due
  where delete_at <= :now and ${livesHere('account')} order by delete_at limit :limit`)

/** Returns what is due to be deleted, at most `limit`. */
export const retiredArchives = (
  db: Connection,
  now: number,
  limit: number,
): Promise<RetiredArchive[]> => all(db, DUE, { now, limit })

const DELETE = compileStatement(
  'delete from retired_archives where account = :account and prefix = :prefix',
)

/** Notes that the objects are deleted. */
export const deleteRetired = (
  db: Connection,
  { account, prefix }: RetiredArchive,
): Promise<unknown> => withD1Retry(() => bindStatement(db, DELETE, { account, prefix }).run())
