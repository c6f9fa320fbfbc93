/** How many wrong attempts an address may make in a window (milliseconds): about one thing, and in all. */
export interface AttemptLimits {
  readonly each: number
  readonly all: number
  readonly windowMs: number
}

/** The contract: wrong secrets of an OAuth client. */
export const SECRET_LIMITS: AttemptLimits = { each: 20, all: 200, windowMs: 600_000 }

/** Wrong admin keys or passkeys. */
export const SIGN_IN_LIMITS: AttemptLimits = { each: 5, all: 5, windowMs: 60_000 }

/** The contract: applications from an address of the network. */
export const APPLY_LIMITS: AttemptLimits = { each: 5, all: 5, windowMs: 3_600_000 }

/** The contract: mails to an address that strangers cause. */
export const STRANGERS_MAIL_LIMITS: AttemptLimits = { each: 3, all: 3, windowMs: 86_400_000 }

/** The contract: tokens per hour and client. An hour is also the lifetime of a token. */
export const TOKENS_PER_HOUR = 60

/** A wrong attempt: its time (milliseconds), and what it was about, such as the digest of a `client_id`. */
export interface WrongAttempt {
  readonly at: number
  readonly about: string
}

/** Returns the wrong attempts that still count at `now`. */
export const recentAttempts = (
  wrongs: readonly WrongAttempt[],
  { windowMs }: AttemptLimits,
  now: number,
) => wrongs.filter(({ at }) => at > now - windowMs)

/**
 * Returns the whole seconds until the `limit`-th most recent of some times, oldest first, leaves a window; 0 if there is
 * none or it has left. All times are in milliseconds.
 */
function waitFor(times: readonly number[], limit: number, windowMs: number, now: number): number {
  const oldest = times.at(-limit)
  return oldest === undefined ? 0 : Math.max(0, Math.ceil((oldest + windowMs - now) / 1000))
}

/** Returns the whole seconds until this address may make another attempt; 0 if it may now. */
export function attemptWait(
  wrongs: readonly WrongAttempt[],
  about: string,
  { each, all, windowMs }: AttemptLimits,
  now: number,
): number {
  const timesOf = (some: readonly WrongAttempt[]) => some.map(({ at }) => at)
  const own = wrongs.filter((wrong) => wrong.about === about)
  return Math.max(
    waitFor(timesOf(own), each, windowMs, now),
    waitFor(timesOf(wrongs), all, windowMs, now),
  )
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
export const issuingWait = (tokens: readonly IssuedToken[], now: number): number =>
  waitFor(
    tokens.map(({ expiresAt }) => expiresAt),
    TOKENS_PER_HOUR,
    0,
    now,
  )
