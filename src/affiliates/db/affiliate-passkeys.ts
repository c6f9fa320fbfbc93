import { first } from '../../platform/db/query.ts'
import { ABORT } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import type { StoredProfile } from '../../platform/directory/affiliates.ts'
import { passkeyTable } from '../../platform/directory/passkeys.ts'
import type { AffiliateMember, Passkey } from './affiliate-members.ts'

// What the portal stores of passkeys. Every change is one batch, which fails as a whole.

/** The affiliate of a member, as the portal shows it. */
type Shown = Pick<StoredProfile, 'display_name' | 'language' | 'status' | 'suspensions'>

/** A passkey with its member and their affiliate. */
export type FoundPasskey = Passkey & Shown

const FIND_PASSKEY = compileStatement(`
  select p.credential_id, p.affiliate_id, p.member, p.public_key, p.algorithm, p.counter, p.transports,
    p.backup_eligible, p.backed_up, p.name, p.created_at, p.last_used_at, a.display_name, a.language, a.status, a.suspensions
  from affiliate_passkeys p
  join affiliates a on a.account = p.account and a.affiliate_id = p.affiliate_id
  where p.account = :account and p.credential_id = :credential_id`)

/** Returns a passkey of an account; null if there is none. */
export const findPasskey = (db: D1Database, account: string, credential_id: string) =>
  first<FoundPasskey>(db, FIND_PASSKEY, { account, credential_id })

/** A member who is signed in, with their affiliate. Answers of the team after `answers_since` are new to them, and payments after `payments_since`. */
export type SignedIn = Pick<
  AffiliateMember,
  'affiliate_id' | 'id' | 'name' | 'email' | 'last_seen_at'
> &
  Shown & {
    readonly answers_since: string
    readonly payments_since: string
    readonly new_answers: number
  }

const FIND_SIGNED_IN = compileStatement(`
  select m.affiliate_id, m.id, m.name, m.email, a.display_name, a.language, a.status, a.suspensions,
    m.last_seen_at, coalesce(m.questions_seen_at, m.created_at) as answers_since,
    coalesce(m.payments_seen_at, m.created_at) as payments_since,
    (select count(*) from affiliate_questions q
      where q.account = :account and q.affiliate_id = :affiliate_id
        and q.answered_at > coalesce(m.questions_seen_at, m.created_at)) as new_answers
  from affiliate_passkeys p
  join affiliate_members m
    on m.account = p.account and m.affiliate_id = p.affiliate_id and m.id = p.member
  join affiliates a on a.account = p.account and a.affiliate_id = p.affiliate_id
  where p.account = :account and p.credential_id = :credential_id
    and p.affiliate_id = :affiliate_id and p.member = :member`)

/** Who a session is of. */
interface SessionKey {
  readonly account: string
  readonly affiliate_id: string
  readonly member: string
  readonly credential_id: string
}

/** Returns the member of a session; null if they, or the passkey of the session, were removed. */
export const findSignedIn = (db: D1Database, session: SessionKey) =>
  first<SignedIn>(db, FIND_SIGNED_IN, { ...session })

/** What is stored of the passkeys of members. */
export const PASSKEYS = passkeyTable<Passkey>('affiliate_passkeys', {
  realm: ['account'],
  owner: ['affiliate_id', 'member'],
})

const REJECT_CLOSED = compileStatement(`
  select ${ABORT} where not exists (
    select 1 from affiliate_invitations i
    join affiliates a on a.account = i.account and a.affiliate_id = i.affiliate_id
    where i.account = :account and i.digest = :digest and i.used_at is null and i.ends_at > :now
      and a.status = 'active')`)

const USE_INVITATION = compileStatement(`
  update affiliate_invitations set used_at = :at where account = :account and digest = :digest`)

const INSERT_MEMBER = compileStatement(`
  insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at, invited_by, email)
  select account, affiliate_id, :member, :name, :at, :at, created_by, email from affiliate_invitations
  where account = :account and digest = :digest`)

/**
 * Uses an invitation: stores the passkey and its member. Fails, and so does its
 * batch, if the invitation was used or has ended meanwhile, or if the affiliate was suspended. `now` is in
 * milliseconds.
 */
export function acceptInvitation(
  db: D1Database,
  account: string,
  digest: string,
  { name, passkey, now }: { name: string; passkey: Passkey; now: number },
): D1PreparedStatement[] {
  const { affiliate_id, member } = passkey
  const at = new Date(now).toISOString()
  const values = { account, digest, affiliate_id, member, name, now, at }
  const steps = [REJECT_CLOSED, USE_INVITATION, INSERT_MEMBER]
  return [
    ...steps.map((statement) => bindStatement(db, statement, values)),
    PASSKEYS.insert(db, { account, ...passkey }),
  ]
}

/** Returns a function that notes in a column when a member did something. */
function noteIn(column: 'last_seen_at' | 'questions_seen_at' | 'payments_seen_at') {
  const statement = compileStatement(`
    update affiliate_members set ${column} = :at
    where account = :account and affiliate_id = :affiliate_id and id = :member`)
  type Key = Omit<SessionKey, 'credential_id'>
  return (db: D1Database, { account, affiliate_id, member }: Key, at: string) =>
    bindStatement(db, statement, { account, affiliate_id, member, at })
}

/** Notes when a member was last there. */
export const seeMember = noteIn('last_seen_at')

/** Notes when a member had the list of payments before them. */
export const seePayments = noteIn('payments_seen_at')

/** Notes when a member had the list of questions before them. */
export const seeAnswers = noteIn('questions_seen_at')

/** Stores the state of a passkey that was used; false if it was removed, or may have been copied. `now` is in milliseconds. */
export function countUse(db: D1Database, account: string, passkey: Passkey, now: number) {
  const used = { account, ...passkey }
  const at = new Date(now).toISOString()
  return PASSKEYS.countUse(db, used, at, [seeMember(db, used, at)])
}
