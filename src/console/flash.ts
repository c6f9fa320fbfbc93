import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { signText, verifyText } from '../http/sign-text.ts'
import { readCookie, writeCookie } from './cookie.ts'
import type { Session } from './session.ts'

const NAME = 'tributary_done'

/** How long the message is kept for the next page, in seconds. */
const MAX_AGE = 60

// The message is signed for its session. Otherwise another site of the same domain, which can set cookies,
// could show members a message of its own.
const contextOf = ({ id }: Session) => `console message ${id}`

/** Keeps the message of a change for the next page of the session. */
export async function setFlash(
  c: Context<AppEnv>,
  session: Session,
  message: string,
): Promise<void> {
  writeCookie(c, NAME, await signText(c.env, contextOf(session), message), MAX_AGE)
}

/** Returns and deletes the message of the last change of the session; null if there is none. */
export async function takeFlash(c: Context<AppEnv>, session: Session): Promise<string | null> {
  const signed = readCookie(c, NAME)
  if (signed === null) return null
  writeCookie(c, NAME, '', 0)
  return verifyText(c.env, contextOf(session), signed)
}
