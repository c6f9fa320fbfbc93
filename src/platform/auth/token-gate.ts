import { DurableObject } from 'cloudflare:workers'
import { DAY_MS } from '../durations.ts'
import type { Grant, Settings } from './grant.ts'
import {
  type Decision,
  decide,
  INITIAL_RATE,
  LEASE_IDLE_MS,
  type RateState,
  recover,
  settle,
} from './rate.ts'

/** The values of the rate limit headers of a request. */
type Limits = Pick<Decision, 'retryAfter' | 'remaining' | 'reset'>

/** The grant of a live token, and the values of its rate limit headers. */
export interface Admission extends Limits {
  grant: Grant
}

/** Returns the name of a Brand Token's object. The object of an access token is named by its `jti`. */
export const brandTokenObjectName = (digest: string) => `brand:${digest}`

/** Returns the name of the object of an affiliate's key. */
export const affiliateKeyObjectName = (digest: string) => `affiliate:${digest}`

/**
 * How long an object remembers an ended token, so that a late `open` cannot revive it, and the settings of
 * a token that is not opened yet.
 */
const REMEMBERED_MS = 8 * DAY_MS

/**
 * The object of one access token, Brand Token, key or session of an affiliate: whether it is live, its grant, and its
 * rate. That of an affiliate, `affiliate [account, id]`, only counts what all their keys and sessions send.
 *
 * Storage keys: `grant` (Grant), `settings` (Settings, the newest received), `until` (milliseconds;
 * absent if the token does not expire), `ended` (true once revoked), `rate` (RateState; written at
 * every 26th request, and 5 s after the last one). An alarm deletes everything after the token's end.
 * An idle object is evicted after 10 s; its lease is closed by then, so no count is lost. After a
 * crash, up to 25 requests that were never made are counted.
 */
export class TokenGate extends DurableObject<Env> {
  #rate: RateState | undefined
  #closing = false

  /**
   * Makes the token live until `until` (milliseconds), or without expiry if that is null. Does
   * nothing if the token was ended. A repeated call keeps the newer grant.
   */
  async open(grant: Grant, until: number | null): Promise<void> {
    const { kv } = this.ctx.storage
    if (kv.get('ended')) return
    const current = kv.get<Grant>('grant')
    if (current && current.version > grant.version) return
    kv.put('grant', { ...grant, ...newer(grant, kv.get<Settings>('settings')) })
    if (until === null) return
    kv.put('until', until)
    await this.ctx.storage.setAlarm(until)
  }

  /** Applies newer settings to the grant, or keeps them until the token is opened. */
  async change(settings: Settings): Promise<void> {
    const { kv } = this.ctx.storage
    if (newer(settings, kv.get<Settings>('settings')) !== settings) return
    kv.put('settings', settings)
    const grant = kv.get<Grant>('grant')
    if (grant) kv.put('grant', { ...grant, ...newer(grant, settings) })
    else await this.ctx.storage.setAlarm(Date.now() + REMEMBERED_MS)
  }

  /** Ends the token. It stays ended even if `open` is called later. */
  async end(): Promise<void> {
    this.ctx.storage.kv.put('ended', true)
    await this.ctx.storage.setAlarm(Date.now() + REMEMBERED_MS)
  }

  /** Counts a request or refuses it. Returns null if the token is not live. */
  admit(): Admission | null {
    const { kv } = this.ctx.storage
    const grant = kv.get<Grant>('grant')
    const now = Date.now()
    if (!grant || grant.disabled || kv.get('ended')) return null
    if (now >= (kv.get<number>('until') ?? Number.POSITIVE_INFINITY)) return null
    return { grant, ...this.count() }
  }

  /** Counts a request or refuses it. */
  count(): Limits {
    const { kv } = this.ctx.storage
    const now = Date.now()
    const { rate, write, ...limits } = decide(this.#rate ?? this.#load(now), now)
    this.#rate = rate
    if (write) kv.put('rate', rate)
    if (limits.retryAfter === 0) this.#closeLater()
    return limits
  }

  /** Reads the stored rate. Stores the recovered state, so that recovery runs once. */
  #load(now: number): RateState {
    const { kv } = this.ctx.storage
    const stored = kv.get<RateState>('rate') ?? INITIAL_RATE
    const rate = recover(stored, now)
    if (stored.lease > 0) kv.put('rate', rate)
    return rate
  }

  /** Deletes the token. */
  override async alarm(): Promise<void> {
    this.#rate = undefined
    await this.ctx.storage.deleteAll()
  }

  /** Closes the lease once the token has been idle for `LEASE_IDLE_MS`. */
  #closeLater(wait = LEASE_IDLE_MS) {
    if (this.#closing) return
    this.#closing = true
    setTimeout(() => {
      this.#closing = false
      const rate = this.#rate
      const last = rate?.times.at(-1)
      if (!rate || last === undefined || rate.lease === 0) return
      const rest = last + LEASE_IDLE_MS - Date.now()
      if (rest > 0) return this.#closeLater(rest)
      this.#rate = settle(rate)
      this.ctx.storage.kv.put('rate', this.#rate)
    }, wait)
  }
}

/** Returns the newer of two versions of an account's settings. */
function newer<S extends Settings>(settings: S, others: Settings | undefined): S | Settings {
  return others && others.version > settings.version ? others : settings
}
