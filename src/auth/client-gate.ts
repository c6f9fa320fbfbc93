import { DurableObject } from 'cloudflare:workers'
import type { Settings } from './grant.ts'

/** The contract: wrong secrets per window, per client and address, and per address. */
const WRONG_PER_CLIENT = 20
const WRONG_PER_ADDRESS = 200

/** The length of the window for wrong secrets, in milliseconds. */
export const GUESSING_WINDOW_MS = 600_000

/** The contract: tokens per hour and client. An hour is also the lifetime of a token. */
export const TOKENS_PER_HOUR = 60

/** A wrong secret: its time (milliseconds) and the digest of the `client_id` it was sent with. */
interface WrongSecret {
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
const WRONG_KEY_WINDOW_MS = 60_000

/** Returns the times of the wrong admin keys that still count at `now`. */
const recentWrongKeys = (times: readonly number[], now: number) =>
  times.filter((at) => at > now - WRONG_KEY_WINDOW_MS)

/** Returns the whole seconds until this address may send another admin key; 0 if it may now. */
function wrongKeyWait(times: readonly number[], now: number): number {
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
const unexpiredTokens = (tokens: readonly IssuedToken[], now: number) =>
  tokens.filter(({ expiresAt }) => expiresAt > now)

/** Returns the whole seconds until another token may be issued; 0 if it may now. */
export function issuingWait(tokens: readonly IssuedToken[], now: number): number {
  const oldest = unexpiredTokens(tokens, now).at(-TOKENS_PER_HOUR)
  return oldest ? Math.ceil((oldest.expiresAt - now) / 1000) : 0
}

/** The result of a request for a token: seconds to wait (0 if the token was issued) and newer settings, if any. */
interface IssueResult {
  wait: number
  settings: Settings | undefined
}

/**
 * Counts credentials and ends sessions. One class for four kinds of objects, by their names:
 * - `client:{client_id}`, an OAuth client. It lists its unexpired tokens, so that they can be revoked and
 *   their number can be limited. A token lives for an hour, so the list holds all tokens of the last hour.
 * - `address:{address}`, a client address. It lists the wrong secrets that were sent from it.
 * - `sign-in:{address}`, an address that signs in to the console. It lists the wrong admin keys.
 * - `session:{id}`, a session of the console. It stores whether the session was ended.
 *
 * Storage keys: `tokens` (IssuedToken[], at most 60), `version` (the lowest client version that
 * gets tokens), `settings` (Settings, the newest received), `wrongs` (WrongSecret[], at most 200),
 * `wrong_keys` (number[], the times of at most 5 wrong admin keys), `ended` (true once a session was
 * ended). An alarm deletes them, but not `version` and `settings`, once none of them counts.
 */
export class ClientGate extends DurableObject<Env> {
  /**
   * Lists a token before it is opened, so that it can be revoked, or returns the seconds to wait.
   * Returns null if the client has changed since it was read. Idempotent for the same token.
   */
  async mint({ jti, expiresAt, version }: IssuedToken): Promise<IssueResult | null> {
    const { kv } = this.ctx.storage
    if (version < (kv.get<number>('version') ?? 0)) return null

    const now = Date.now()
    const settings = kv.get<Settings>('settings')
    const tokens = kv.get<IssuedToken[]>('tokens') ?? []
    if (tokens.some((live) => live.jti === jti)) return { wait: 0, settings }
    const wait = issuingWait(tokens, now)
    if (wait > 0) return { wait, settings }
    kv.put('tokens', [...unexpiredTokens(tokens, now), { jti, expiresAt, version }])
    await this.ctx.storage.setAlarm(expiresAt)
    return { wait, settings }
  }

  /**
   * Applies new account settings to all live tokens. Ends the tokens that were issued under an older
   * version of the client, and issues no more for it. Idempotent.
   */
  async applySettings(version: number, settings: Settings): Promise<void> {
    const { kv } = this.ctx.storage
    kv.put('version', Math.max(version, kv.get<number>('version') ?? 0))
    const current = kv.get<Settings>('settings')
    if (!current || current.version <= settings.version) kv.put('settings', settings)
    const tokens = unexpiredTokens(kv.get<IssuedToken[]>('tokens') ?? [], Date.now())
    const active = tokens.filter(({ ended }) => !ended)
    const outdated = active.filter((token) => token.version < version)
    await Promise.all(
      active.map((token) => {
        const tokenObject = this.env.TOKEN_GATE.getByName(token.jti)
        return outdated.includes(token) ? tokenObject.end() : tokenObject.change(settings)
      }),
    )
    this.recordEnded(outdated.map(({ jti }) => jti))
  }

  /** Marks tokens as ended, so that later changes of settings do not wake their objects. */
  recordEnded(ids: readonly string[]): void {
    const { kv } = this.ctx.storage
    const tokens = kv.get<IssuedToken[]>('tokens')
    if (!tokens || ids.length === 0) return
    kv.put(
      'tokens',
      tokens.map((token) => (ids.includes(token.jti) ? { ...token, ended: true } : token)),
    )
  }

  /** Returns the seconds until this address may try the client again; 0 if it may now. */
  guessingWait(client: string): number {
    return wrongSecretWait(
      this.ctx.storage.kv.get<WrongSecret[]>('wrongs') ?? [],
      client,
      Date.now(),
    )
  }

  /** Records a wrong secret, unless the address must already wait: then returns the seconds. */
  async recordWrongSecret(client: string): Promise<number> {
    const { kv } = this.ctx.storage
    const now = Date.now()
    const wrongs = recentWrongSecrets(kv.get<WrongSecret[]>('wrongs') ?? [], now)
    const wait = wrongSecretWait(wrongs, client, now)
    if (wait > 0) return wait
    kv.put('wrongs', [...wrongs, { at: now, client }])
    await this.ctx.storage.setAlarm(now + GUESSING_WINDOW_MS)
    return 0
  }

  /**
   * Records a wrong admin key, or returns the seconds until this address may try again. A right key is
   * not recorded, but it has to wait as well: otherwise the waiting time would not slow guesses down.
   */
  async admitAdminKey(isRight: boolean): Promise<number> {
    const { kv } = this.ctx.storage
    const now = Date.now()
    const wrongs = recentWrongKeys(kv.get<number[]>('wrong_keys') ?? [], now)
    const wait = wrongKeyWait(wrongs, now)
    if (wait > 0 || isRight) return wait
    kv.put('wrong_keys', [...wrongs, now])
    await this.ctx.storage.setAlarm(now + WRONG_KEY_WINDOW_MS)
    return 0
  }

  /** Ends a session of the console. `until` is when it would have expired (milliseconds). */
  async endSession(until: number): Promise<void> {
    this.ctx.storage.kv.put('ended', true)
    await this.ctx.storage.setAlarm(until)
  }

  /** Returns whether this session of the console was ended. */
  hasEnded(): boolean {
    return this.ctx.storage.kv.get<boolean>('ended') ?? false
  }

  /** Deletes the lists. The client's version and settings are kept. */
  override alarm(): void {
    const { kv } = this.ctx.storage
    kv.delete('tokens')
    kv.delete('wrongs')
    kv.delete('wrong_keys')
    kv.delete('ended')
  }
}
