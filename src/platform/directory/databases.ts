import { all } from '../db/query.ts'
import { withD1Retry } from '../db/retry.ts'
import { bindStatement, compileStatement, required, writeBatch } from '../db/statement.ts'

const PUT_SIZES = compileStatement(`
  insert into database_sizes (binding, bytes) select value ->> 0, value ->> 1 from json_each(:sizes)
  where true on conflict (binding) do update set bytes = excluded.bytes`)

/** Stores the sizes of databases in bytes. */
export const putSizes = (
  db: D1Database,
  sizes: readonly (readonly [binding: string, bytes: number])[],
) => writeBatch(db, [bindStatement(db, PUT_SIZES, { sizes: JSON.stringify(sizes) })])

const READ_SIZES = compileStatement('select binding, bytes from database_sizes')

/** Reads the latest size of each database. */
export async function readSizes(db: D1Database): Promise<ReadonlyMap<string, number>> {
  const rows = await all<{ binding: string; bytes: number }>(db, READ_SIZES)
  return new Map(rows.map(({ binding, bytes }) => [binding, bytes]))
}

const COUNT_ACCOUNTS = compileStatement(
  'select binding, count(*) as accounts from accounts indexed by accounts_binding group by binding',
)

/** Counts the accounts of each database that has any. */
export async function countAccounts(db: D1Database): Promise<ReadonlyMap<string, number>> {
  const rows = await all<{ binding: string; accounts: number }>(db, COUNT_ACCOUNTS)
  return new Map(rows.map(({ binding, accounts }) => [binding, accounts]))
}

/** Returns the size of a database in bytes. */
export async function readSize(db: D1Database): Promise<number> {
  const [asked] = await withD1Retry(() => db.batch([db.prepare('select 1')]))
  return required(asked, 'size').meta.size_after
}
