import {
  creationOptions,
  credentialIdOf,
  newChallenge,
  readChallenge,
  requestOptions,
  useChallenge,
  verifyRegistration,
  verifySignIn,
} from '../../platform/auth/passkeys.ts'
import type { StoredPasskey } from '../../platform/directory/passkeys.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Values } from '../base/page.ts'
import { type OwnPasskeys, type PasskeySite, passkeyWords } from './site.ts'

// What forms ask passkeys for, and what they answer: at the sign-in, for a new passkey, and for changes that a member
// confirms, of which whoever has stolen only the cookie of a session makes none.

/** What a form asks for: `purpose` is that of its challenge, and `at` its page below the home of the site. */
interface Asked {
  readonly at: string
  readonly purpose: string
  /** The passkeys of the member: those that may answer, or those that a new one stands beside. */
  readonly keys?: readonly StoredPasskey[]
}

/** Returns what a `PasskeyForm` asks a passkey for: any one, or one of a member, for `ms` milliseconds. */
export async function askPasskey(
  site: PasskeySite,
  { at, purpose, keys, ...whom }: Asked & { readonly member?: string; readonly ms?: number },
) {
  const { c, home, now } = site
  const challenge = await newChallenge(c.env, home, purpose, { ...whom, now })
  const options = requestOptions(c.env, challenge, keys)
  const { words } = passkeyWords(site)
  return { words, kind: 'get' as const, action: home + at, options, state: challenge.state }
}

/** What a `PasskeyForm` asks its member for. */
export type Confirmation = Awaited<ReturnType<typeof askPasskey>>

/** Returns what a `PasskeyForm` asks for that makes a passkey of a member. A device calls it `name`. */
export async function askNewPasskey(
  site: PasskeySite,
  { at, purpose, keys = [], member, name }: Asked & { readonly member: string; name: string },
) {
  const { c, home, now, service } = site
  const challenge = await newChallenge(c.env, home, purpose, { member, now })
  const options = creationOptions(c.env, challenge, { member, name, service }, keys)
  const { words } = passkeyWords(site)
  const { state } = challenge
  const submit = words.register_button
  return { words, kind: 'create' as const, action: home + at, options, state, submit }
}

const readExpected = ({ c, home, now }: PasskeySite, purpose: string, form: Values) =>
  readChallenge(c.env, home, purpose, { state: form('state'), now })

/** Returns the passkey that answers a form, with its new state; null if none does, or if one has before. */
export async function readAnswer(site: PasskeySite, purpose: string, form: Values) {
  const { env } = site.c
  const expected = await readExpected(site, purpose, form)
  if (!expected) return 'expired'
  const text = form('credential')
  const id = credentialIdOf(text)
  const passkey = id && (await site.find(id))
  const used = passkey ? await verifySignIn(env, expected, text, passkey) : null
  // Otherwise an answer that was seen once could be sent again.
  return used && (await useChallenge(env, expected)) ? used : null
}

/** Returns the new passkey that answers a form, without its name; or why there is none. */
export async function readNewPasskey(site: PasskeySite, purpose: string, form: Values) {
  const { env } = site.c
  const expected = await readExpected(site, purpose, form)
  // Otherwise an answer that was seen once could be sent again.
  if (!expected?.member || !(await useChallenge(env, expected))) return 'expired'
  const made = await verifyRegistration(env, expected.challenge, form('credential'))
  if (!made) return 'cancelled'
  const at = new Date(site.now).toISOString()
  return { ...made, member: expected.member, created_at: at, last_used_at: at }
}

/** The contract: a passkey is asked for at most so long before the change, in milliseconds. */
const FRESH_MS = 5 * MINUTE_MS

const purposeOf = ({ session }: OwnPasskeys, at: string) => `${at} ${session.id}`

/**
 * Returns what a `PasskeyForm` of the page `at` (its path below the home of the site) asks its member for. It is for
 * this session and page, and used once.
 */
export const askConfirmation = async (own: OwnPasskeys, at: string): Promise<Confirmation> => {
  const { member } = own.session
  const asked = { at, purpose: purposeOf(own, at), member, ms: FRESH_MS }
  return askPasskey(own.site, { ...asked, keys: await own.list() })
}

/** Throws `invalid_request` unless a passkey of the member has confirmed a form of the page `at`, which nobody has sent before. */
export async function requireConfirmed(own: OwnPasskeys, at: string, form: Values): Promise<void> {
  const { site } = own
  const used = await readAnswer(site, purposeOf(own, at), form)
  if (used && used !== 'expired' && (await site.countUse(used))) return
  throw new ApiError('invalid_request', { detail: passkeyWords(site).words.expired })
}
