import type { Context } from 'hono'
import { type FoundInvitation, findInvitation } from '../affiliates/db/affiliate-members.ts'
import {
  acceptInvitation,
  countUse,
  type FoundPasskey,
  findPasskey,
} from '../affiliates/db/affiliate-passkeys.ts'
import {
  beginMemberSession,
  endMemberSession,
  isMemberCsrfToken,
} from '../affiliates/member-session.ts'
import { respond } from '../pages/base/respond.ts'
import { readSignInForm } from '../pages/form.ts'
import { InputField } from '../pages/parts/forms.tsx'
import { isOwnOrigin } from '../pages/show-page.tsx'
import { clientAddress } from '../platform/auth/address.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { SIGN_IN_LIMITS } from '../platform/auth/client-limits.ts'
import { withObjectRetry } from '../platform/auth/object-retry.ts'
import {
  creationOptions,
  newChallenge,
  readChallenge,
  requestOptions,
  useChallenge,
  verifyRegistration,
} from '../platform/auth/passkeys.ts'
import { digest } from '../platform/auth/secret.ts'
import { isAssertionFailure } from '../platform/db/retry.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import { readAnswer } from './confirmed.ts'
import { PasskeyForm, PortalPage, Problem, portalPath } from './layout.tsx'
import { type MemberVisit, memberVisit, type PortalVisit, portalVisit } from './visit.ts'
import { fill, WORDS } from './words.ts'

// The pages before the sign-in: sign-in and invitation; and the sign-out.

const nameOf = (visit: PortalVisit) => ({ account: visit.account.name })

const SIGN_IN = 'sign-in'

type Status = 200 | 401 | 403 | 404 | 409 | 429

/** Returns the page of an account's portal that a member wanted; the overview for any other address. */
export function nextOf(text: string | undefined, account: string, url: string): string {
  const home = portalPath(account)
  const { origin } = new URL(url)
  // Without this check a link to the sign-in could lead to another site (open redirect).
  if (!text || !URL.canParse(text, origin)) return home
  const { origin: to, pathname, search } = new URL(text, origin)
  const isPage = to === origin && pathname.startsWith(`${home}/`)
  const isEntry = /\/(?:sign-in|sign-out|invitation(?:\/register)?)$/.test(pathname)
  return isPage && !isEntry ? pathname + search : home
}

/** What the page of the sign-in shows beside its form. */
interface Shown {
  /** The page that follows the sign-in. */
  readonly next?: string
  readonly status?: Status
  readonly problem?: string
  readonly done?: string
}

/** Responds with the form of the sign-in. */
async function signInPage(
  c: Context<AppEnv>,
  visit: PortalVisit,
  shown: Shown = {},
): Promise<Response> {
  const { account, words, language, now } = visit
  const challenge = await newChallenge(c.env, account.id, SIGN_IN, { now })
  return respond(
    c,
    <PortalPage language={language} account={account} title={words.sign_in}>
      {shown.problem && <Problem text={shown.problem} />}
      {shown.done && (
        <p class="notice good" role="status">
          {shown.done}
        </p>
      )}
      <p class="lead">{words.sign_in_lead}</p>
      <PasskeyForm
        words={words}
        kind="get"
        action={portalPath(account.id, '/sign-in')}
        options={requestOptions(c.env, challenge)}
        state={challenge.state}
        submit={words.sign_in_button}
        values={shown.next ? { next: shown.next } : {}}
      />
      <p class="note">{fill(words.lost, nameOf(visit))}</p>
    </PortalPage>,
    shown.status ?? 200,
  )
}

/** Responds with the sign-in, or sends a member who is signed in to the page that they wanted. */
export async function showSignIn(c: Context<AppEnv>): Promise<Response> {
  const visit = await memberVisit(c)
  const next = nextOf(c.req.query('next'), visit.account.id, c.req.url)
  if (isMember(visit)) return c.redirect(next, 303)
  const done = c.req.query('done') ? { done: visit.words.signed_out } : {}
  return signInPage(c, visit, { ...done, next })
}

/** Returns whether a visit is one of a member. */
export const isMember = <V extends object>(visit: V | MemberVisit): visit is MemberVisit =>
  'session' in visit

/** Counts refused passkeys by address. Returns the seconds to wait, 0 if none. */
const waitOf = (c: Context<AppEnv>, isRight: boolean): Promise<number> =>
  withObjectRetry(() =>
    c.env.CLIENT_GATE.getByName(`portal:${clientAddress(c.req.raw.headers)}`).attempt(
      SIGN_IN_LIMITS,
      '',
      !isRight,
    ),
  )

/**
 * Counts a sign-in of an affiliate. Returns the seconds to wait: an affiliate signs in as often an hour as a client
 * gets tokens.
 */
async function signInWait(c: Context<AppEnv>, account: string, { affiliate_id }: FoundPasskey) {
  const name = `sign-ins:${JSON.stringify([account, affiliate_id])}`
  const session = { jti: crypto.randomUUID(), expiresAt: Date.now() + HOUR_MS, version: 0 }
  const counted = await withObjectRetry(() => c.env.CLIENT_GATE.getByName(name).mint(session))
  return counted?.wait ?? 0
}

/** Begins a session if the form has the answer of a passkey of this account. */
export async function signIn(c: Context<AppEnv>): Promise<Response> {
  const visit = await portalVisit(c)
  const { account, db, words, now } = visit
  const form = await readSignInForm(c)
  // Another site could otherwise sign its visitor in with its own passkey (login CSRF).
  if (!isOwnOrigin(c.req.raw)) return signInPage(c, visit, { status: 403, problem: words.failed })
  const next = nextOf(form('next'), account.id, c.req.url)
  const again = (status: Status, problem: string) => signInPage(c, visit, { status, problem, next })
  const expected = await readChallenge(c.env, account.id, SIGN_IN, { state: form('state'), now })
  if (!expected) return again(401, words.expired)
  const passkey = await readAnswer(c.env, visit, expected, form('credential'))
  const wait =
    (await waitOf(c, passkey !== null)) ||
    (passkey === null ? 0 : await signInWait(c, account.id, passkey))
  if (wait > 0) {
    c.header('Retry-After', String(wait))
    return again(429, fill(words.wait, { seconds: String(wait) }))
  }
  const refuse = () => again(401, fill(words.refused, nameOf(visit)))
  if (!passkey) return refuse()
  if (passkey.status === 'suspended') return suspendedPage(c, visit)
  if (!(await countUse(db, account.id, passkey, now))) return refuse()
  const { affiliate_id, member, credential_id, suspensions } = passkey
  const begun = { affiliate_id, member, credential_id, suspensions }
  await beginMemberSession(c, account, begun, now)
  return c.redirect(next, 303)
}

/** Responds that the affiliate is suspended. */
export const suspendedPage = (c: Context<AppEnv>, visit: PortalVisit): Promise<Response> =>
  signInPage(c, visit, { status: 403, problem: fill(visit.words.suspended, nameOf(visit)) })

/** Reads a form that a page of this session sent. Throws `invalid_request` for any other form. */
export async function readMemberForm(c: Context<AppEnv>, { session, words }: MemberVisit) {
  const form = isOwnOrigin(c.req.raw) ? await readSignInForm(c) : null
  // Another page of the browser could otherwise send a form with the session's cookie (CSRF).
  if (form && (await isMemberCsrfToken(c.env, session, form('csrf')))) return form
  throw new ApiError('invalid_request', { detail: words.other_session })
}

/** Ends the session, also for copies of its cookie. */
export async function signOut(c: Context<AppEnv>): Promise<Response> {
  const visit = await memberVisit(c)
  if (isMember(visit)) {
    await readMemberForm(c, visit)
    await endMemberSession(c, visit.session)
  }
  return c.redirect(portalPath(visit.account.id, '/sign-in?done=yes'), 303)
}

/** Responds with the page that an invitation links to. Its script sends the secret behind the `#`. */
export async function showInvitation(c: Context<AppEnv>): Promise<Response> {
  const { account, words, language } = await portalVisit(c)
  return respond(
    c,
    <PortalPage language={language} account={account} title={words.invitation}>
      <p class="lead">{words.invitation_lead}</p>
      <noscript>
        <p class="notice warn">{words.no_passkeys}</p>
      </noscript>
      <form
        method="post"
        action={portalPath(account.id, '/invitation')}
        class="change"
        data-invitation
      >
        <input type="hidden" name="secret" value="" />
        <button type="submit">{words.invitation_open}</button>
      </form>
    </PortalPage>,
  )
}

/** An invitation that can be used, in the language of its affiliate. */
interface Opened {
  readonly visit: PortalVisit
  readonly invitation: FoundInvitation
  readonly secretDigest: string
}

/** Finds the invitation of a form, or responds that it cannot be used. */
async function openInvitation(
  c: Context<AppEnv>,
  found: PortalVisit,
  secret: string,
): Promise<Opened | Response> {
  const secretDigest = await digest(secret)
  const invitation = isOwnOrigin(c.req.raw)
    ? await findInvitation(found.db, found.account.id, secretDigest)
    : null
  const language = invitation?.language ?? found.language
  const visit = { ...found, language, words: WORDS[language] }
  const isOpen = invitation?.used_at === null && invitation.ends_at > visit.now
  const wait = await waitOf(c, invitation !== null)
  if (wait > 0) {
    c.header('Retry-After', String(wait))
    return problemPage(c, visit, 429, fill(visit.words.wait, { seconds: String(wait) }))
  }
  if (!invitation || !isOpen) return usedPage(c, visit)
  if (invitation.status === 'suspended') {
    return problemPage(c, visit, 403, fill(visit.words.suspended, nameOf(visit)))
  }
  return { visit, invitation, secretDigest }
}

const problemPage = (c: Context<AppEnv>, visit: PortalVisit, status: Status, problem: string) =>
  respond(
    c,
    <PortalPage language={visit.language} account={visit.account} title={visit.words.invitation}>
      <Problem text={problem} />
    </PortalPage>,
    status,
  )

const usedPage = (c: Context<AppEnv>, visit: PortalVisit) =>
  problemPage(c, visit, 404, fill(visit.words.invitation_used, nameOf(visit)))

const purposeOf = (secretDigest: string) => `register ${secretDigest}`

/** Responds with the form that registers a passkey. */
async function registrationPage(
  c: Context<AppEnv>,
  { visit, invitation, secretDigest }: Opened,
  { secret, problem }: { secret: string; problem?: string },
): Promise<Response> {
  const { account, words, language, now } = visit
  const member = crypto.randomUUID()
  const purpose = purposeOf(secretDigest)
  const challenge = await newChallenge(c.env, account.id, purpose, { member, now })
  const affiliate = invitation.display_name ?? invitation.affiliate_id
  const owner = { member, name: `${affiliate} · ${account.name}`, service: account.name }
  return respond(
    c,
    <PortalPage language={language} account={account} title={words.invitation}>
      {problem && <Problem text={problem} />}
      <p class="lead">{fill(words.invited, { account: account.name, affiliate })}</p>
      <p>{words.register_lead}</p>
      <PasskeyForm
        words={words}
        kind="create"
        action={portalPath(account.id, '/invitation/register')}
        options={creationOptions(c.env, challenge, owner, [])}
        state={challenge.state}
        submit={words.register_button}
        values={{ secret }}
      >
        <InputField
          id="name"
          name="name"
          label={words.your_name}
          required
          attributes={{ maxlength: 100, autocomplete: 'name' }}
        />
      </PasskeyForm>
    </PortalPage>,
    problem === undefined ? 200 : 401,
  )
}

/** Responds with the form of an invitation. Opening it does not use it. */
export async function showRegistration(c: Context<AppEnv>): Promise<Response> {
  const found = await portalVisit(c)
  const secret = (await readSignInForm(c))('secret')
  const opened = await openInvitation(c, found, secret)
  return opened instanceof Response ? opened : registrationPage(c, opened, { secret })
}

/** Returns a name that a person typed, without what cannot be shown; `other` if nothing is left. */
export const typedName = (text: string, other: string): string =>
  text
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, 100)
    .toWellFormed() || other

/** Registers a passkey by an invitation, which is used by that, and begins a session. */
export async function register(c: Context<AppEnv>): Promise<Response> {
  const found = await portalVisit(c)
  const form = await readSignInForm(c)
  const secret = form('secret')
  const opened = await openInvitation(c, found, secret)
  if (opened instanceof Response) return opened
  const { visit, invitation, secretDigest } = opened
  const { account, db, words, now } = visit
  const purpose = purposeOf(secretDigest)
  const expected = await readChallenge(c.env, account.id, purpose, { state: form('state'), now })
  if (!expected?.member || !(await useChallenge(c.env, expected)))
    return registrationPage(c, opened, { secret, problem: words.expired })
  const key = await verifyRegistration(c.env, expected.challenge, form('credential'))
  if (!key) return registrationPage(c, opened, { secret, problem: words.cancelled })
  const { affiliate_id } = invitation
  const member = { affiliate_id, member: expected.member }
  const at = new Date(now).toISOString()
  const passkey = {
    ...key,
    ...member,
    name: words.first_passkey,
    created_at: at,
    last_used_at: at,
  }
  const name = typedName(form('name'), invitation.display_name ?? affiliate_id)
  const details = { affiliate_id, id: invitation.id, member: expected.member }
  const entry = { actor: 'portal', action: 'affiliate-member.join', account: account.id, details }
  const accepted = acceptInvitation(db, account.id, secretDigest, { name, passkey, now })
  try {
    await withAudit(db, entry, accepted)
  } catch (error) {
    if (isAssertionFailure(error)) return usedPage(c, visit)
    if (await findPasskey(db, account.id, key.credential_id)) {
      return registrationPage(c, opened, { secret, problem: words.cancelled })
    }
    throw error
  }
  const { suspensions } = invitation
  const begun = { ...member, credential_id: key.credential_id, suspensions }
  await beginMemberSession(c, account, begun, now)
  return c.redirect(portalPath(account.id), 303)
}
