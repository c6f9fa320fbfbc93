/** The contract: wrong secrets in ten minutes, per client and address, and per address. */
const WRONG_PER_CLIENT = 20
const WRONG_PER_ADDRESS = 200

/** The length of these ten minutes, in milliseconds. */
export const GUESSING_WINDOW_MS = 600_000

/** The contract: tokens an hour per client. An hour is also how long a token lives. */
const TOKENS_PER_HOUR = 60

/** A wrong secret: when, and for which client (a digest of what was said). */
export interface WrongSecret {
  readonly at: number
  readonly client: string
}

/** Those that still count at `now`. */
export const recentWrongSecrets = (wrongs: readonly WrongSecret[], now: number) =>
  wrongs.filter(({ at }) => at > now - GUESSING_WINDOW_MS)

/** Whole seconds until this client may be tried again from this address; 0: now. */
export function guessingWait(wrongs: readonly WrongSecret[], client: string, now: number): number {
  const recent = recentWrongSecrets(wrongs, now)
  const own = recent.filter((wrong) => wrong.client === client)
  const until = (list: readonly WrongSecret[], limit: number) =>
    list.length < limit ? 0 : list[list.length - limit]!.at + GUESSING_WINDOW_MS - now
  return Math.ceil(Math.max(until(own, WRONG_PER_CLIENT), until(recent, WRONG_PER_ADDRESS)) / 1000)
}

/** A token that was minted, and the version of the client's record by which it was allowed. */
export interface LiveToken {
  readonly jti: string
  readonly expiresAt: number
  readonly version: number
}

/** Those that have not expired at `now`. */
export const liveTokens = (tokens: readonly LiveToken[], now: number) =>
  tokens.filter(({ expiresAt }) => expiresAt > now)

/** Whole seconds until another token may be minted; 0: now. */
export function mintingWait(tokens: readonly LiveToken[], now: number): number {
  const live = liveTokens(tokens, now)
  if (live.length < TOKENS_PER_HOUR) return 0
  return Math.ceil((live[live.length - TOKENS_PER_HOUR]!.expiresAt - now) / 1000)
}
