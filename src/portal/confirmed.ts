import { countUse, findPasskey, listPasskeys } from '../affiliates/db/affiliate-passkeys.ts'
import type { Values } from '../pages/base/page.ts'
import {
  credentialIdOf,
  type ExpectedChallenge,
  newChallenge,
  readChallenge,
  requestOptions,
  useChallenge,
  verifySignIn,
} from '../platform/auth/passkeys.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import { portalPath } from './layout.tsx'
import type { MemberVisit, PortalVisit } from './visit.ts'

// Changes that a member confirms with a passkey: whoever has stolen only the cookie of a session makes none of them.

/** The contract: a passkey is asked for at most so long before the change, in milliseconds. */
const FRESH_MS = 5 * MINUTE_MS

const purposeOf = ({ session }: MemberVisit, at: string) => `${at} ${session.id}`

/**
 * Returns what a `PasskeyForm` of the page `at` (its path below that of the account) asks its member for. It is for
 * this session and page, and used once.
 */
export async function askConfirmation(visit: MemberVisit, at: string) {
  const { account, db, session, words, now, page } = visit
  const asked = { member: session.member, now, ms: FRESH_MS }
  const [challenge, keys] = await Promise.all([
    newChallenge(page.env, account.id, purposeOf(visit, at), asked),
    listPasskeys(db, session),
  ])
  const options = requestOptions(page.env, challenge, keys)
  const action = portalPath(account.id, at)
  return { words, kind: 'get' as const, action, options, state: challenge.state }
}

/** What a `PasskeyForm` asks its member for. */
export type Confirmation = Awaited<ReturnType<typeof askConfirmation>>

/** Returns the passkey that answers a challenge, with its new state; null if none does, or if one has before. */
export async function readAnswer(
  env: Env,
  { account, db }: PortalVisit,
  expected: ExpectedChallenge,
  text: string,
) {
  const id = credentialIdOf(text)
  const passkey = id && (await findPasskey(db, account.id, id))
  const used = passkey ? await verifySignIn(env, expected, text, passkey) : null
  // Otherwise an answer that was seen once could be sent again.
  return used && (await useChallenge(env, expected)) ? used : null
}

/** Returns whether a passkey of the member has confirmed a form of the page `at`, which nobody has sent before. */
export async function isConfirmed(visit: MemberVisit, at: string, form: Values): Promise<boolean> {
  const { account, db, now, page } = visit
  const sent = { state: form('state'), now }
  const expected = await readChallenge(page.env, account.id, purposeOf(visit, at), sent)
  const used = expected && (await readAnswer(page.env, visit, expected, form('credential')))
  return used !== null && countUse(db, account.id, used, now)
}
