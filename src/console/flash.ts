import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { readCookie, writeCookie } from './cookie.ts'

const NAME = 'tributary_done'

/** How long the message waits for the next page, in seconds. */
const MAX_AGE = 60

/** Keeps the message of a change for the next page. */
export function setFlash(c: Context<AppEnv>, message: string): void {
  writeCookie(c, NAME, encodeURIComponent(message), MAX_AGE)
}

/** Returns the message of the last change, once; null if there is none. */
export function takeFlash(c: Context<AppEnv>): string | null {
  const message = readCookie(c, NAME)
  if (message === null) return null
  writeCookie(c, NAME, '', 0)
  try {
    return decodeURIComponent(message)
  } catch {
    return null
  }
}
