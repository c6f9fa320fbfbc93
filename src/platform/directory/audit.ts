import type { Connection } from '../db/database.ts'
import {
  type Count,
  type FoundPage,
  isBeyondCursor,
  LIST_LIMITS,
  type Page,
  paginate,
} from '../db/paginate.ts'
import { first, only } from '../db/query.ts'
import { isAssertionFailure, isUniqueViolation, withD1Retry } from '../db/retry.ts'
import { ABORT } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../db/statement.ts'
import { columnNames, type RowOf } from '../db/table.ts'
import { auditLog } from '../db/tables.ts'
import { ulid, ulidPrefix, ulidTime } from '../db/ulid.ts'
import { unavailable } from '../errors.ts'

/** A stored entry of the audit log. `details` holds neither secrets nor personal data. */
export interface AuditRecord extends Omit<RowOf<typeof auditLog>, 'details'> {
  details: Record<string, unknown>
}

/** An entry to add to the audit log. */
export type AuditEntry = Omit<AuditRecord, 'id' | 'at'>

const INSERT_ENTRY = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  values (:id, :at, :actor, :action, :account, :details) on conflict do nothing`)

const FIND_ENTRY = compileStatement(`select 1 from audit_log where id = :id`)

/**
 * Runs statements and adds an entry to the audit log, in one atomic batch: no change goes unrecorded,
 * and an attempt that failed leaves no entry. Returns the result of each statement, then the entry's; nothing if
 * an earlier attempt succeeded and its answer was lost, so that the same statements fail now.
 *
 * @throws ApiError `unavailable` if another request came first: a repeat decides by what is stored then.
 */
export async function withAudit(
  db: D1Database,
  entry: AuditEntry,
  statements: D1PreparedStatement[],
  id = newAuditId(),
): Promise<D1Result<Record<string, unknown>>[]> {
  const insert = insertEntry(db, entry, id)
  try {
    return await withD1Retry(() => db.batch<Record<string, unknown>>([...statements, insert]))
  } catch (error) {
    if (!isUniqueViolation(error) && !isAssertionFailure(error)) throw error
    if ((await first(db, FIND_ENTRY, { id })) === null) throw unavailable(error, 1)
    return []
  }
}

/** Runs statements as `withAudit` does. Returns false if a condition of theirs does not hold any more. */
export const tryWithAudit = (...change: Parameters<typeof withAudit>): Promise<boolean> =>
  withAudit(...change).then(
    () => true,
    (error) => {
      if (!isAssertionFailure(error)) throw error
      return false
    },
  )

/** Aborts its batch if the statement before it has changed nothing: another request came first. */
export const REQUIRE_CHANGE = compileStatement(`select ${ABORT} where changes() = 0`)

/** Returns the statements of a change; they abort their batch if it changes nothing. */
export const requiredChange = (
  db: D1Database,
  statement: Statement,
  values: Readonly<Record<string, unknown>>,
) => [bindStatement(db, statement, values), bindStatement(db, REQUIRE_CHANGE, {})]

/** Returns the statement that adds an entry to the audit log. It belongs to the batch of the change. */
export function insertEntry(
  db: D1Database,
  { actor, action, account, details }: AuditEntry,
  id = newAuditId(),
): D1PreparedStatement {
  const row = {
    id,
    at: new Date(ulidTime(id)).toISOString(),
    actor,
    action,
    account,
    details: JSON.stringify(details),
  }
  return bindStatement(db, INSERT_ENTRY, row)
}

/** Returns a new id for an entry; it begins with the current time. */
export const newAuditId = () => ulid(Date.now())

const FIND_REQUEST = compileStatement(`
  select 1 from audit_log r
  where account = :account and action = :action and actor <> :actor and id >= :since
    and details ->> :name = :value
    and not exists (select 1 from audit_log a where a.account = :account and a.id > r.id
      and a.action = 'account.change' and a.details ->> :name is not null)
  limit 1`)

/** Returns whether another actor has asked for the same lower setting since a time (milliseconds), and nobody set it since. */
export const hasAskedToLower = async (
  db: D1Database,
  { account, action, actor }: AuditEntry,
  setting: { readonly name: string; readonly value: number },
  time: number,
) => {
  const values = { account, action, actor, ...setting, since: ulidPrefix(time) }
  return (await first(db, FIND_REQUEST, values)) !== null
}

const LOWERED = compileStatement(`
  select json_group_array(distinct replace(replace(action, 'account.', ''), '.lower', '')) as names
  from audit_log where account = :account and id >= :since and action glob 'account.*.lower'`)

/** Returns which settings are, or shall be, lower since a time (milliseconds), as a JSON array. */
export const listLowered = (db: Connection, account: string, time: number) =>
  only<{ names: string }>(db, LOWERED, { account, since: ulidPrefix(time) })

/** Which entries a list has. */
export interface AuditFilter {
  /** Only entries of this account; of all accounts if null. */
  readonly account: string | null
  /** The time of the first entry, in milliseconds. */
  readonly start?: number
  /** The time before which the last entry was added, in milliseconds. */
  readonly end?: number
  readonly actor?: string
  /** The first words of actions: `plan` is that of `plan.put`. */
  readonly kinds?: readonly string[]
}

/**
 * Returns the FROM and WHERE clauses of a filtered list. No index has the actor or the action, so they are
 * searched for in the latest entries only.
 */
function filteredFrom(
  { account, start, end, actor, kinds }: AuditFilter,
  isAfter: boolean,
): string {
  const range = [
    account === null ? 'true' : 'account = :account',
    ...(start === undefined ? [] : ['id >= :start']),
    ...(end === undefined ? [] : ['id < :end']),
    ...(isAfter ? [isBeyondCursor(['id'], true)] : []),
  ].join(' and ')
  if (actor === undefined && kinds === undefined) return `audit_log where ${range}`
  const conditions = [
    ...(actor === undefined ? [] : ['actor = :actor']),
    ...(kinds === undefined
      ? []
      : [`substr(action, 1, instr(action, '.') - 1) in (select value from json_each(:kinds))`]),
  ].join(' and ')
  const latest = `select * from audit_log where ${range} order by id desc limit ${LIST_LIMITS.total}`
  return `(${latest}) where ${conditions}`
}

/** Returns the first id of a time in milliseconds; undefined if there is none. */
const idAt = (time: number | undefined) =>
  time === undefined ? undefined : ulidPrefix(Math.max(time, 0))

/**
 * Reads one page of the audit logs of several databases as one log, the newest entries first. It reads the
 * directory while the other databases are found.
 */
export async function listAudit(
  directory: D1Database,
  findOthers: Promise<readonly D1Database[]>,
  filter: AuditFilter,
  { number, size, after, counted = null }: Page,
): Promise<FoundPage<AuditRecord>> {
  const offset = after ? 0 : (number - 1) * size
  // Each database may have all entries of the page, and of the pages before it.
  const page = { number: 1, size: offset + size, after, counted }
  const { account, start, end, actor, kinds } = filter
  const values = {
    account,
    start: idAt(start),
    end: idAt(end),
    actor,
    kinds: JSON.stringify(kinds),
  }
  const read = (db: D1Database) => {
    const query = {
      columns: columnNames(auditLog),
      from: filteredFrom(filter, false),
      fromCursor: filteredFrom(filter, true),
      key: ['id'],
      descending: true,
      values,
    }
    return paginate<RowOf<typeof auditLog>>(db, query, page)
  }
  const [ofDirectory, ofOthers] = await Promise.all([
    read(directory),
    findOthers.then((others) => Promise.all(others.map(read))),
  ])
  const pages = [ofDirectory, ...ofOthers]
  // While an account moves, both databases have its entries.
  const found = new Map(pages.flatMap(({ data }) => data).map((row) => [row.id, row]))
  const rows = [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
  const data = rows
    .slice(offset, offset + size)
    .map((row): AuditRecord => ({ ...row, details: JSON.parse(row.details) }))
  const hasNext = rows.length > offset + size || pages.some(({ last }) => last !== null)
  const oldest = data.at(-1)
  return {
    data,
    ...(counted ?? sumOf(pages)),
    last: hasNext && oldest ? [oldest.id] : null,
  }
}

/** Returns the number of rows of several lists; it is limited if one of them is. */
function sumOf(counts: readonly Count[]): Count {
  const isLimited = counts.some((count) => count.isLimited)
  const total = counts.reduce((sum, count) => sum + count.total, 0)
  return { total: isLimited ? LIST_LIMITS.total : total, isLimited }
}
