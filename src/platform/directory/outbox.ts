import { bindStatement, compileStatement, type Statement } from '../db/statement.ts'
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
export const hasMail = ({ EMAIL, MAIL_FROM }: Partial<Pick<Env, 'EMAIL' | 'MAIL_FROM'>>) =>
  EMAIL !== undefined && (MAIL_FROM ?? '') !== ''
