import {
  credentialIdOf,
  type ExpectedChallenge,
  newChallenge,
  readChallenge,
  requestOptions,
  useChallenge,
  verifySignIn,
} from '../../platform/auth/passkeys.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Values } from '../base/page.ts'
import { type OwnPasskeys, type PasskeySite, passkeyWords } from './site.ts'

// Changes that a member confirms with a passkey: whoever has stolen only the cookie of a session makes none of them.

/** The contract: a passkey is asked for at most so long before the change, in milliseconds. */
const FRESH_MS = 5 * MINUTE_MS

const purposeOf = ({ session }: OwnPasskeys, at: string) => `${at} ${session.id}`

/**
 * Returns what a `PasskeyForm` of the page `at` (its path below the home of the site) asks its member for. It is for
 * this session and page, and used once.
 */
export async function askConfirmation(own: OwnPasskeys, at: string) {
  const { site, session } = own
  const { env } = site.c
  const asked = { member: session.member, now: site.now, ms: FRESH_MS }
  const [challenge, keys] = await Promise.all([
    newChallenge(env, site.home, purposeOf(own, at), asked),
    own.list(),
  ])
  const options = requestOptions(env, challenge, keys)
  const { words } = passkeyWords(site)
  return { words, kind: 'get' as const, action: site.home + at, options, state: challenge.state }
}

/** What a `PasskeyForm` asks its member for. */
export type Confirmation = Awaited<ReturnType<typeof askConfirmation>>

/** Returns the passkey that answers a challenge, with its new state; null if none does, or if one has before. */
export async function readAnswer(site: PasskeySite, expected: ExpectedChallenge, text: string) {
  const { env } = site.c
  const id = credentialIdOf(text)
  const passkey = id && (await site.find(id))
  const used = passkey ? await verifySignIn(env, expected, text, passkey) : null
  // Otherwise an answer that was seen once could be sent again.
  return used && (await useChallenge(env, expected)) ? used : null
}

/** Throws `invalid_request` unless a passkey of the member has confirmed a form of the page `at`, which nobody has sent before. */
export async function requireConfirmed(own: OwnPasskeys, at: string, form: Values): Promise<void> {
  const { site } = own
  const sent = { state: form('state'), now: site.now }
  const expected = await readChallenge(site.c.env, site.home, purposeOf(own, at), sent)
  const used = expected && (await readAnswer(site, expected, form('credential')))
  if (used !== null && (await site.countUse(used))) return
  throw new ApiError('invalid_request', { detail: passkeyWords(site).words.expired })
}
