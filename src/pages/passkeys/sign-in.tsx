import type { Child } from 'hono/jsx'
import { clientAddress } from '../../platform/auth/address.ts'
import { SIGN_IN_LIMITS } from '../../platform/auth/client-limits.ts'
import { digestOfInvitation } from '../../platform/auth/notice-links.ts'
import { withObjectRetry } from '../../platform/auth/object-retry.ts'
import { isAssertionFailure } from '../../platform/db/retry.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import type { Values } from '../base/page.ts'
import { respond } from '../base/respond.ts'
import { InputField } from '../parts/forms.tsx'
import { isOwnOrigin } from '../show-page.tsx'
import { askNewPasskey, askPasskey, readAnswer, readNewPasskey } from './confirmed.ts'
import { PasskeyForm, Problem } from './parts.tsx'
import { type FoundInvitation, type PasskeySite, passkeyWords } from './site.ts'

// The pages before the sign-in: sign-in and invitation.

const SIGN_IN = 'sign-in'

type Status = 200 | 401 | 403 | 404 | 409 | 429

/** Returns the page of a site that a member wanted; its first one for any other address. */
export function nextOf(text: string | undefined, home: string, url: string): string {
  const { origin } = new URL(url)
  // Without this check a link to the sign-in could lead to another site (open redirect).
  if (!text || !URL.canParse(text, origin)) return home
  const { origin: to, pathname, search } = new URL(text, origin)
  const isPage = to === origin && (pathname === home || pathname.startsWith(`${home}/`))
  const isEntry = /\/(?:sign-in|sign-out|invitation(?:\/register)?)$/.test(pathname)
  return isPage && !isEntry ? pathname + search : home
}

/** What the page of the sign-in shows beside its form. */
interface Shown {
  /** The page that follows the sign-in. */
  readonly next: string
  readonly status?: Status
  readonly problem?: string
  readonly done?: string
}

/** Responds with the form of the sign-in. */
export async function signInPage(site: PasskeySite, shown: Shown): Promise<Response> {
  const { language, Frame } = site
  const { words, say } = passkeyWords(site)
  const asked = await askPasskey(site, { at: '/sign-in', purpose: SIGN_IN })
  return respond(
    site.c,
    <Frame language={language} title={words.sign_in}>
      {shown.problem && <Problem text={shown.problem} />}
      {shown.done && (
        <p class="notice good" role="status">
          {shown.done}
        </p>
      )}
      <p class="lead">{words.sign_in_lead}</p>
      <PasskeyForm {...asked} submit={words.sign_in_button} values={{ next: shown.next }} />
      <p class="note">{say('lost')}</p>
      {site.otherWay?.(shown.next)}
    </Frame>,
    shown.status ?? 200,
  )
}

/** Counts refused sign-ins by address. Returns the seconds to wait, 0 if none. */
export const waitOf = ({ c }: Pick<PasskeySite, 'c'>, isRight: boolean): Promise<number> =>
  withObjectRetry(() =>
    c.env.CLIENT_GATE.getByName(`sign-in:${clientAddress(c.req.raw.headers)}`).attempt(
      SIGN_IN_LIMITS,
      '',
      !isRight,
    ),
  )

/** Counts a sign-in. Returns the seconds to wait: the same name signs in as often an hour as a client gets tokens. */
async function signInWait({ c, now }: PasskeySite, name: string) {
  const session = { jti: crypto.randomUUID(), expiresAt: now + HOUR_MS, version: 0 }
  const gate = () => c.env.CLIENT_GATE.getByName(`sign-ins:${name}`)
  const counted = await withObjectRetry(() => gate().mint(session))
  return counted?.wait ?? 0
}

/** Begins a session if the form has the answer of a passkey of this site. */
export async function signIn(site: PasskeySite, form: Values): Promise<Response> {
  const { c, home } = site
  const { words, say } = passkeyWords(site)
  const next = nextOf(form('next'), home, c.req.url)
  const again = (status: Status, problem: string) => signInPage(site, { status, problem, next })
  // Another site could otherwise sign its visitor in with its own passkey (login CSRF).
  if (!isOwnOrigin(c.req.raw)) return again(403, words.failed)
  const passkey = await readAnswer(site, SIGN_IN, form)
  if (passkey === 'expired') return again(401, words.expired)
  const wait =
    (await waitOf(site, passkey !== null)) ||
    (passkey === null ? 0 : await signInWait(site, site.countedAs(passkey)))
  if (wait > 0) {
    c.header('Retry-After', String(wait))
    return again(429, say('wait', { seconds: String(wait) }))
  }
  if (!passkey) return again(401, say('refused'))
  const refusal = site.refusalOf(passkey, site.language)
  if (refusal) return again(403, refusal)
  if (!(await site.countUse(passkey))) return again(401, say('refused'))
  await site.begin(passkey, passkey)
  return c.redirect(next, 303)
}

/** Responds with a page about an invitation. */
const invitationPage = (
  { c, language, Frame, ...site }: PasskeySite,
  body: Child,
  status: Status,
) =>
  respond(
    c,
    <Frame language={language} title={passkeyWords({ ...site, language }).words.invitation}>
      {body}
    </Frame>,
    status,
  )

/** Responds with the page that an invitation links to. Its script sends the secret behind the `#`. */
export function showInvitation(site: PasskeySite): Promise<Response> {
  const { words } = passkeyWords(site)
  const body = (
    <>
      <p class="lead">{words.invitation_lead}</p>
      <noscript>
        <p class="notice warn">{words.no_passkeys}</p>
      </noscript>
      <form method="post" action={`${site.home}/invitation`} class="change" data-invitation>
        <input type="hidden" name="secret" value="" />
        <button type="submit">{words.invitation_open}</button>
      </form>
    </>
  )
  return invitationPage(site, body, 200)
}

/** An invitation that can be used, and the site in its language. */
interface Opened {
  readonly site: PasskeySite
  readonly invitation: FoundInvitation
  readonly secret: string
  readonly secretDigest: string
}

const usedPage = (site: PasskeySite) =>
  invitationPage(site, <Problem text={passkeyWords(site).say('invitation_used')} />, 404)

/** Finds the invitation with a secret, or responds that it cannot be used. */
async function openInvitation(asked: PasskeySite, secret: string): Promise<Opened | Response> {
  const { c, now } = asked
  const secretDigest = await digestOfInvitation(c.env, asked.home, secret, now)
  const invitation = isOwnOrigin(c.req.raw) ? await asked.findInvitation(secretDigest) : null
  const site = { ...asked, language: invitation?.language ?? asked.language }
  const wait = await waitOf(site, invitation !== null)
  if (wait > 0) {
    c.header('Retry-After', String(wait))
    const text = passkeyWords(site).say('wait', { seconds: String(wait) })
    return invitationPage(site, <Problem text={text} />, 429)
  }
  if (invitation?.used_at !== null || invitation.ends_at <= now) return usedPage(site)
  const refusal = site.refusalOf(invitation, site.language)
  if (refusal) return invitationPage(site, <Problem text={refusal} />, 403)
  return { site, invitation, secret, secretDigest }
}

const purposeOf = ({ secretDigest }: Opened) => `register ${secretDigest}`

/** Responds with the form that registers a passkey. */
async function registrationPage(opened: Opened, problem?: string): Promise<Response> {
  const { site, invitation, secret } = opened
  const { words } = passkeyWords(site)
  const { text, owner } = site.introduce(invitation, site.language)
  const asked = await askNewPasskey(site, {
    at: '/invitation/register',
    purpose: purposeOf(opened),
    member: invitation.member ?? crypto.randomUUID(),
    name: owner,
  })
  const body = (
    <>
      {problem && <Problem text={problem} />}
      <p class="lead">{text}</p>
      <p>{words.register_lead}</p>
      <PasskeyForm {...asked} values={{ secret }}>
        {invitation.member === undefined && (
          <InputField
            id="name"
            name="name"
            label={words.your_name}
            required
            attributes={{ maxlength: 100, autocomplete: 'name' }}
          />
        )}
      </PasskeyForm>
    </>
  )
  return invitationPage(site, body, problem === undefined ? 200 : 401)
}

/** Responds with the form of an invitation. Opening it does not use it. */
export async function showRegistration(site: PasskeySite, form: Values): Promise<Response> {
  const opened = await openInvitation(site, form('secret'))
  return opened instanceof Response ? opened : registrationPage(opened)
}

/** Returns a name that a person typed, without what cannot be shown; `other` if nothing is left. */
export const typedName = (text: string, other: string): string =>
  text
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, 100)
    .toWellFormed() || other

/** Registers a passkey by an invitation, which is used by that, and begins a session. */
export async function register(asked: PasskeySite, form: Values): Promise<Response> {
  const opened = await openInvitation(asked, form('secret'))
  if (opened instanceof Response) return opened
  const { site, invitation, secretDigest } = opened
  const { words } = passkeyWords(site)
  const made = await readNewPasskey(site, purposeOf(opened), form)
  if (typeof made === 'string') return registrationPage(opened, words[made])
  const passkey = { ...made, name: words.first_passkey }
  try {
    await site.accept(invitation, secretDigest, passkey, typedName(form('name'), ''))
  } catch (error) {
    if (isAssertionFailure(error)) return usedPage(site)
    if (await site.find(made.credential_id)) return registrationPage(opened, words.cancelled)
    throw error
  }
  await site.begin(passkey, invitation)
  return site.c.redirect(site.home, 303)
}
