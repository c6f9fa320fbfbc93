import { DurableObject } from 'cloudflare:workers'
import { decide, PAUSE_MS, type Rate, recover, settle, UNUSED } from './rate.ts'

/** What a live token stands for: whose it is, what it may do, and how its records are judged. */
export interface Grant {
  account: string
  client_id: string
  name: string
  vertical: string
  mode: string
  time_zone: string
  /** The D1 binding that keeps the account's records. */
  binding: string
  unknown_customer: 'reject' | 'hold'
  unknown_affiliate: 'warn' | 'reject'
  /** A subset of `read write`, in that order. */
  scope: string
}

/** A live token's grant, and what its rate allows; all counts as the contract's headers say them. */
export interface Admission {
  grant: Grant
  retryAfter: number
  remaining: number
  reset: number
}

/**
 * One object per access token, named by the token's `jti`. It holds what only one place can hold:
 * whether the token is alive, and when it was used. An alarm forgets both when the token expires.
 *
 * Storage keys: `grant` (Grant, written once), `ended` (true, from revocation on), `rate` (Rate:
 * at most one row for 25 requests and two for each pause). An object is evicted when idle for
 * 10 s; by then its lease is closed, so nothing is lost. After a crash an open lease counts as
 * spent: up to 25 requests that were not made.
 */
export class TokenGate extends DurableObject<Env> {
  #rate: Rate | undefined
  #closing = false

  /** Lets the token live until then (milliseconds), unless it has been ended already. */
  async open(grant: Grant, expiresAt: number): Promise<void> {
    if (this.ctx.storage.kv.get('ended')) return
    this.ctx.storage.kv.put('grant', grant)
    await this.ctx.storage.setAlarm(expiresAt)
  }

  /** Ends the token; it stays ended even if `open` arrives later. */
  async end(expiresAt: number): Promise<void> {
    this.ctx.storage.kv.put('ended', true)
    await this.ctx.storage.setAlarm(expiresAt)
  }

  /** Counts one request, or refuses it; null when there is no such token, or no longer. */
  admit(): Admission | null {
    const { kv } = this.ctx.storage
    const grant = kv.get<Grant>('grant')
    if (!grant || kv.get('ended')) return null

    const now = Date.now()
    this.#rate ??= recover(kv.get<Rate>('rate') ?? UNUSED, now)
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
  #closeLater(wait = PAUSE_MS) {
    if (this.#closing) return
    this.#closing = true
    setTimeout(() => {
      this.#closing = false
      const rate = this.#rate
      if (!rate || rate.lease === 0) return
      const rest = rate.times.at(-1)! + PAUSE_MS - Date.now()
      if (rest > 0) return this.#closeLater(rest)
      this.#rate = settle(rate)
      this.ctx.storage.kv.put('rate', this.#rate)
    }, wait)
  }
}
