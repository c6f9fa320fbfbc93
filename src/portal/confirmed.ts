import type { Context } from 'hono'
import { countSignIn, findPasskey, listPasskeys } from '../affiliates/db/affiliate-passkeys.ts'
import type { Values } from '../pages/page.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { isAssertionFailure, withD1Retry } from '../platform/db/retry.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import {
  credentialIdOf,
  newChallenge,
  readChallenge,
  requestOptions,
  useChallenge,
  verifySignIn,
} from './passkeys.ts'
import type { MemberVisit } from './visit.ts'

// Changes that a member confirms with a passkey: whoever has stolen only the cookie of a session makes none of them.

/** The contract: a passkey is asked for at most so long before the change, in milliseconds. */
const FRESH_MS = 5 * MINUTE_MS

const purposeOf = ({ session }: MemberVisit, what: string) => `${what} ${session.id}`

/** Returns what a form asks the passkeys of its member for. It is for this session and purpose, and used once. */
export async function askConfirmation(env: Env, visit: MemberVisit, what: string) {
  const { account, db, session, member, now } = visit
  const [challenge, keys] = await Promise.all([
    newChallenge(env, account.id, purposeOf(visit, what), {
      ...{ member: member.id, now, ms: FRESH_MS },
    }),
    listPasskeys(db, session),
  ])
  return {
    options: requestOptions(env, challenge, keys),
    state: challenge.state,
  }
}

/** Returns whether a passkey of the member has confirmed a form, which nobody has sent before. */
export async function isConfirmed(
  { env }: Context<AppEnv>,
  visit: MemberVisit,
  what: string,
  form: Values,
): Promise<boolean> {
  const { account, db, session, now } = visit
  const [state, text] = [form('state'), form('credential')]
  const expected = await readChallenge(env, account.id, purposeOf(visit, what), { state, now })
  const id = credentialIdOf(text)
  const passkey = id && (await findPasskey(db, account.id, id))
  if (expected?.member !== session.member || !passkey) return false
  if (passkey.member !== session.member || passkey.affiliate_id !== session.affiliate_id)
    return false
  const counter = await verifySignIn(env, expected.challenge, text, passkey)
  // Otherwise an answer that was seen once could be sent again.
  if (counter === null || !(await useChallenge(env, expected))) return false
  try {
    await withD1Retry(() => db.batch(countSignIn(db, account.id, { ...passkey, counter }, now)))
    return true
  } catch (error) {
    if (isAssertionFailure(error)) return false
    throw error
  }
}
