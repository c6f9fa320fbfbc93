import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import type { AppEnv } from '../auth/authorize.ts'
import { decryptText, encryptText } from '../auth/encrypt.ts'
import { signingMacs } from '../auth/sign-text.ts'
import { writeSessionCookie } from './session-cookie.ts'

// What a page shows once after a change, such as its message or a new secret. The response to the form is a
// redirect, so that a reload does not repeat the change; a cookie takes the text to the next page. It is
// encrypted: a secret is then neither in the store of cookies nor in what programs record of requests.

/** Where a text is shown: the name of its cookie, and the session that it is for. */
interface Place {
  readonly cookie: string
  // Another site of the same domain, which can set cookies, could otherwise show members a text of its own.
  readonly session: string
}

/** How long a text waits for the next page, in seconds. */
const MAX_AGE = 60

const useOf = ({ cookie, session }: Place) => ({
  purpose: 'encrypt what is shown once',
  context: JSON.stringify([cookie, session]),
})

/** Keeps a text for the next page of a session. */
export async function showOnce(c: Context<AppEnv>, place: Place, text: string) {
  const [key] = await signingMacs(c.env)
  writeSessionCookie(c, place.cookie, await encryptText(key, useOf(place), text), MAX_AGE)
}

/** Returns and deletes the text for the next page of a session; null if there is none. */
export async function takeShownOnce(c: Context<AppEnv>, place: Place): Promise<string | null> {
  // A script that reads a part of a page would otherwise take the text away from the page.
  if ((c.req.header('Sec-Fetch-Mode') ?? 'navigate') !== 'navigate') return null
  const encrypted = getCookie(c, place.cookie)
  if (encrypted === undefined) return null
  writeSessionCookie(c, place.cookie, '', 0)
  return decryptText(await signingMacs(c.env), useOf(place), encrypted)
}
