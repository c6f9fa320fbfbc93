import { ABORT } from '../../commission/db/audit-guard.ts'
import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import type { Party, StoredDetails } from '../model.ts'

// Versions of bank details. The one with the highest number is the current one: no other is paid. An erasure adds a
// version without details.

/** Whose details are read or changed. */
export interface Owner {
  readonly account: string
  readonly party: Party
}

const COLUMNS = [
  ...(['party', 'id', 'version', 'state', 'method', 'details', 'key_id', 'digest'] as const),
  ...(['entered_by', 'entered_at', 'approvals', 'payable_from', 'reason'] as const),
]

/** The current version, with what a person compares it with. */
export interface CurrentDetails extends StoredDetails {
  /** The version that was approved before, with its details, as a JSON array; null if there is none. */
  readonly previous: string | null
  /** The affiliates whose current details have the same number of an account, as a JSON array. */
  readonly shared_with: string
}

/** Returns the condition that a row of `payees`, which SQL names so, is the current version. */
export const isCurrent = (of: string) => `${of}.version = (select max(m.version) from payees m
      where m.account = ${of}.account and m.party = ${of}.party and m.id = ${of}.id)`

/** The number of affiliates that are named beside a shared account. */
const NAMED_SHARED = 10

/** The current versions, with the columns of `CurrentDetails`. */
const CURRENT = `(
    select p.*, (
      select json_array(o.version, o.details) from payees o
      where o.account = p.account and o.party = p.party and o.id = p.id and o.version < p.version
        and o.payable_from is not null and o.details is not null and p.details is not null
      order by o.version desc limit 1
    ) as previous, (
      select json_group_array(id) from (
        select s.id from payees s
        where s.account = p.account and s.digest = p.digest and s.party = 'payee'
          and (s.party, s.id) is not (p.party, p.id) and ${isCurrent('s')}
        order by s.id limit ${NAMED_SHARED})
    ) as shared_with
    from payees p where ${isCurrent('p')})`

const READ_CURRENT = compileStatement(`
  select p.* from ${JSON_EACH}(:ids) i
  cross join ${CURRENT} p on p.account = :account and p.party = :party and p.id = i.value`)

/** Returns the current versions of some details, also those that were erased, by id. */
export async function readCurrent(
  db: Connection,
  { account, party }: Owner,
  ids: readonly string[],
): Promise<Map<string, CurrentDetails>> {
  const rows = await all<CurrentDetails>(db, READ_CURRENT, {
    ...{ account, party, ids: JSON.stringify(ids) },
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Reads one page of the current versions in the order of their ids, without those that were erased. */
export const listCurrent = (
  db: D1Database,
  { account, party }: Owner,
  state: StoredDetails['state'] | undefined,
  page: Page,
): Promise<FoundPage<CurrentDetails>> =>
  paginate(
    db,
    {
      columns: [...COLUMNS, 'previous', 'shared_with'],
      from: `${CURRENT} where account = :account and party = :party and details is not null
        ${state === undefined ? '' : 'and state = :state'}`,
      key: ['id'],
      values: { account, party, ...(state && { state }) },
    },
    page,
  )

const COUNT_WAITING = compileStatement(`
  select count(*) as waiting, json_group_array(id) as names from payees p
  where account = :account and party = :party and state = 'entered' and ${isCurrent('p')}`)

/** Counts the details that wait for an approval, and returns whose they are as a JSON array. */
export const countWaiting = (db: Connection, { account, party }: Owner) =>
  only<{ waiting: number; names: string }>(db, COUNT_WAITING, { account, party })

/** Inserts versions. A version that exists, because another change came first, fails the batch. */
const INSERT = compileStatement(`
  insert into payees (account, party, id, version, state, method, details, key_id, digest, entered_by,
    entered_at, reason)
  select :account, :party, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
    value ->> 6, :actor, :now, value ->> 7
  from ${JSON_EACH}(:rows)`)

/** Writes \`payee.changed\`. It names the state, never the details. */
const NOTIFY = eventOf(
  'payee.changed',
  `select p.id || ' ' || p.version || ' ' || :audit as about, json_object('affiliate_id', p.id,
      'version', p.version, 'state', iif(p.details is null, 'missing', p.state)) as data
    from ${JSON_EACH}(:rows) r
    cross join payees p on p.account = :account and p.party = 'payee' and p.id = r.value ->> 0
      and p.version = r.value ->> 1`,
)

/** Returns the statements that tell webhooks of versions: rows that begin with id and version. */
const notify = (db: D1Database, { account, party }: Owner, audit: string, rows: string) =>
  party === 'payee' ? [bindStatement(db, NOTIFY, { account, audit, rows })] : []

/** A version to store. */
export type NewVersion = Pick<
  StoredDetails,
  'id' | 'version' | 'state' | 'method' | 'details' | 'key_id' | 'digest' | 'reason'
>

/** Who makes a change, and the id of its entry in the audit log. `now` is in milliseconds. */
export interface Author extends Owner {
  readonly actor: string
  readonly now: number
  readonly audit: string
}

/** Returns the statements that store versions. The batch fails if a version exists. */
export const insertVersions = (
  db: D1Database,
  { account, party, actor, now, audit }: Author,
  versions: readonly NewVersion[],
): D1PreparedStatement[] =>
  toJsonChunks(
    versions.map((one) => [
      ...[one.id, one.version, one.state, one.method, one.details, one.key_id, one.digest],
      one.reason,
    ]),
  ).flatMap((rows) => [
    bindStatement(db, INSERT, { account, party, actor, now, rows }),
    ...notify(db, { account, party }, audit, rows),
  ])

const OF_VERSION =
  'account = :account and party = :party and id = :id and version = :version and details is not null'

/** Aborts the batch if a version is no longer the current one, or not as it was read. */
const REJECT_CHANGED = compileStatement(`
  select ${ABORT} where not exists (
    select 1 from payees p where ${OF_VERSION} and state = :seen_state and approvals = :seen_approvals
      and ${isCurrent('p')})`)

const SET_STATE = compileStatement(`
  update payees set state = :state, approvals = :approvals, payable_from = :payable_from,
    reason = :reason
  where ${OF_VERSION}`)

/** Returns the statements that change the state of a current version. The batch fails if it is not as it was read. */
export function setState(
  db: D1Database,
  { account, party, audit }: Author,
  seen: StoredDetails,
  next: Partial<Pick<StoredDetails, 'state' | 'approvals' | 'payable_from' | 'reason'>>,
): D1PreparedStatement[] {
  const { id, version } = seen
  const before = { seen_state: seen.state, seen_approvals: seen.approvals }
  const values = { ...seen, ...next, ...before, account }
  return [
    ...[REJECT_CHANGED, SET_STATE].map((statement) => bindStatement(db, statement, values)),
    ...notify(db, { account, party }, audit, JSON.stringify([[id, version]])),
  ]
}

/** The time of the last change of a transfer, or of the last batch, that used a version `p`. Null: none did. */
const LAST_USED = `iif(p.party = 'payee', (
      select max(t.changed_at) from transfers t indexed by transfers_affiliate
      where t.account = p.account and t.affiliate_id = p.id and t.payee_version = p.version
    ), (
      select max(coalesce(b.exported_at, b.confirmed_at)) from payout_batches b
      where b.account = p.account and b.payer = p.id and b.payer_version = p.version
        and b.status <> 'preview'
    ))`

const ERASE = 'update payees as p set details = null, digest = null, reason = null'

const ERASE_UNUSED = compileStatement(`
  ${ERASE} where account = :account and party = :party and id = :id and details is not null
    and ${LAST_USED} is null`)

/** Returns the statement that erases the versions that nothing used. */
export const eraseUnused = (db: D1Database, { account, party }: Owner, id: string) =>
  bindStatement(db, ERASE_UNUSED, { account, party, id })

const READ_KEPT = compileStatement(`
  select version, ${LAST_USED} as used_at from payees p
  where account = :account and party = :party and id = :id and details is not null order by version`)

/** Returns the versions that still have details, with the time at which each was last used. */
export const readKept = (db: D1Database, { account, party }: Owner, id: string) =>
  all<{ version: number; used_at: number | null }>(db, READ_KEPT, { account, party, id })

const ERASE_PAST = compileStatement(`
  ${ERASE} where account = :account and details is not null and not ${isCurrent('p')}
    and coalesce(${LAST_USED}, (
      select n.entered_at from payees n where n.account = p.account and n.party = p.party
        and n.id = p.id and n.version = p.version + 1)) < :before`)

/** Returns the statement that erases former versions that were last used, or replaced, before a time. */
export const erasePast = (db: D1Database, account: string, before: number) =>
  bindStatement(db, ERASE_PAST, { account, before })

const READ_STALE = compileStatement(`
  select party, id, version, details from payees
  where account = :account and details is not null and key_id <> :key_id limit :limit`)

/** Reads versions that another key has encrypted. */
export const readStale = (db: D1Database, account: string, key_id: string, limit: number) =>
  all<StoredDetails>(db, READ_STALE, { account, key_id, limit })

const REPLACE = compileStatement(`
  update payees set details = :details, key_id = :key_id, digest = :digest
  where account = :account and party = :party and id = :id and version = :version
    and details is not null`)

/** Returns the statement that stores a version as another key encrypts it. */
export const replaceEncrypted = (db: D1Database, version: Parameters<typeof bindStatement>[2]) =>
  bindStatement(db, REPLACE, version)
