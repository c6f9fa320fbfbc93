import { all, first } from '../../platform/db/query.ts'
import { isAssertionFailure, withD1Retry } from '../../platform/db/retry.ts'
import { ABORT } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import type { StoredProfile } from '../../platform/directory/affiliates.ts'
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
export type SignedIn = Pick<AffiliateMember, 'affiliate_id' | 'id' | 'name' | 'last_seen_at'> &
  Shown & {
    readonly answers_since: string
    readonly payments_since: string
    readonly new_answers: number
  }

const FIND_SIGNED_IN = compileStatement(`
  select m.affiliate_id, m.id, m.name, a.display_name, a.language, a.status, a.suspensions,
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

const LIST_PASSKEYS = compileStatement(`
  select credential_id, affiliate_id, member, public_key, algorithm, counter, transports, backup_eligible,
    backed_up, name, created_at, last_used_at
  from affiliate_passkeys
  where account = :account and affiliate_id = :affiliate_id and member = :member
  order by created_at, credential_id`)

/** Returns the passkeys of a member, the first one first. */
export const listPasskeys = (
  db: D1Database,
  { account, affiliate_id, member }: Omit<SessionKey, 'credential_id'>,
) => all<Passkey>(db, LIST_PASSKEYS, { account, affiliate_id, member })

const REJECT_CLOSED = compileStatement(`
  select ${ABORT} where not exists (
    select 1 from affiliate_invitations i
    join affiliates a on a.account = i.account and a.affiliate_id = i.affiliate_id
    where i.account = :account and i.digest = :digest and i.used_at is null and i.ends_at > :now
      and a.status = 'active')`)

const USE_INVITATION = compileStatement(`
  update affiliate_invitations set used_at = :at where account = :account and digest = :digest`)

const INSERT_MEMBER = compileStatement(`
  insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at, invited_by)
  select account, affiliate_id, :member, :name, :at, :at, created_by from affiliate_invitations
  where account = :account and digest = :digest`)

const INSERT_PASSKEY = compileStatement(`
  insert into affiliate_passkeys (account, credential_id, affiliate_id, member, public_key, algorithm, counter,
    transports, backup_eligible, backed_up, name, created_at, last_used_at)
  values (:account, :credential_id, :affiliate_id, :member, :public_key, :algorithm, :counter, :transports,
    :backup_eligible, :backed_up, :name, :created_at, :last_used_at)`)

/** Stores a further passkey of a member. */
export const insertPasskey = (db: D1Database, account: string, passkey: Passkey) =>
  bindStatement(db, INSERT_PASSKEY, { account, ...passkey })

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
    insertPasskey(db, account, passkey),
  ]
}

const REJECT_USED = compileStatement(`
  select ${ABORT} where not exists (
    select 1 from affiliate_passkeys
    where account = :account and credential_id = :credential_id
      and (counter < :counter or (counter = 0 and :counter = 0)))`)

const COUNT_USE = compileStatement(`
  update affiliate_passkeys set counter = :counter, backed_up = :backed_up, last_used_at = :at
  where account = :account and credential_id = :credential_id`)

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

/**
 * Stores the state of a passkey that was used. Returns false if the passkey was removed or its counter is
 * not higher than the stored one: then a copy of the passkey may be in use.
 */
export async function countUse(
  db: D1Database,
  account: string,
  { credential_id, affiliate_id, member, counter, backed_up }: Passkey,
  now: number,
): Promise<boolean> {
  const values = { account, credential_id, affiliate_id, member, counter, backed_up }
  const at = new Date(now).toISOString()
  const steps = [
    ...[REJECT_USED, COUNT_USE].map((statement) => bindStatement(db, statement, { ...values, at })),
    seeMember(db, values, at),
  ]
  try {
    await withD1Retry(() => db.batch(steps))
    return true
  } catch (error) {
    if (isAssertionFailure(error)) return false
    throw error
  }
}

const DELETE_PASSKEY = compileStatement(`
  delete from affiliate_passkeys
  where account = :account and affiliate_id = :affiliate_id and member = :member
    and credential_id = :credential_id
    and exists (select 1 from affiliate_passkeys o where o.account = :account
      and o.affiliate_id = :affiliate_id and o.member = :member
      and o.credential_id <> :credential_id)`)

/** Removes a passkey of a member, unless it is their last one. */
export const deletePasskey = (db: D1Database, key: SessionKey) =>
  bindStatement(db, DELETE_PASSKEY, { ...key })
