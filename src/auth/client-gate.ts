import { DurableObject } from 'cloudflare:workers'
import {
  type Live,
  mintingWait,
  recentWrongs,
  stillLive,
  WRONG_WINDOW_MS,
  type Wrong,
  waitOf,
} from './limits.ts'

/** A token to be, and the version of the client's record by which it was allowed. */
export interface Minting extends Live {
  version: number
}

/**
 * One object per OAuth client, named `client:{client_id}`: its live tokens, so that they can be
 * ended, and how many were minted in the last hour, which is the same list. And one per address,
 * named `address:{address}`: the wrong secrets that came from there.
 *
 * Storage keys: `tokens` (Live[], at most 60), `version` (the oldest that may still mint),
 * `wrongs` (Wrong[], at most 200). An alarm forgets the object when nothing in it counts any more.
 */
export class ClientGate extends DurableObject<Env> {
  /**
   * Lists a token that is about to be opened, so that it can be ended, or says how many seconds to
   * wait; null where the client has changed. Asked again for the same token it says the same.
   */
  async mint({ jti, expiresAt, version }: Minting): Promise<number | null> {
    const { kv } = this.ctx.storage
    if (version < (kv.get<number>('version') ?? 0)) return null

    const now = Date.now()
    const tokens = kv.get<Live[]>('tokens') ?? []
    if (tokens.some((live) => live.jti === jti)) return 0
    const wait = mintingWait(tokens, now)
    if (wait > 0) return wait
    kv.put('tokens', [...stillLive(tokens, now), { jti, expiresAt }])
    await this.ctx.storage.setAlarm(expiresAt)
    return 0
  }

  /** Ends all live tokens, and those that an older version of the client's record would allow. */
  async end(version: number): Promise<void> {
    const { kv } = this.ctx.storage
    kv.put('version', Math.max(version, kv.get<number>('version') ?? 0))
    const tokens = stillLive(kv.get<Live[]>('tokens') ?? [], Date.now())
    await Promise.all(
      tokens.map(({ jti, expiresAt }) => this.env.TOKEN_GATE.getByName(jti).end(expiresAt)),
    )
  }

  /** Seconds until this client may be tried again from this address; 0: now. */
  wait(client: string): number {
    return waitOf(this.ctx.storage.kv.get<Wrong[]>('wrongs') ?? [], client, Date.now())
  }

  /** Counts a wrong secret; the seconds to wait are those before it, so the 21st is told to wait. */
  async wrong(client: string): Promise<number> {
    const { kv } = this.ctx.storage
    const now = Date.now()
    const wrongs = recentWrongs(kv.get<Wrong[]>('wrongs') ?? [], now)
    const wait = waitOf(wrongs, client, now)
    if (wait > 0) return wait
    kv.put('wrongs', [...wrongs, { at: now, client }])
    await this.ctx.storage.setAlarm(now + WRONG_WINDOW_MS)
    return 0
  }

  /** Forgets what no longer counts; the oldest allowed version of a client is kept. */
  override alarm(): void {
    const { kv } = this.ctx.storage
    kv.delete('tokens')
    kv.delete('wrongs')
  }
}
