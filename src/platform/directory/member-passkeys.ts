import { first } from '../db/query.ts'
import { ABORT } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'
import { withAudit } from './audit.ts'
import type { Member } from './members.ts'
import { passkeyTable, type StoredPasskey } from './passkeys.ts'

// The passkeys of members of the team, and the invitations by which they register the first one.

/** What is stored of the passkeys of members of the team. */
export const TEAM_PASSKEYS = passkeyTable<StoredPasskey>('member_passkeys', {
  realm: [],
  owner: ['member'],
})

const FIND_PASSKEY = compileStatement(`
  select k.* from member_passkeys k join members m on m.id = k.member
  where k.credential_id = :credential_id and m.removed_at is null`)

/** Returns a passkey of a member; null if there is none. */
export const findTeamPasskey = (db: D1Database, credential_id: string) =>
  first<StoredPasskey>(db, FIND_PASSKEY, { credential_id })

/** An invitation of a member, found by the digest of its secret. */
export interface FoundTeamInvitation extends Pick<Member, 'name' | 'email' | 'role'> {
  readonly id: string
  readonly member: string
  /** The name of the member who made it; null if the root key did. */
  readonly author: string | null
  /** In milliseconds. */
  readonly ends_at: number
  readonly used_at: string | null
}

const FIND_INVITATION = compileStatement(`
  select i.id, i.member, i.ends_at, i.used_at, m.name, m.email, m.role,
    (select a.name from members a where a.email = i.created_by order by a.removed_at limit 1) as author
  from member_invitations i join members m on m.id = i.member
  where i.digest = :digest and m.removed_at is null`)

/** Returns the invitation with this digest of its secret; null if there is none, or if its member was removed. */
export const findTeamInvitation = (db: D1Database, digest: string) =>
  first<FoundTeamInvitation>(db, FIND_INVITATION, { digest })

const REJECT_CLOSED = compileStatement(`
  select ${ABORT} where not exists (
    select 1 from member_invitations i join members m on m.id = i.member
    where i.digest = :digest and i.used_at is null and i.ends_at > :now and m.removed_at is null)`)

const USE_INVITATION = compileStatement(`
  update member_invitations set used_at = :at where digest = :digest`)

const JOIN = compileStatement(`
  update members set joined_at = coalesce(joined_at, :at), version = version + 1 where id = :member`)

/**
 * Uses the invitation with this digest: stores the passkey of its member. The batch fails with an assertion if the
 * invitation was used or has ended meanwhile, or if the member was removed. `now` is in milliseconds.
 */
export async function acceptTeamInvitation(
  db: D1Database,
  { id, member, email }: FoundTeamInvitation,
  { digest, passkey, now }: { digest: string; passkey: StoredPasskey; now: number },
): Promise<void> {
  const details = { member, invitation: id }
  const entry = { actor: email, action: 'member.join', account: null, details }
  const values = { digest, member, now, at: passkey.created_at }
  const steps = [REJECT_CLOSED, USE_INVITATION, JOIN].map((one) => bindStatement(db, one, values))
  await withAudit(db, entry, [...steps, TEAM_PASSKEYS.insert(db, { ...passkey })])
}
