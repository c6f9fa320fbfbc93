import type { Context } from 'hono'
import { findSignedIn, type SignedIn } from '../affiliates/db/affiliate-passkeys.ts'
import { callAs, type PortalCall } from '../affiliates/door.ts'
import { noteVisit } from '../affiliates/last-use.ts'
import {
  type MemberSession,
  memberObjectName,
  PORTAL_SESSIONS,
} from '../affiliates/member-session.ts'
import { type Words as Speech, wordsOf } from '../commission/words/words.ts'
import { createContext, useContext } from '../pages/base/context.ts'
import { startOfToday } from '../pages/base/page.ts'
import type { OwnPasskeys } from '../pages/passkeys/site.ts'
import { readLastMoved } from '../payouts/db/money.ts'
import { type AppEnv, admitRequest } from '../platform/auth/authorize.ts'
import { affiliateActor } from '../platform/auth/grant.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { findAccount } from '../platform/directory/accounts.ts'
import { WORDS, type Words } from '../platform/documents/texts.ts'
import { ApiError } from '../platform/errors.ts'
import {
  type AnswerOf,
  type AnyOperation,
  type OwnInput,
  pageOfRequest,
} from '../platform/http/operation.ts'
import { acceptedLanguage, type Language } from '../platform/languages.ts'
import { bookZoneOf } from '../platform/zone.ts'
import { ownPasskeys } from './passkey-site.tsx'

/** A request for a page of an account's portal. */
export interface PortalVisit {
  readonly account: Account
  /** The database of the account's records. */
  readonly db: D1Database
  readonly language: Language
  readonly words: Words
  /** How the statements of the firm write in this language. */
  readonly speech: Speech
  /** The time zone of the account. */
  readonly zone: string
  readonly now: number
  /** The current day of the account: its first millisecond, as if it were in UTC. */
  readonly today: number
}

/** A request of a member who is signed in. */
export interface MemberVisit extends PortalVisit {
  readonly session: MemberSession
  readonly member: SignedIn
  /** Whether money has moved since they last looked at the payments. */
  readonly hasMoved: boolean
  /** The member as the audit log names them. */
  readonly actor: string
  readonly csrf: string
  /** Their passkeys. */
  readonly passkeys: OwnPasskeys
  /**
   * Calls an operation as the affiliate, and returns what they see of its answer: what is hidden is absent.
   *
   * @throws ApiError that a request would be answered with.
   */
  call<O extends AnyOperation>(of: O, input: OwnInput<O>): Promise<AnswerOf<O>>
  /** The page as its calls need it. */
  readonly page: PortalCall
}

/** The visit whose page is rendered. */
export const MemberVisitContext = createContext<MemberVisit | null>(null)

/** Returns the visit whose page is rendered. A component has it as its second parameter. */
export function useMemberVisit(): MemberVisit {
  const visit = useContext(MemberVisitContext)
  if (!visit) throw new Error('A component that needs a visit was rendered outside of a page.')
  return visit
}

/** Returns what a visit needs to speak a language. */
const spokenIn = (language: Language) => ({
  language,
  words: WORDS[language],
  speech: wordsOf(language),
})

/**
 * Returns the visit of an account's portal, in the language that the browser prefers.
 *
 * @throws ApiError `not_found` if there is no such account, or it is disabled.
 */
export async function portalVisit(c: Context<AppEnv>): Promise<PortalVisit> {
  const account = await findAccount(c.env.DB, c.req.param('account') ?? '')
  if (!account || account.disabled === 1) throw new ApiError('not_found')
  const language = acceptedLanguage(c.req.header('Accept-Language')) ?? 'en'
  const db = accountDatabase(c.env, account)
  const now = Date.now()
  const dates = { zone: bookZoneOf(account), now, today: startOfToday(account, now) }
  return { account, db, ...spokenIn(language), ...dates }
}

/** Why a request is not one of a member. */
type NoMember = PortalVisit & { readonly reason: 'signed_out' | 'suspended' }

/**
 * Returns the visit of a member; or why there is none: the session has ended, the member or their passkey was
 * removed, or the affiliate is suspended.
 */
export async function memberVisit(c: Context<AppEnv>): Promise<MemberVisit | NoMember> {
  const visit = await portalVisit(c)
  const { account, db, now } = visit
  const session = await PORTAL_SESSIONS.read(c, now)
  if (session?.account !== account.id) return { ...visit, reason: 'signed_out' }
  const [admission, member, movedAt] = await Promise.all([
    admitRequest(c.env, memberObjectName(session.id)),
    findSignedIn(db, session),
    readLastMoved(db, account.id, session.affiliate_id),
  ])
  // A suspension ends sessions for good. While it lasts, a page says so.
  const isOver = member?.status === 'active' && member.suspensions !== session.suspensions
  if (!admission || !member || isOver) return { ...visit, reason: 'signed_out' }
  if (admission.retryAfter > 0) {
    const headers = { 'Retry-After': String(admission.retryAfter) }
    throw new ApiError('rate_limited', { headers })
  }
  const language = member.language ?? visit.language
  const spoken = { ...visit, ...spokenIn(language) }
  if (member.status === 'suspended') return { ...spoken, reason: 'suspended' }
  noteVisit(c, db, session, { seenAt: member.last_seen_at, now })
  const passkeys = await ownPasskeys(c, spoken, session, member)
  const { csrf } = passkeys
  const page = { ...pageOfRequest(c), env: c.env, session, language }
  const call: MemberVisit['call'] = (of, input) => callAs(of, page, input)
  const actor = affiliateActor({ id: session.affiliate_id, member: session.member, key: null })
  const hasMoved = movedAt > Date.parse(member.payments_since)
  return { ...spoken, session, member, hasMoved, actor, csrf, passkeys, call, page }
}
