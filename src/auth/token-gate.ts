import { DurableObject } from 'cloudflare:workers'
import type { Grant, Settings } from './grant.ts'
import { decide, INITIAL_RATE, LEASE_IDLE_MS, type RateState, recover, settle } from './rate.ts'

/** A live token's grant, and what its rate allows; all counts as the contract's headers say them. */
export interface Admission {
  grant: Grant
  retryAfter: number
  remaining: number
  reset: number
}

/** The object of a Brand Token is named by its digest; that of an access token by its `jti`. */
export const brandTokenObjectName = (digest: string) => `brand:${digest}`

/** For so long an ended token is remembered as such: whatever is late to open it finds it ended. */
const ENDED_KEPT_MS = 8 * 24 * 60 * 60 * 1000

/**
 * One object per token, of partners and brands. It holds what only one place can hold: whether the
 * token is alive, what it stands for, and when it was used.
 *
 * Storage keys: `grant` (Grant), `settings` (Settings, the newest that it was told), `until`
 * (milliseconds, where the token ends by itself), `ended` (true, from revocation on), `rate` (Rate:
 * at most one row for 25 requests and two for each pause). An alarm forgets all of it some time
 * after the token's end. An object is evicted when idle for 10 s; by then its lease is closed, so
 * nothing is lost. After a crash an open lease counts as spent: up to 25 requests that were not made.
 */
export class TokenGate extends DurableObject<Env> {
  #rate: RateState | undefined
  #closing = false

  /**
   * Lets the token live, until then (milliseconds) if it is said, unless it has been ended already.
   * Opened again it takes what is newer.
   */
  async open(grant: Grant, until: number | null): Promise<void> {
    const { kv } = this.ctx.storage
    if (kv.get('ended')) return
    const older = kv.get<Grant>('grant')
    if (older && older.version > grant.version) return
    kv.put('grant', { ...grant, ...newer(grant, kv.get<Settings>('settings')) })
    if (until === null) return
    kv.put('until', until)
    await this.ctx.storage.setAlarm(until)
  }

  /** Changes what the token stands for, now or, where that comes later, as soon as it is opened. */
  async change(settings: Settings): Promise<void> {
    const { kv } = this.ctx.storage
    if (newer(settings, kv.get<Settings>('settings')) !== settings) return
    kv.put('settings', settings)
    const grant = kv.get<Grant>('grant')
    if (grant) kv.put('grant', { ...grant, ...newer(grant, settings) })
    else await this.ctx.storage.setAlarm(Date.now() + ENDED_KEPT_MS)
  }

  /** Ends the token; it stays ended even if `open` arrives later. */
  async end(): Promise<void> {
    this.ctx.storage.kv.put('ended', true)
    await this.ctx.storage.setAlarm(Date.now() + ENDED_KEPT_MS)
  }

  /** Counts one request, or refuses it; null when there is no such token, or no longer. */
  admit(): Admission | null {
    const { kv } = this.ctx.storage
    const grant = kv.get<Grant>('grant')
    const now = Date.now()
    if (!grant || grant.disabled || kv.get('ended')) return null
    if (now >= (kv.get<number>('until') ?? Number.POSITIVE_INFINITY)) return null

    this.#rate ??= recover(kv.get<RateState>('rate') ?? INITIAL_RATE, now)
    const { rate, write, ...told } = decide(this.#rate, now)
    this.#rate = rate
    if (write) kv.put('rate', rate)
    if (told.retryAfter === 0) this.#closeLater()
    return { grant, ...told }
  }

  /** Forgets the token. */
  override async alarm(): Promise<void> {
    this.#rate = undefined
    await this.ctx.storage.deleteAll()
  }

  /** Closes the lease as soon as nothing has come for the length of a pause. */
  #closeLater(wait = LEASE_IDLE_MS) {
    if (this.#closing) return
    this.#closing = true
    setTimeout(() => {
      this.#closing = false
      const rate = this.#rate
      if (!rate || rate.lease === 0) return
      const rest = rate.times.at(-1)! + LEASE_IDLE_MS - Date.now()
      if (rest > 0) return this.#closeLater(rest)
      this.#rate = settle(rate)
      this.ctx.storage.kv.put('rate', this.#rate)
    }, wait)
  }
}

/** The newer of two versions of an account's settings. */
function newer<S extends Settings>(settings: S, others: Settings | undefined): S | Settings {
  return others && others.version > settings.version ? others : settings
}
