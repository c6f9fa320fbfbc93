import { all, first } from '../../platform/db/query.ts'
import type {
  affiliateInvitations,
  affiliateMembers,
  affiliatePasskeys,
} from '../../platform/db/schema.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import type { StoredProfile } from '../../platform/directory/affiliates.ts'
import { REQUIRE_CHANGE, requiredChange } from '../../platform/directory/audit.ts'

// The persons who sign in for affiliates: their invitations and passkeys.

/** An invitation as it is stored. */
export type Invitation = Omit<typeof affiliateInvitations.$inferSelect, 'account' | 'digest'>

/** A person who signs in for an affiliate. */
export type AffiliateMember = Omit<typeof affiliateMembers.$inferSelect, 'account'>

/** A passkey as it is stored; `transports` is a JSON array. */
export type Passkey = Omit<typeof affiliatePasskeys.$inferSelect, 'account'>

/** How long an ended invitation is listed, in milliseconds. */
const LISTED_MS = 30 * 86_400_000

const DELETE_OLD = compileStatement(`
  delete from affiliate_invitations
  where account = :account and affiliate_id = :affiliate_id and ends_at < :before`)

const INSERT_INVITATION = compileStatement(`
  insert into affiliate_invitations
    (account, affiliate_id, id, digest, created_at, created_by, ends_at, email)
  values (:account, :affiliate_id, :id, :digest, :created_at, :created_by, :ends_at, :email)
  on conflict do nothing`)

/** Stores an invitation, unless it is stored already, and deletes those of the affiliate that ended more than 30 days before. */
export const insertInvitation = (
  db: D1Database,
  account: string,
  row: Omit<Invitation, 'used_at'> & { digest: string },
): D1PreparedStatement[] => [
  bindStatement(db, DELETE_OLD, {
    account,
    affiliate_id: row.affiliate_id,
    before: Date.parse(row.created_at) - LISTED_MS,
  }),
  bindStatement(db, INSERT_INVITATION, { account, ...row }),
]

const INVITATION = 'affiliate_id, id, created_at, created_by, ends_at, used_at, email'

const LIST_INVITATIONS = compileStatement(`
  select ${INVITATION} from affiliate_invitations
  where account = :account and affiliate_id = :affiliate_id order by created_at desc, id`)

/** Returns the invitations of an affiliate, the latest first. */
export const listInvitations = (db: D1Database, account: string, affiliate_id: string) =>
  all<Invitation>(db, LIST_INVITATIONS, { account, affiliate_id })

const END_INVITATION = compileStatement(`
  update affiliate_invitations set ends_at = :now
  where account = :account and affiliate_id = :affiliate_id and id = :id
    and used_at is null and ends_at = :ends_at`)

/** Ends an invitation. The batch fails unless it is open. `now` is in milliseconds. */
export const endInvitation = (
  db: D1Database,
  account: string,
  { affiliate_id, id, ends_at }: Pick<Invitation, 'affiliate_id' | 'id' | 'ends_at'>,
  now: number,
) => requiredChange(db, END_INVITATION, { account, affiliate_id, id, ends_at, now })

/** An invitation that was found by its secret, with the affiliate that it is for. */
export type FoundInvitation = Invitation &
  Pick<StoredProfile, 'display_name' | 'language' | 'status' | 'suspensions'>

const FIND_INVITATION = compileStatement(`
  select ${INVITATION.split(', ')
    .map((name) => `i.${name}`)
    .join(', ')}, a.display_name, a.language, a.status, a.suspensions
  from affiliate_invitations i
  join affiliates a on a.account = i.account and a.affiliate_id = i.affiliate_id
  where i.account = :account and i.digest = :digest`)

/** Returns the invitation with this digest of its secret; null if there is none. */
export const findInvitation = (db: D1Database, account: string, digest: string) =>
  first<FoundInvitation>(db, FIND_INVITATION, { account, digest })

/** A member in the list of an affiliate. */
export type ListedMember = AffiliateMember & { passkeys: number }

const LIST_MEMBERS = compileStatement(`
  select m.affiliate_id, m.id, m.name, m.email, m.created_at, m.last_seen_at,
    (select count(*) from affiliate_passkeys p
      where p.account = m.account and p.affiliate_id = m.affiliate_id and p.member = m.id) as passkeys
  from affiliate_members m
  where m.account = :account and m.affiliate_id = :affiliate_id order by m.created_at, m.id`)

/** Returns the members of an affiliate, the first one first. */
export const listMembers = (db: D1Database, account: string, affiliate_id: string) =>
  all<ListedMember>(db, LIST_MEMBERS, { account, affiliate_id })

const DELETE_PASSKEYS = compileStatement(`
  delete from affiliate_passkeys indexed by affiliate_passkeys_member
  where account = :account and affiliate_id = :affiliate_id and member = :id`)

const DELETE_MEMBER = compileStatement(`
  delete from affiliate_members
  where account = :account and affiliate_id = :affiliate_id and id = :id`)

/** Removes a member with their passkeys. The batch fails if there is no such member. */
export const deleteMember = (
  db: D1Database,
  account: string,
  affiliate_id: string,
  id: string,
): D1PreparedStatement[] =>
  [DELETE_PASSKEYS, DELETE_MEMBER, REQUIRE_CHANGE].map((statement) =>
    bindStatement(db, statement, { account, affiliate_id, id }),
  )
