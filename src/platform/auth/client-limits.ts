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

/**
 * Returns the whole seconds until the `limit`-th most recent of some times, oldest first, leaves a window; 0 if there is
 * none or it has left. All times are in milliseconds.
 */
function waitFor(times: readonly number[], limit: number, windowMs: number, now: number): number {
  const oldest = times.at(-limit)
  return oldest === undefined ? 0 : Math.max(0, Math.ceil((oldest + windowMs - now) / 1000))
}

const timesOf = (wrongs: readonly WrongSecret[]) => wrongs.map(({ at }) => at)

/** Returns the whole seconds until this address may try the client again; 0 if it may now. */
export function wrongSecretWait(
  wrongs: readonly WrongSecret[],
  client: string,
  now: number,
): number {
  const ofClient = wrongs.filter((wrong) => wrong.client === client)
  return Math.max(
    waitFor(timesOf(ofClient), WRONG_PER_CLIENT, GUESSING_WINDOW_MS, now),
    waitFor(timesOf(wrongs), WRONG_PER_ADDRESS, GUESSING_WINDOW_MS, now),
  )
}

/** How many wrong admin keys an address may send to the console in a window. */
const WRONG_KEYS_PER_ADDRESS = 5

/** The length of the window for wrong admin keys, in milliseconds. */
export const WRONG_KEY_WINDOW_MS = 60_000

/** Returns the times of the wrong admin keys that still count at `now`. */
export const recentWrongKeys = (times: readonly number[], now: number) =>
  times.filter((at) => at > now - WRONG_KEY_WINDOW_MS)

/** Returns the whole seconds until this address may send another admin key; 0 if it may now. */
export const wrongKeyWait = (times: readonly number[], now: number): number =>
  waitFor(times, WRONG_KEYS_PER_ADDRESS, WRONG_KEY_WINDOW_MS, now)

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
export const issuingWait = (tokens: readonly IssuedToken[], now: number): number =>
  waitFor(
    tokens.map(({ expiresAt }) => expiresAt),
    TOKENS_PER_HOUR,
    0,
    now,
  )
