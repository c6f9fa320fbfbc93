/** The contract: wrong secrets per window, per client and address, and per address. */
const WRONG_PER_CLIENT = 20
const WRONG_PER_ADDRESS = 200

/** The length of the window for wrong secrets, in milliseconds. */
export const GUESSING_WINDOW_MS = 600_000

/** The contract: tokens per hour and client. An hour is also the lifetime of a token. */
export const TOKENS_PER_HOUR = 60

/** A wrong secret: its time (milliseconds) and the digest of the `client_id` it was sent with. */
export interface WrongSecret {
  readonly at: number
  readonly client: string
}

/** Returns the wrong secrets that still count at `now`. */
export const recentWrongSecrets = (wrongs: readonly WrongSecret[], now: number) =>
  wrongs.filter(({ at }) => at > now - GUESSING_WINDOW_MS)

/** Returns the whole seconds until this address may try the client again; 0 if it may now. */
export function wrongSecretWait(
  wrongs: readonly WrongSecret[],
  client: string,
  now: number,
): number {
  const recent = recentWrongSecrets(wrongs, now)
  const ofClient = recent.filter((wrong) => wrong.client === client)
  // Another try is allowed when the `limit`-th most recent entry leaves the window.
  const waitFor = (list: readonly WrongSecret[], limit: number) => {
    const oldest = list.at(-limit)
    return oldest ? oldest.at + GUESSING_WINDOW_MS - now : 0
  }
  const wait = Math.max(waitFor(ofClient, WRONG_PER_CLIENT), waitFor(recent, WRONG_PER_ADDRESS))
  return Math.ceil(wait / 1000)
}

/** How many wrong admin keys an address may send to the console in a window. */
const WRONG_KEYS_PER_ADDRESS = 5

/** The length of the window for wrong admin keys, in milliseconds. */
export const WRONG_KEY_WINDOW_MS = 60_000

/** Returns the times of the wrong admin keys that still count at `now`. */
export const recentWrongKeys = (times: readonly number[], now: number) =>
  times.filter((at) => at > now - WRONG_KEY_WINDOW_MS)

/** Returns the whole seconds until this address may send another admin key; 0 if it may now. */
export function wrongKeyWait(times: readonly number[], now: number): number {
  const oldest = recentWrongKeys(times, now).at(-WRONG_KEYS_PER_ADDRESS)
  return oldest === undefined ? 0 : Math.ceil((oldest + WRONG_KEY_WINDOW_MS - now) / 1000)
}

/** An issued token: its expiry (milliseconds) and the version of the client that it was issued for. */
export interface IssuedToken {
  readonly jti: string
  readonly expiresAt: number
  readonly version: number
  /** Whether it was ended before its expiry; it still counts as issued. */
  readonly ended?: true
}

/** Returns the tokens that have not expired at `now`. */
export const unexpiredTokens = (tokens: readonly IssuedToken[], now: number) =>
  tokens.filter(({ expiresAt }) => expiresAt > now)

/** Returns the whole seconds until another token may be issued; 0 if it may now. */
export function issuingWait(tokens: readonly IssuedToken[], now: number): number {
  const oldest = unexpiredTokens(tokens, now).at(-TOKENS_PER_HOUR)
  return oldest ? Math.ceil((oldest.expiresAt - now) / 1000) : 0
}
