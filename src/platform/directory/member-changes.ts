import { all } from '../db/query.ts'
import { ABORT } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../db/statement.ts'
import { requiredChange } from './audit.ts'
import {
  LIST_MEMBERS,
  type MemberKey,
  type MemberRow,
  memberOf,
  type StoredMember,
  scopeOf,
} from './members.ts'

// What changes members. Whatever is decided about one depends on all, so a batch asserts that nobody changed since.

/** Everybody of the team and all accounts, as a decision needs them. */
export interface Team {
  readonly members: readonly StoredMember[]
  readonly accounts: readonly { readonly id: string; readonly approvals: number }[]
  /** The sum of all versions, those of removed members included: it grows with each change. */
  readonly sum: number
}

const READ_ACCOUNTS = compileStatement('select id, approvals from accounts')
const READ_SUM = compileStatement('select coalesce(sum(version), 0) as sum from members')

/** Reads the team. */
export async function readTeam(db: D1Database): Promise<Team> {
  const statements = [LIST_MEMBERS, READ_ACCOUNTS, READ_SUM].map((one) =>
    bindStatement(db, one, {}),
  )
  const [members, accounts, [{ sum }]] = await readBatch<
    [MemberRow[], { id: string; approvals: number }[], [{ sum: number }]]
  >(db, statements as never)
  return { members: members.map(memberOf), accounts, sum }
}

const REJECT_OTHER_TEAM = compileStatement(`
  select ${ABORT} where (select coalesce(sum(version), 0) from members) <> :sum`)

/** Returns the statement that aborts its batch if anybody was changed since the team was read. */
export const requireTeam = (db: D1Database, { sum }: Team) =>
  bindStatement(db, REJECT_OTHER_TEAM, { sum })

type Stored = Pick<
  StoredMember,
  'id' | 'email' | 'name' | 'role' | 'accounts' | 'affiliates' | 'language' | 'waiting'
>

const valuesOf = ({ accounts, affiliates, waiting, ...member }: Stored) => ({
  ...member,
  accounts: JSON.stringify(accounts),
  affiliates: JSON.stringify(affiliates),
  waiting: waiting && JSON.stringify(waiting),
})

const INSERT_MEMBER = compileStatement(`
  insert into members (id, email, name, role, accounts, affiliates, language, created_at, created_by, waiting)
  values (:id, :email, :name, :role, :accounts, :affiliates, :language, :created_at, :created_by, :waiting)`)

/** Inserts a member. The batch fails if there is one with this e-mail address. */
export const insertMember = (
  db: D1Database,
  { created_at, created_by, ...member }: Stored & Pick<StoredMember, 'created_at' | 'created_by'>,
) => bindStatement(db, INSERT_MEMBER, { ...valuesOf(member), created_at, created_by })

const UPDATE_MEMBER = compileStatement(`
  update members set name = :name, role = :role, accounts = :accounts, affiliates = :affiliates,
    language = :language, waiting = :waiting, version = version + 1
  where id = :id and removed_at is null`)

/** Stores what a member is now, and what waits. The batch fails if they were removed. */
export const updateMember = (db: D1Database, member: Stored) =>
  requiredChange(db, UPDATE_MEMBER, valuesOf(member))

const REMOVE_MEMBER = compileStatement(`
  update members set removed_at = :at, removed_by = :by, waiting = null, version = version + 1
  where id = :id and removed_at is null`)

const END_ACCESS = [
  `delete from member_passkeys where member = :id`,
  `delete from member_keys where member = :id`,
  `update member_invitations set ends_at = :now where member = :id and used_at is null and ends_at > :now`,
].map(compileStatement)

/** Ends passkeys, keys and open links of a member, and with them their sessions. `now` is in milliseconds. */
export const endAccess = (db: D1Database, id: string, now: number) =>
  END_ACCESS.map((statement) => bindStatement(db, statement, { id, now }))

/** Removes a member with all that lets them in. The batch fails if they were removed. `now` is in milliseconds. */
export const removeMember = (db: D1Database, id: string, by: string, now: number) => [
  ...requiredChange(db, REMOVE_MEMBER, { id, by, at: new Date(now).toISOString() }),
  ...endAccess(db, id, now),
]

const INSERT_INVITATION = compileStatement(`
  insert into member_invitations (digest, id, member, created_at, created_by, ends_at)
  values (:digest, :id, :member, :created_at, :created_by, :ends_at)`)

/** Inserts an invitation. The secret of its link is stored as a digest only; `ends_at` is in milliseconds. */
export const insertInvitation = (
  db: D1Database,
  invitation: Readonly<
    Record<'digest' | 'id' | 'member' | 'created_at' | 'created_by', string> & { ends_at: number }
  >,
) => bindStatement(db, INSERT_INVITATION, invitation)

/** The contract: a member has at most so many keys. */
export const MAX_KEYS = 5

const LIST_KEYS = compileStatement(`
  select id, name, role, accounts, affiliates, created_at from member_keys
  where member = :member order by created_at, id`)

/** Returns the keys of a member, the oldest first. */
export const listMemberKeys = async (db: D1Database, member: string): Promise<MemberKey[]> =>
  (await all<MemberKey>(db, LIST_KEYS, { member })).map((key) => ({ ...key, ...scopeOf(key) }))

const REJECT_FULL = compileStatement(`
  select ${ABORT} where (select count(*) from member_keys where member = :member) >= ${MAX_KEYS}
    or not exists (select 1 from members where id = :member and removed_at is null)`)

const INSERT_KEY = compileStatement(`
  insert into member_keys (digest, id, member, name, role, accounts, affiliates, created_at)
  values (:digest, :id, :member, :name, :role, :accounts, :affiliates, :created_at)`)

/** Inserts a key. The batch fails if its member has as many as they may, or was removed. */
export function insertMemberKey(
  db: D1Database,
  {
    accounts,
    affiliates,
    ...key
  }: MemberKey & { readonly digest: string; readonly member: string },
): D1PreparedStatement[] {
  const scope = { accounts: JSON.stringify(accounts), affiliates: JSON.stringify(affiliates) }
  const values = { ...key, ...scope }
  return [REJECT_FULL, INSERT_KEY].map((statement) => bindStatement(db, statement, values))
}

const DELETE_KEY = compileStatement(`delete from member_keys where member = :member and id = :id`)

/** Ends a key of a member. The batch fails if there is none. */
export const deleteMemberKey = (db: D1Database, member: string, id: string) =>
  requiredChange(db, DELETE_KEY, { member, id })
