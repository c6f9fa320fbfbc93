import { DurableObject } from 'cloudflare:workers'
import {
  GUESSING_WINDOW_MS,
  guessingWait,
  type LiveToken,
  liveTokens,
  mintingWait,
  recentWrongSecrets,
  type WrongSecret,
} from './client-limits.ts'
import type { Settings } from './grant.ts'

/** How long to wait, and what was told of the account meanwhile, if anything was. */
export interface Minted {
  wait: number
  settings: Settings | undefined
}

/**
 * One object per OAuth client, named `client:{client_id}`: its live tokens, so that they can be
 * ended, and how many were minted in the last hour, which is the same list. And one per address,
 * named `address:{address}`: the wrong secrets that came from there.
 *
 * Storage keys: `tokens` (Live[], at most 60), `version` (the oldest that may still mint),
 * `settings` (Settings, the newest that it was told), `wrongs` (Wrong[], at most 200). An alarm
 * forgets tokens and wrongs when none of them counts any more.
 */
export class ClientGate extends DurableObject<Env> {
  /**
   * Lists a token that is about to be opened, so that it can be ended, or says how many seconds to
   * wait; null where the client has changed. Asked again for the same token it says the same.
   */
  async mint({ jti, expiresAt, version }: LiveToken): Promise<Minted | null> {
    const { kv } = this.ctx.storage
    if (version < (kv.get<number>('version') ?? 0)) return null

    const now = Date.now()
    const settings = kv.get<Settings>('settings')
    const tokens = kv.get<LiveToken[]>('tokens') ?? []
    if (tokens.some((live) => live.jti === jti)) return { wait: 0, settings }
    const wait = mintingWait(tokens, now)
    if (wait > 0) return { wait, settings }
    kv.put('tokens', [...liveTokens(tokens, now), { jti, expiresAt, version }])
    await this.ctx.storage.setAlarm(expiresAt)
    return { wait, settings }
  }

  /**
   * Tells all live tokens what has become of their account; those that an older version of the
   * client's record allowed are ended, and none such is minted any more. Told again it does no more.
   */
  async applySettings(version: number, settings: Settings): Promise<void> {
    const { kv } = this.ctx.storage
    kv.put('version', Math.max(version, kv.get<number>('version') ?? 0))
    const known = kv.get<Settings>('settings')
    if (!known || known.version <= settings.version) kv.put('settings', settings)
    const tokens = liveTokens(kv.get<LiveToken[]>('tokens') ?? [], Date.now())
    await Promise.all(
      tokens.map(({ jti, version: allowed }) => {
        const gate = this.env.TOKEN_GATE.getByName(jti)
        return allowed < version ? gate.end() : gate.change(settings)
      }),
    )
  }

  /** Seconds until this client may be tried again from this address; 0: now. */
  guessingWait(client: string): number {
    return guessingWait(this.ctx.storage.kv.get<WrongSecret[]>('wrongs') ?? [], client, Date.now())
  }

  /** Counts a wrong secret; the seconds to wait are those before it, so the 21st is told to wait. */
  async recordWrongSecret(client: string): Promise<number> {
    const { kv } = this.ctx.storage
    const now = Date.now()
    const wrongs = recentWrongSecrets(kv.get<WrongSecret[]>('wrongs') ?? [], now)
    const wait = guessingWait(wrongs, client, now)
    if (wait > 0) return wait
    kv.put('wrongs', [...wrongs, { at: now, client }])
    await this.ctx.storage.setAlarm(now + GUESSING_WINDOW_MS)
    return 0
  }

  /** Forgets what no longer counts; a client's oldest allowed version and its settings are kept. */
  override alarm(): void {
    const { kv } = this.ctx.storage
    kv.delete('tokens')
    kv.delete('wrongs')
  }
}
