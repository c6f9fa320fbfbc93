import type { Context } from 'hono'
import type { Child, FC } from 'hono/jsx'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import { type AuditEntry, withAudit } from '../../platform/directory/audit.ts'
import type { passkeyTable, StoredPasskey } from '../../platform/directory/passkeys.ts'
import { WORDS, type Words } from '../../platform/documents/texts.ts'
import { fill, type Language } from '../../platform/languages.ts'

// Members of affiliates and of the firm sign in by the same steps. What differs is a value of these types.

/** What pages show around their content. */
export interface PasskeyFrame {
  readonly language: Language
  readonly title: string
  readonly children?: Child
}

/** An invitation that was found by the digest of its secret. */
export interface FoundInvitation {
  readonly used_at: string | null
  /** In milliseconds. */
  readonly ends_at: number
  readonly language: Language | null
  /** The member whom it is for; absent if it makes a new one, who says their name. */
  readonly member?: string
}

/** Who a session is begun for. */
export interface SigningIn {
  readonly member: string
  readonly credential_id: string
}

/** Where people sign in with passkeys. `P` is a passkey and `I` an invitation, with what is known of their members. */
export interface PasskeySite<
  P extends StoredPasskey = StoredPasskey,
  I extends FoundInvitation = FoundInvitation,
> {
  readonly c: Context<AppEnv>
  readonly now: number
  readonly language: Language
  /** The path of its first page: challenges are answered below it alone. */
  readonly home: string
  /** What a device calls it. */
  readonly service: string
  /** Who makes invitations, as a sentence names them. */
  readonly inviter: string
  readonly Frame: FC<PasskeyFrame>
  /** Renders another way to sign in, which leads to a page, too. */
  readonly otherWay?: (next: string) => Child
  find(credential_id: string): Promise<P | null>
  /** Stores that a passkey was used; false if it was removed, or may have been copied. */
  countUse(passkey: P): Promise<boolean>
  /** Returns the name under which the sign-ins of a passkey are counted. */
  countedAs(passkey: P): string
  /** Says why somebody is refused who has a passkey or an invitation; null if they are not. */
  refusalOf(found: P | I, language: Language): string | null
  /** Begins a session, and writes its cookie. */
  begin(who: SigningIn, found: P | I): Promise<void>
  findInvitation(digest: string): Promise<I | null>
  /** Says who invites to what, and how a device calls the new passkey. */
  introduce(invitation: I, language: Language): { readonly text: string; readonly owner: string }
  /** Uses an invitation. Its batch fails with an assertion if it was used, or ended, meanwhile. */
  accept(invitation: I, digest: string, passkey: StoredPasskey, name: string): Promise<void>
}

/** A member who is signed in with a passkey, and what they change of their own. */
export interface OwnPasskeys {
  readonly site: PasskeySite
  readonly session: {
    readonly id: string
    readonly member: string
    /** The passkey that it began with; null if it began with none. */
    readonly credential_id: string | null
  }
  readonly csrf: string
  /** How a device calls their passkeys. */
  readonly owner: string
  list(): Promise<readonly StoredPasskey[]>
  insert(passkey: StoredPasskey): Promise<void>
  remove(credential_id: string): Promise<void>
}

/**
 * Returns what is stored of the passkeys of a member, and changed with an entry of the audit log. `owner` are the columns
 * of the table that say whose they are.
 */
export const storedPasskeys = (
  db: D1Database,
  table: ReturnType<typeof passkeyTable>,
  owner: Readonly<Record<string, string>>,
  entryOf: (verb: 'add' | 'remove') => AuditEntry,
): Pick<OwnPasskeys, 'list' | 'insert' | 'remove'> => ({
  list: () => table.list(db, owner),
  async insert(passkey) {
    await withAudit(db, entryOf('add'), [table.insert(db, { ...passkey, ...owner })])
  },
  async remove(credential_id) {
    await withAudit(db, entryOf('remove'), [table.remove(db, { ...owner, credential_id })])
  },
})

/** Returns the texts about passkeys in the language of a site. */
export const passkeyWords = ({ language, inviter }: Pick<PasskeySite, 'language' | 'inviter'>) => {
  const words = WORDS[language]
  return {
    words,
    /** Returns a text, which names who makes invitations. */
    say: (name: keyof Words, values: Readonly<Record<string, string>> = {}) =>
      fill(words[name], { inviter, ...values }),
  }
}
