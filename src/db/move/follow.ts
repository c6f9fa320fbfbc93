import { ABORT } from '../commission/books/audit-guard.ts'
import { all, only } from '../query.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { isAssertionFailure, MOVING, withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { readChanged, type StoredRow } from './pages.ts'
import { describePair, type Pair } from './pair.ts'
import { COPY_LIMITS, CopyRefused } from './place.ts'
import { describeTables, MOVE_TRIGGER, type MovedTable, quoted } from './tables.ts'
import { takeOver, writeCopy } from './write.ts'

/** Returns the triggers that note, or refuse, what changes in a table. */
function noteTriggers({
  name,
  key,
}: MovedTable): readonly (readonly [name: string, sql: string])[] {
  const noteKey = (row: 'new' | 'old') =>
    `json_array(${key.map((column) => `${row}.${quoted(column)}`).join()})`
  const notes = {
    insert: `select ${noteKey('new')} as key`,
    update: `select ${noteKey('old')} as key union select ${noteKey('new')}`,
    delete: `select ${noteKey('old')} as key`,
  }
  return Object.entries(notes).map(([event, keys]) => {
    const trigger = `${MOVE_TRIGGER}${name}_${event}`
    const account = event === 'insert' ? 'new.account' : 'old.account'
    const sql = `
      create trigger if not exists ${quoted(trigger)} after ${event} on ${quoted(name)}
      when ${account} in (select account from move_sources) begin
        select raise(abort, '${MOVING}') from move_sources where account = ${account} and closed_at is not null;
        insert into move_changes (account, source_table, key, note)
        select ${account}, '${name}', key, hex(randomblob(8)) from (${keys});
      end`
    return [trigger, sql]
  })
}

const OPEN_SOURCE = compileStatement(
  'insert into move_sources (account) values (:account) on conflict do nothing',
)

/** The account's old copy in the target is gone: the copy may be written. */
const FORGET_SOURCE = compileStatement('delete from move_sources where account = :account')

const OPEN_COPY = compileStatement(
  `insert into move_copies (account, writer) values (:account, '') on conflict do nothing`,
)

/**
 * The pause of an account that lives in another database since its move: no pause is later, and none of a move ends
 * it. Only the deletion of the old copy does.
 */
const MOVED_AWAY = Number.MAX_SAFE_INTEGER

const REQUIRE_NOT_MOVED = compileStatement(`
  select iif(exists (select 1 from move_sources where account = :account and closed_at = ${MOVED_AWAY}), ${ABORT}, 1)`)

/** Fails unless the target has no rows of the account, or those of this copy. */
const requireEmpty = (tables: readonly MovedTable[]) => {
  const found = tables
    // The directory has entries of every account.
    .filter(({ name }) => name !== 'audit_log')
    .map(({ name }) => `exists (select 1 from ${quoted(name)} where account = :account)`)
  return compileStatement(`
    select iif(exists (select 1 from move_copies where account = :account) or not (${found.join(' or ')}), 1, ${ABORT})`)
}

/**
 * Begins to note every change of an account's rows in its database, and opens the target for the copy. Does
 * nothing if that was done before.
 *
 * @throws CopyRefused if the target has rows of the account, if the tables of both databases differ, or if the
 *   account has moved away from the source.
 */
export async function startFollowing(
  source: D1Database,
  target: D1Database,
  account: string,
): Promise<void> {
  const { tables } = await describePair(source, target, account)
  await withD1Retry(() => bindStatement(source, REQUIRE_NOT_MOVED, { account }).run()).catch(
    (error) => {
      throw isAssertionFailure(error) ? new CopyRefused('moved_away') : error
    },
  )
  const opened = [requireEmpty(tables), FORGET_SOURCE, OPEN_COPY]
  await withD1Retry(() =>
    target.batch(opened.map((one) => bindStatement(target, one, { account }))),
  ).catch((error) => {
    throw isAssertionFailure(error) ? new CopyRefused('target_has_rows') : error
  })
  const triggers = tables.flatMap(noteTriggers)
  await withD1Retry(() =>
    source.batch([
      bindStatement(source, OPEN_SOURCE, { account }),
      ...triggers.map(([, sql]) => source.prepare(sql)),
    ]),
  )
}

/** The changed rows of the first table behind `:after` that has any. */
const READ_NOTES = compileStatement(`
  select source_table as "table", key, json_group_array(note) as notes from move_changes
  where account = :account and source_table = (
    select min(source_table) from move_changes where account = :account and source_table > :after)
  group by key order by key limit :most`)

const DROP_NOTES = compileStatement(`
  delete from move_changes where account = :account and source_table = :table and (key, note) in (
    select value ->> 0, value ->> 1 from ${JSON_EACH}(:notes))`)

const COUNT_NOTES = compileStatement(
  'select count(*) as notes from (select 1 from move_changes where account = :account limit 100000)',
)

/** The most queries by which one batch of changes is copied. */
const FOLLOWED = 40

interface Notes {
  readonly table: string
  readonly key: string
  /** A JSON array. */
  readonly notes: string
}

/** Returns how many changes of an account are noted; at most 100,000 are counted. */
export const countNotes = async (source: D1Database, account: string): Promise<number> =>
  (await only<{ notes: number }>(source, COUNT_NOTES, { account })).notes

/**
 * Copies the rows that have changed since they were noted, with at most `COPY_LIMITS.queries` queries. Returns
 * how many notes are left.
 *
 * @throws CopyEnded if another step has begun to write the copy meanwhile, or the copy has ended.
 */
export async function followStep(
  source: D1Database,
  target: D1Database,
  account: string,
): Promise<number> {
  const pair = await describePair(source, target, account)
  const writer = await takeOver(target, account)
  let after = ''
  // Each step copies something.
  do {
    const noted = await all<Notes>(source, READ_NOTES, {
      ...{ account, after },
      most: COPY_LIMITS.changes,
    })
    const [first] = noted
    if (!first) break
    const table = pair.tables.find(({ name }) => name === first.table)
    // The audit log of the directory stays there.
    const copied = table ? await copyChanged(pair, table, writer, noted) : noted.length
    const notes = noted
      .slice(0, copied)
      .flatMap(({ key, notes: ids }) => (JSON.parse(ids) as string[]).map((id) => [key, id]))
    const values = { account, table: first.table, notes: JSON.stringify(notes) }
    await withD1Retry(() => bindStatement(source, DROP_NOTES, values).run())
    pair.left.queries -= 4
    // The tables take turns, so that one that changes often does not keep the others waiting.
    if (copied === noted.length && noted.length < COPY_LIMITS.changes) after = first.table
  } while (pair.left.queries > FOLLOWED)
  return countNotes(source, account)
}

/** Copies the rows with these keys, and reads them again. Returns how many of the keys, from the first. */
async function copyChanged(
  { source, target, account, left }: Pair,
  table: MovedTable,
  writer: string,
  noted: readonly Notes[],
): Promise<number> {
  const found = await readChanged(
    source,
    table,
    account,
    noted.map(({ key }) => key),
  )
  const keys = noted.slice(0, found.length).map(({ key }) => key)
  const gone = keys.filter((_, i) => found[i] === null)
  const put = found.filter((row): row is StoredRow => row !== null)
  left.queries -= await writeCopy(target, table, { account, writer }, { gone, put })
  const copied = await readChanged(target, table, account, keys)
  if (JSON.stringify(copied) !== JSON.stringify(found)) {
    throw new Error(`Rows of ${table.name} differ after they were copied.`)
  }
  return keys.length
}

const CLOSE_WRITES = compileStatement(
  'update move_sources set closed_at = max(ifnull(closed_at, 0), :closed_at) where account = :account',
)

/**
 * Refuses each write of the account in its database from now on, with `account_is_moving`.
 *
 * @param closed_at When this pause began, in milliseconds: no later one has the same.
 */
export async function closeWrites(
  source: D1Database,
  account: string,
  closed_at: number,
): Promise<void> {
  const { meta } = await withD1Retry(() =>
    bindStatement(source, CLOSE_WRITES, { account, closed_at }).run(),
  )
  if (meta.changes === 0) throw new CopyRefused('not_following')
}

/**
 * Refuses each write of the account in its old database for good, whatever a directory that was restored to an
 * earlier time says.
 */
export const keepClosed = (source: D1Database, account: string): Promise<void> =>
  closeWrites(source, account, MOVED_AWAY)

const OPEN_WRITES = compileStatement(`
  update move_sources set closed_at = null
  where account = :account and closed_at < ${MOVED_AWAY} and (:closed_at is null or closed_at = :closed_at)`)

const LIVES_HERE = compileStatement(`
  select not exists (
    select 1 from move_sources where account = :account and closed_at = ${MOVED_AWAY}) as lives`)

/**
 * Accepts writes of the account again, unless it has moved away. Returns whether it has not.
 *
 * @param closed_at The pause that ends. Nothing changes if a later one has begun: only that one knows when its
 * copy is complete. Null for a move that has ended, which ends any pause.
 */
export async function openWrites(
  source: D1Database,
  account: string,
  closed_at: number | null,
): Promise<boolean> {
  await withD1Retry(() => bindStatement(source, OPEN_WRITES, { account, closed_at }).run())
  return (await only<{ lives: 0 | 1 }>(source, LIVES_HERE, { account })).lives === 1
}

const END_COPY = compileStatement('delete from move_copies where account = :account')

/**
 * Ends the copy once the account lives in the target: no step can write or drop its rows there any more. Not
 * for a cancelled copy: `dropStep` deletes that one.
 */
export async function endCopying(target: D1Database, account: string): Promise<void> {
  await withD1Retry(() => bindStatement(target, END_COPY, { account }).run())
}

const DROP_ALL_NOTES = compileStatement(`
  delete from move_changes where (account, source_table, key, note) in (
    select account, source_table, key, note from move_changes where account = :account limit 5000)`)

const REQUIRE_NO_SOURCE = compileStatement(
  `select iif(exists (select 1 from move_sources), ${ABORT}, 1)`,
)

/**
 * Ends notes and refusals of the account's writes: after a cancelled move, or some time after the old copy
 * was dropped, once nothing can hold the old binding any more.
 */
export async function endFollowing(source: D1Database, account: string): Promise<void> {
  await withD1Retry(() => bindStatement(source, FORGET_SOURCE, { account }).run())
  const dropNotes = () => bindStatement(source, DROP_ALL_NOTES, { account }).run()
  while ((await withD1Retry(dropNotes)).meta.changes > 0);
  const { tables } = await describeTables(source)
  const triggers = tables.flatMap(noteTriggers)
  await withD1Retry(() =>
    source.batch([
      bindStatement(source, REQUIRE_NO_SOURCE, {}),
      ...triggers.map(([name]) => source.prepare(`drop trigger if exists ${quoted(name)}`)),
    ]),
  ).catch((error) => {
    // Other accounts move from this database, and need the triggers.
    if (!isAssertionFailure(error)) throw error
  })
}
