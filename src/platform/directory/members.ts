import { all, first } from '../db/query.ts'
import { compileStatement } from '../db/statement.ts'
import type { Language } from '../languages.ts'

// Members of the firm's team, in the database `DB`. Every request reads its member anew, so that whoever was removed
// can do nothing more.

/** The roles of members. Each may do what the roles before it may. */
export const ROLES = ['viewer', 'manager', 'approver'] as const

/** What a member may do. */
export type Role = (typeof ROLES)[number]

/** How much of the service a member sees, and may do: at most what whoever gives it has. */
export interface Scope {
  readonly role: Role
  /** The ids of their accounts. */
  readonly accounts: 'all' | readonly string[]
  /** `own`: the affiliates whose manager they are. */
  readonly affiliates: 'all' | { readonly own: true }
}

/** A member of the firm's team. */
export interface Member extends Scope {
  readonly id: string
  readonly name: string
  readonly email: string
  /** Who acts, as it is stored with what they do: the e-mail address in lower case. */
  readonly actor: string
  readonly language: Language
}

/** The actor of the root key ADMIN_KEY. */
export const ROOT_ACTOR = 'root-key'

/** The root key ADMIN_KEY, which nobody has alone: it starts the first invitation. */
export const ROOT: Member = {
  id: ROOT_ACTOR,
  name: 'Root key',
  email: '',
  actor: ROOT_ACTOR,
  language: 'en',
  role: 'approver',
  accounts: 'all',
  affiliates: 'all',
}

/** What waits for a second approver: the scope that a member is to have, or a new link in place of what they lost. */
export interface Waiting {
  readonly id: string
  readonly kind: 'invitation' | 'change' | 'lost'
  /** Who has asked. */
  readonly by: string
  readonly at: string
  /** The name, language and scope to have; absent if only a link was asked for. */
  readonly change?: Partial<Pick<Member, 'name' | 'language'> & Scope>
}

/** A member as stored, also one who has not joined yet. */
export interface StoredMember extends Member {
  readonly created_at: string
  readonly created_by: string
  /** When they first registered a passkey; null: not yet. */
  readonly joined_at: string | null
  readonly removed_at: string | null
  readonly waiting: Waiting | null
  readonly version: number
  readonly passkeys: number
  /** When they last signed in with a passkey; null if they have none. */
  readonly last_seen_at: string | null
  /** When the open link of an invitation ends, in milliseconds; null: there is none. */
  readonly link_ends_at: number | null
}

/** A member as a row, with JSON in its columns. */
export type MemberRow = { readonly [Name in keyof StoredMember]: StoredMember[Name] | string }

const COLUMNS = `m.id, m.email, m.email as actor, m.name, m.role, m.accounts, m.affiliates, m.language, m.created_at,
  m.created_by, m.joined_at, m.removed_at, m.waiting, m.version,
  (select count(*) from member_passkeys p where p.member = m.id) as passkeys,
  (select max(p.last_used_at) from member_passkeys p where p.member = m.id) as last_seen_at,
  (select max(i.ends_at) from member_invitations i where i.member = m.id and i.used_at is null) as link_ends_at`

/** Returns what a member or a key may do, from the JSON in its columns. */
export const scopeOf = (row: Readonly<Record<'accounts' | 'affiliates', unknown>>) =>
  ({
    accounts: JSON.parse(String(row.accounts)),
    affiliates: JSON.parse(String(row.affiliates)),
  }) as Pick<Scope, 'accounts' | 'affiliates'>

/** Returns the member of a row. */
export const memberOf = (row: MemberRow): StoredMember => ({
  ...(row as StoredMember),
  ...scopeOf(row),
  waiting: row.waiting === null ? null : JSON.parse(String(row.waiting)),
})

/** Returns what both of two scopes allow. */
export function lesserOf(a: Scope, b: Scope): Scope {
  const [{ role }, few, many] =
    ROLES.indexOf(a.role) <= ROLES.indexOf(b.role) ? [a, a, b] : [b, b, a]
  const isOfMany = (id: string) => many.accounts === 'all' || many.accounts.includes(id)
  return {
    role,
    accounts: few.accounts === 'all' ? many.accounts : few.accounts.filter(isOfMany),
    affiliates: few.affiliates === 'all' ? many.affiliates : few.affiliates,
  }
}

/** Somebody who waits for a second approver before they are invited is nobody yet. */
const IS_MEMBER = `m.removed_at is null and coalesce(m.waiting ->> 'kind', '') <> 'invitation'`

/** Reads the members, also those who are invited or wait to be. */
export const LIST_MEMBERS = compileStatement(`
  select ${COLUMNS} from members m where m.removed_at is null order by m.email`)

/** Returns the members, also those who are invited or wait to be, by e-mail address. */
export const listMembers = async (db: D1Database): Promise<StoredMember[]> =>
  (await all<MemberRow>(db, LIST_MEMBERS)).map(memberOf)

/** Returns a function that finds a member by a value of some columns; null if there is none. */
const finding = (from: string, condition: string) => {
  const statement = compileStatement(
    `select ${COLUMNS} from ${from} where ${condition} and ${IS_MEMBER}`,
  )
  return async (db: D1Database, value: string): Promise<Member | null> => {
    const found = await first<MemberRow>(db, statement, { value })
    return found && memberOf(found)
  }
}

/** Returns the member with an e-mail address, in whatever letter case; null if there is none. */
export const findMemberByEmail = finding('members m', 'm.email = lower(:value)')

/** Returns the member of a passkey, by its id; null if there is none. */
export const findMemberByPasskey = finding(
  'member_passkeys k join members m on m.id = k.member',
  'k.credential_id = :value',
)

/** A key of a member, as they see it. */
export interface MemberKey extends Scope {
  readonly id: string
  readonly name: string
  readonly created_at: string
}

const FIND_BY_KEY = compileStatement(`
  select ${COLUMNS}, k.id as key_id, k.role as key_role, k.accounts as key_accounts, k.affiliates as key_affiliates
  from member_keys k join members m on m.id = k.member
  where (k.digest = :digest or k.id = :id) and ${IS_MEMBER}`)

/** Returns the member of a key, by its digest or id, with what both may do, and the id of the key; null if there is none. */
export async function findMemberOfKey(
  db: D1Database,
  key: { readonly digest?: string; readonly id?: string },
): Promise<{ readonly member: Member; readonly key: string } | null> {
  type Found = MemberRow & Record<'key_id' | 'key_role' | 'key_accounts' | 'key_affiliates', string>
  const found = await first<Found>(db, FIND_BY_KEY, { digest: '', id: '', ...key })
  if (!found) return null
  const { key_id, key_role, key_accounts, key_affiliates, ...row } = found
  const member = memberOf(row as MemberRow)
  const scope = scopeOf({ accounts: key_accounts, affiliates: key_affiliates })
  const lesser = lesserOf(member, { role: key_role as Role, ...scope })
  return { member: { ...member, ...lesser }, key: key_id }
}

const LIST_IDS = compileStatement(`select id from members m where ${IS_MEMBER}`)

/** Returns the ids of all members. */
export const memberIds = async (db: D1Database): Promise<ReadonlySet<string>> =>
  new Set((await all<{ id: string }>(db, LIST_IDS)).map(({ id }) => id))

const FIND_NAMES = compileStatement(`
  select email, name from members
  where email in (select value from json_each(:emails)) order by created_at`)

/** Returns the names of members by their e-mail addresses, also of those who were removed. */
export async function namesOfMembers(
  db: D1Database,
  emails: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const values = { emails: JSON.stringify(emails) }
  const rows = await all<{ email: string; name: string }>(db, FIND_NAMES, values)
  return new Map(rows.map(({ email, name }) => [email, name]))
}

const FIND_ACTOR = compileStatement('select email from members where id = :id')

/** Returns the actor that a member is, by their id, also after their removal; any other text is an actor already. */
export const actorOf = async (db: D1Database, id: string): Promise<string> =>
  (await first<{ email: string }>(db, FIND_ACTOR, { id }))?.email ?? id

const FIND_INVITERS = compileStatement(`
  select distinct i.created_by as email from members m join member_invitations i on i.member = m.id
  where m.email in (select value from json_each(:emails)) and m.role <> 'approver'`)

/** Returns who alone has let in some members, none of whom is an approver: they could act under these names. */
export async function invitersOf(db: D1Database, emails: readonly string[]): Promise<string[]> {
  const values = { emails: JSON.stringify(emails) }
  return (await all<{ email: string }>(db, FIND_INVITERS, values)).map(({ email }) => email)
}

const FIND_BY_ROOT = compileStatement(`
  select distinct m.email, m.accounts from member_invitations i join members m on m.id = i.member
  where i.created_by = '${ROOT_ACTOR}' and i.created_at >= :since and m.removed_at is null
  order by m.email`)

/** Returns the members of an account whom the root key has invited since a time (milliseconds), by e-mail address. */
export async function invitedByRoot(
  db: D1Database,
  account: string,
  since: number,
): Promise<string[]> {
  const values = { since: new Date(since).toISOString() }
  const rows = await all<{ email: string; accounts: string }>(db, FIND_BY_ROOT, values)
  const isOf = (accounts: string) => hasAccount({ accounts: JSON.parse(accounts) }, account)
  return rows.filter(({ accounts }) => isOf(accounts)).map(({ email }) => email)
}

/** Returns whether a member has an account. */
export const hasAccount = ({ accounts }: Pick<Scope, 'accounts'>, account: string): boolean =>
  accounts === 'all' || accounts.includes(account)

/** Returns the approvers of an account who have a passkey, by e-mail address. */
export const approversOf = async (db: D1Database, account: string): Promise<StoredMember[]> =>
  (await listMembers(db)).filter(
    (one) => one.role === 'approver' && one.passkeys > 0 && hasAccount(one, account),
  )
