import type { Connection } from '../db/database.ts'
import { isDoorOpen } from '../db/door.ts'
import { first } from '../db/query.ts'
import type { outbox } from '../db/schema.ts'
import { bindStatement, compileStatement, type Statement, writeBatch } from '../db/statement.ts'
import { DAY_MS } from '../durations.ts'
import type { Language } from '../languages.ts'

/** The kinds of notices: `cause` of each is the id of what it names. */
export const NOTICE_KINDS = {
  // To affiliates.
  invitation: 'invitation',
  application_received: 'application',
  application_approved: 'invitation',
  application_rejected: 'application',
  statement_approved: 'statement',
  payment_sent: 'transfer',
  payment_paid: 'payment',
  payment_returned: 'payment that came back',
  details_changed: 'affiliate and version of the bank details',
  question_answered: 'message',
  terms_changed: 'plan and version',
  // To members of the team.
  member_invitation: 'invitation',
  approver_changed: 'change of a member',
  batch_prepared: 'batch',
  details_entered: 'affiliate and version of the bank details',
  approval_waits: 'change of a member',
  question_asked: 'message',
  application: 'application',
  attention: 'day',
} as const

/** A kind of notices. */
export type NoticeKind = keyof typeof NOTICE_KINDS

/** Whom a notice is for. A role, with all above it, is resolved when the notice is sent. */
export type NoticeRecipient =
  | { readonly affiliate_id: string }
  /** The id of a member of the team. */
  | { readonly member: string }
  | { readonly role: 'viewer' | 'manager' | 'approver' }
  /** Somebody who is neither: an applicant. */
  | { readonly address: string; readonly language: Language }

/** A notice to write. */
export interface Notice {
  /** Null: the cause is one of the directory, in the database `DB`. */
  readonly account: string | null
  readonly kind: NoticeKind
  readonly cause: string
  readonly recipient: NoticeRecipient
  /** Whom a notice to a role is about: a member with affiliates of their own gets it for these alone. */
  readonly about?: string | undefined
  /** The actor of the cause, whom a role does not mean. */
  readonly except?: string | undefined
}

const NOW = `cast(unixepoch('subsec') * 1000 as integer)`

/**
 * Returns the statement that writes notices of a kind for `:account`: it belongs to the batch of their cause. `rows` is
 * a query for `cause`, `recipient` (such as `'affiliate:' || affiliate_id`), `affiliate_id`, `except_actor` and
 * `language`, of which it may leave out the last three. What was written before stays as it is: one notice a cause.
 */
export const noticesOf = (
  kind: NoticeKind,
  rows: string,
  given: readonly ('affiliate_id' | 'except_actor' | 'language')[] = [],
): Statement => {
  const columns = ['cause', 'recipient', ...given]
  return compileStatement(`
    insert into outbox (account, id, kind, ${columns.join()}, at, next_at)
    select :account, 'ntc_' || printf('%011x', ${NOW}) || lower(hex(randomblob(8))), '${kind}',
      ${columns.map((name) => `n.${name}`).join()}, ${NOW}, ${NOW}
    from (${rows}) n where true
    on conflict (account, kind, cause, recipient) do nothing`)
}

/** Returns how a recipient is stored. */
export function recipientText(recipient: NoticeRecipient): string {
  if ('affiliate_id' in recipient) return `affiliate:${recipient.affiliate_id}`
  if ('member' in recipient) return `member:${recipient.member}`
  if ('role' in recipient) return `role:${recipient.role}`
  return `address:${recipient.address}`
}

/**
 * Returns the statement that writes a notice: it belongs to the batch of its cause, behind statements that abort the
 * batch if the cause does not happen. A cause has one notice of a kind for each recipient.
 */
export function noticeStatement(
  db: Pick<D1DatabaseSession, 'prepare'>,
  { account, kind, cause, recipient, about, except }: Notice,
): D1PreparedStatement {
  const row = ':cause as cause, :recipient as recipient, :about as affiliate_id'
  const statement = noticesOf(
    kind,
    `select ${row}, :except as except_actor, :language as language`,
    ['affiliate_id', 'except_actor', 'language'],
  )
  return bindStatement(db, statement, {
    account: account ?? '',
    cause,
    recipient: recipientText(recipient),
    about: about ?? null,
    except: except ?? null,
    language: 'language' in recipient ? recipient.language : null,
  })
}

/** Returns whether this deployment sends e-mail: it has the binding, and an address to send from. */
export const hasMail = ({
  EMAIL,
  MAIL_FROM,
}: {
  readonly EMAIL?: unknown
  readonly MAIL_FROM?: string
}) => EMAIL !== undefined && (MAIL_FROM ?? '') !== ''

const LAST_CAUSE = compileStatement(`
  select cause from outbox where account = :account and kind = :kind order by cause desc limit 1`)

/** Returns the last cause of notices of a kind, in the order of causes; null if there is none. */
export const lastCause = async (db: Connection, account: string, kind: NoticeKind) =>
  (await first<{ cause: string }>(db, LAST_CAUSE, { account, kind }))?.cause ?? null

/** A notice of the outbox. */
export type StoredNotice = Omit<typeof outbox.$inferSelect, 'kind'> & { readonly kind: NoticeKind }

/** A notice of the queue. It is sent only if no attempt has begun since it was queued. */
export type QueuedNotice = Pick<StoredNotice, 'account' | 'attempts'> & {
  /** The id of the notice. */
  readonly notice: string
  /** The D1 binding of its database. */
  readonly binding: string
}

/** A notice that is older was caused while no e-mail could be sent, in milliseconds. */
const LATEST_MS = 3 * DAY_MS

/** The maximum number of notices that one statement takes; the next one takes the others. */
const MAX_TAKEN = 1000

const takeDue = (whose: string) =>
  compileStatement(`
  update outbox set queued_until = :until
  where (account, id) in (
    select account, id from outbox indexed by outbox_due
    where ${whose} next_at between :oldest and :now and queued_until <= :now and ${isDoorOpen('account')}
    limit ${MAX_TAKEN})
  returning account, id as notice, attempts`)

const TAKE_DUE = takeDue('next_at is not null and')
const TAKE_DUE_OF_ACCOUNT = takeDue('account = :account and')

/** Takes the notices that are due at `now` (milliseconds), of an account or all. One that is not sent is due again at `until`. */
export async function takeDueNotices(
  db: D1Database,
  account: string | null,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<Omit<QueuedNotice, 'binding'>[]> {
  const statement = account === null ? TAKE_DUE : TAKE_DUE_OF_ACCOUNT
  const values = { account, now, until, oldest: now - LATEST_MS }
  const [due] = await db.batch<QueuedNotice>([bindStatement(db, statement, values)])
  return due?.results ?? []
}

const CLAIM = compileStatement(`
  update outbox set attempts = attempts + 1, queued_until = :until
  where account = :account and id = :notice and attempts = :attempts and next_at is not null
    and ${isDoorOpen('account')}
  returning *`)

/** Begins an attempt. Returns null if another one has begun since the notice was queued. */
export async function claimNotice(
  db: D1Database,
  queued: QueuedNotice,
  until: number,
): Promise<StoredNotice | null> {
  const [claimed] = await db.batch<StoredNotice>([bindStatement(db, CLAIM, { ...queued, until })])
  return claimed?.results[0] ?? null
}

const END_ATTEMPT = compileStatement(`
  update outbox set attempts = attempts - :waits, next_at = :next_at, queued_until = 0, tried_at = :now, sent = :sent,
    error = :error
  where account = :account and id = :id and attempts = :attempts`)

/** The result of an attempt. */
export interface NoticeOutcome {
  /** The digests of the addresses that have the notice now. */
  readonly sent: readonly string[]
  /** Null after a success. */
  readonly error: string | null
  /** When the next attempt is due, in milliseconds; null if none follows. */
  readonly next_at: number | null
  /** Whether it does not count as an attempt: the platform's quota is spent. */
  readonly waits?: boolean
}

/** Stores the result of an attempt. */
export const endNoticeAttempt = (
  db: D1Database,
  notice: StoredNotice,
  { sent, waits = false, ...outcome }: NoticeOutcome,
) =>
  writeBatch(db, [
    bindStatement(db, END_ATTEMPT, {
      ...{ ...notice, ...outcome, now: Date.now() },
      ...{ sent: JSON.stringify(sent), waits: Number(waits) },
    }),
  ])
