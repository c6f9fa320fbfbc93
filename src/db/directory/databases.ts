import { all } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** How many days the sizes of databases are kept. */
const KEPT_DAYS = 60

const PUT_SIZES = compileStatement(`
  insert into database_sizes (binding, day, bytes)
  select value ->> 0, :day, value ->> 1 from json_each(:sizes)
  where true on conflict (binding, day) do update set bytes = excluded.bytes`)

const DROP_SIZES = compileStatement('delete from database_sizes where day < :oldest')

/** Stores the sizes of databases on a day (days since 1970), in bytes. */
export const putSizes = (
  db: D1Database,
  day: number,
  sizes: readonly (readonly [binding: string, bytes: number])[],
) => {
  const values = { day, sizes: JSON.stringify(sizes), oldest: day - KEPT_DAYS }
  return withD1Retry(() =>
    db.batch([PUT_SIZES, DROP_SIZES].map((one) => bindStatement(db, one, values))),
  )
}

/** The size of a database on the first and the last day of a span on which it was measured. */
export interface SizeSpan {
  readonly binding: string
  readonly first_day: number
  readonly first_bytes: number
  readonly last_day: number
  readonly last_bytes: number
}

const READ_SIZES = compileStatement(`
  select f.binding, f.first_day, f.first_bytes, l.last_day, l.last_bytes
  from (select binding, min(day) as first_day, bytes as first_bytes from database_sizes
      where day >= :from group by binding) f
  join (select binding, max(day) as last_day, bytes as last_bytes from database_sizes
      where day >= :from group by binding) l on l.binding = f.binding`)

/** Reads the first and the last size of each database since a day (days since 1970). */
export const readSizes = (db: D1Database, from: number): Promise<SizeSpan[]> =>
  all<SizeSpan>(db, READ_SIZES, { from })

const COUNT_ACCOUNTS = compileStatement(
  'select binding, count(*) as accounts from accounts indexed by accounts_binding group by binding',
)

/** Counts the accounts of each database that has any. */
export async function countAccounts(db: D1Database): Promise<ReadonlyMap<string, number>> {
  const rows = await all<{ binding: string; accounts: number }>(db, COUNT_ACCOUNTS)
  return new Map(rows.map(({ binding, accounts }) => [binding, accounts]))
}
