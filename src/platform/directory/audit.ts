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
import { isObject } from '../validation/record-validator.ts'

/** A stored entry of the audit log. `details` holds neither secrets nor personal data. */
export interface AuditRecord extends Omit<RowOf<typeof auditLog>, 'details'> {
  details: Record<string, unknown>
}

/** The most affiliates that an entry names of one request. */
const MAX_NAMED = 20

/**
 * Returns the details of a request that changes affiliates: of one alone what changes of it, of several that of the
 * first of them by their ids.
 */
export function auditOfAffiliates<One extends { readonly affiliate_id: string }>(
  changed: readonly One[],
  changesOfOne: (one: One) => Changes,
) {
  const named = changed.slice(0, MAX_NAMED)
  const [first] = changed
  if (first && changed.length === 1) {
    return { affiliate_id: first.affiliate_id, changes: changesOfOne(first) }
  }
  const changes = named.flatMap((one) =>
    Object.entries(changesOfOne(one)).map(([name, change]) => [
      `${one.affiliate_id}.${name}`,
      change,
    ]),
  )
  return {
    affiliates: changed.length,
    ids: [...new Set(named.map(({ affiliate_id }) => affiliate_id))],
    changes: Object.fromEntries(changes) as Changes,
  }
}

/** An entry to add to the audit log. */
export type AuditEntry = Omit<AuditRecord, 'id' | 'at'>

/** The old and the new value of each field that a change names and that differs. */
export type Changes = Readonly<Record<string, readonly [before: unknown, after: unknown]>>

/** Returns what has members of its own: an object, or a list of objects with ids; null for any other value. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (!Array.isArray(value)) return isObject(value) ? value : null
  const isById = value.every((one) => isObject(one) && typeof one.id === 'string')
  return isById ? Object.fromEntries(value.map((one) => [one.id, one])) : null
}

/**
 * Returns what changes, for the `changes` of an entry's details: each member of `after` that differs from that of
 * `before`. Members of members are told apart, such as `rules.cpa.amount`.
 */
export function changesOf(before: object, after: object): Changes {
  const changes = Object.entries(after).flatMap(([name, now]): [string, Changes[string]][] => {
    const old = Reflect.get(before, name) ?? null
    if (now === undefined || JSON.stringify(old) === JSON.stringify(now)) return []
    const [former, latter] = [membersOf(old), membersOf(now)]
    if (!former || !latter) return [[name, [old, now]]]
    const gone = Object.fromEntries(Object.keys(former).map((one) => [one, null]))
    const within = Object.entries(changesOf(former, { ...gone, ...latter }))
    return within.map(([one, change]) => [`${name}.${one}`, change])
  })
  return Object.fromEntries(changes)
}

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
      and a.action = 'account.change' and a.details -> 'changes' ->> :name is not null)
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
  /** Only entries about this affiliate. */
  readonly affiliate_id?: string
  /** Actions, or their first words: `plan` is that of `plan.put`. */
  readonly actions?: readonly string[]
}

/** How entries are told apart that no index tells. Lists of affiliates are those that one request has changed. */
const CONDITIONS = {
  actor: 'actor = :actor',
  affiliate_id: `instr(details, json_quote(:affiliate_id)) > 0 and exists (
    select 1 from json_tree(details) t where t.atom = :affiliate_id
      and (t.key = 'affiliate_id' or t.path in ('$.ids', '$.added', '$.payees')))`,
  actions: `exists (select 1 from json_each(:actions)
    where substr(action || '.', 1, length(value) + 1) = value || '.')`,
} as const

/**
 * Returns the FROM and WHERE clauses of a filtered list. What no index has is searched for in the latest entries only.
 */
function filteredFrom({ account, start, end, ...others }: AuditFilter, isAfter: boolean): string {
  const range = [
    account === null ? 'true' : 'account = :account',
    ...(start === undefined ? [] : ['id >= :start']),
    ...(end === undefined ? [] : ['id < :end']),
    ...(isAfter ? [isBeyondCursor(['id'], true)] : []),
  ].join(' and ')
  const names = Object.keys(others) as (keyof typeof CONDITIONS)[]
  if (names.length === 0) return `audit_log where ${range}`
  const conditions = names.map((name) => CONDITIONS[name]).join(' and ')
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
  const { start, end, actions, ...others } = filter
  const values = {
    ...others,
    start: idAt(start),
    end: idAt(end),
    actions: JSON.stringify(actions),
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
