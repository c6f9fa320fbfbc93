import { DurableObject } from 'cloudflare:workers'
import {
  type AttemptLimits,
  attemptWait,
  type IssuedToken,
  issuingWait,
  recentAttempts,
  unexpiredTokens,
  type WrongAttempt,
} from './client-limits.ts'
import type { Settings } from './grant.ts'

/** The result of a request for a token: seconds to wait (0 if the token was issued) and newer settings, if any. */
export interface IssueResult {
  wait: number
  settings: Settings | undefined
}

/**
 * Counts credentials and ends sessions. One class for nine kinds of objects, by their names:
 * - `client:{client_id}`, an OAuth client. It lists its unexpired tokens, so that they can be revoked and
 *   their number can be limited. A token lives for an hour, so the list holds all tokens of the last hour.
 * - `address:{address}`, a client address. It lists the wrong secrets that were sent from it.
 * - `sign-in:{address}`, `portal:{address}`: an address that signs in to the console or to a portal. It lists the
 *   wrong admin keys, or passkeys.
 * - `apply:{address}`, an address that applies to become an affiliate, and `mail:{digest}`, an e-mail address to which
 *   strangers have mails sent. Each lists these as wrong attempts.
 * - `sign-ins:[account, affiliate]`: the sign-ins of an affiliate of the last hour, listed like tokens.
 * - `session:{id}`, a session of the console. It stores whether the session was ended.
 * - `challenge:{challenge}`, a challenge of the portal. It stores whether it was answered.
 *
 * Storage keys: `tokens` (IssuedToken[], at most 60), `version` (the lowest client version that
 * gets tokens), `settings` (Settings, the newest received), `wrongs` (WrongAttempt[], at most 200),
 * `ended` (true once a session was ended or a challenge answered). An alarm deletes them, but not
 * `version` and `settings`, once none of them counts.
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

  /**
   * Returns the seconds until this address may make another attempt; 0 if it may now, and a wrong one is then noted. A
   * right one has to wait as well: otherwise the waiting time would not slow guesses down.
   */
  async attempt(limits: AttemptLimits, about: string, isWrong: boolean): Promise<number> {
    const { kv } = this.ctx.storage
    const now = Date.now()
    const wrongs = recentAttempts(kv.get<WrongAttempt[]>('wrongs') ?? [], limits, now)
    const wait = attemptWait(wrongs, about, limits, now)
    if (wait > 0 || !isWrong) return wait
    kv.put('wrongs', [...wrongs, { at: now, about }])
    await this.ctx.storage.setAlarm(now + limits.windowMs)
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

  /**
   * Returns whether a challenge of the portal is answered for the first time, and marks it until it expires
   * (milliseconds).
   */
  async useOnce(until: number): Promise<boolean> {
    const { kv } = this.ctx.storage
    if (kv.get<boolean>('ended')) return false
    kv.put('ended', true)
    await this.ctx.storage.setAlarm(until)
    return true
  }

  /** Deletes the lists. The client's version and settings are kept. */
  override alarm(): void {
    const { kv } = this.ctx.storage
    kv.delete('tokens')
    kv.delete('wrongs')
    kv.delete('ended')
  }
}
