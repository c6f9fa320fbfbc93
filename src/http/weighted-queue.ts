import type { ApiError } from '../errors.ts'
import { busy, manyWaiting } from './body-errors.ts'

/** How long a request waits in a queue before it is refused, unless the claim sets `waitMs`, in milliseconds. */
const DEFAULT_WAIT_MS = 20_000

/** The time between two checks of the first waiting request for its lease; others check less often. */
const FIRST_CHECK_MS = 5
const MAX_CHECK_MS = 100

/** How many requests with `isWaitLimited` of an account may wait: the guide advises four parallel requests. */
export const MAX_LIMITED_WAITERS = 4

/** A request that has not checked for this long was ended by the runtime and gets no lease. In milliseconds. */
const GONE_MS = 5000
/** How long a granted lease is kept for the request that waited for it, in milliseconds. */
const CLAIM_MS = 2000

/** What a request asks of a queue. */
export interface Claim {
  /** In the unit of the queue's budget. */
  weight: number
  account: string
  /** Whether at most `MAX_LIMITED_WAITERS` such requests of an account may wait. */
  isWaitLimited: boolean
  /** Returns the error for a request that waited too long or may not wait; by default `busy` or `manyWaiting`. */
  refusal?: () => ApiError
  /** How long the request waits before it is refused, in milliseconds; if absent, 20 seconds. */
  waitMs?: number
}

/** A share of a queue's budget. */
export interface Lease {
  readonly account: string
  /** In the unit of the queue's budget. */
  readonly weight: number
  /** The time from which the lease may be revoked for a waiting request, in milliseconds. */
  until: number
}

interface Waiter extends Claim {
  waitMs: number
  /** The round in which it gets a lease. Each account has one request in each round. */
  round: number
  since: number
  seenAt: number
  lease: Lease | null
}

/**
 * A budget that requests share, such as bytes of memory. Leases are granted in rounds: to the first
 * waiting request of each account, then to the second of each, and so on; within a round in the order of
 * arrival. An account is skipped while its leases would exceed `accountLimit`. A single lease may exceed it.
 *
 * Requests share numbers and no promises: the runtime forbids a request to settle a promise of
 * another, and may end a request at any time without running its `finally`. So a lease has a
 * deadline, and each waiting request checks repeatedly whether it was granted one.
 */
export class WeightedQueue {
  readonly limit: number
  readonly #accountLimit: number
  readonly #leases = new Set<Lease & { weight: number }>()
  #used = 0
  /** In the order in which they are served. */
  #waiters: Waiter[] = []
  /** The round of the last waiting request that got a lease. */
  #round = 0

  constructor(limit: number, accountLimit = limit) {
    this.limit = limit
    this.#accountLimit = accountLimit
  }

  /** How much of the budget is leased. */
  get used(): number {
    return this.#used
  }

  /** Returns a lease if there is room and no request waits; otherwise null. */
  tryTake(weight: number, account: string, until: number): Lease | null {
    if (this.#waiters.length > 0) return null
    const claim = { weight, account }
    if (!this.#fits(claim)) this.#revokeExpired()
    return this.#fits(claim) ? this.#lease(weight, account, until) : null
  }

  /**
   * Waits for a lease. It is valid for two seconds unless the caller extends it.
   *
   * @throws ApiError `unavailable` after the claim's wait, or at once if too many requests of
   * the account with `isWaitLimited` wait.
   */
  async take(claim: Claim): Promise<Lease> {
    const mayWait = !claim.isWaitLimited || !this.#hasManyWaiters(claim.account)
    if (!mayWait) throw claim.refusal?.() ?? manyWaiting(MAX_LIMITED_WAITERS)
    const now = Date.now()
    const waiter: Waiter = {
      waitMs: DEFAULT_WAIT_MS,
      ...claim,
      weight: Math.min(claim.weight, this.limit),
      round: this.#nextRound(claim.account),
      since: now,
      seenAt: now,
      lease: null,
    }
    this.#waiters.push(waiter)
    this.#waiters.sort((a, b) => a.round - b.round)
    try {
      for (;;) {
        this.#grant()
        if (waiter.lease && this.isReserved(waiter.lease)) return waiter.lease
        if (Date.now() - waiter.since >= waiter.waitMs) throw (claim.refusal ?? busy)()
        await scheduler.wait(this.#checkMs(waiter))
        waiter.seenAt = Date.now()
      }
    } finally {
      this.#waiters = this.#waiters.filter((other) => other !== waiter)
    }
  }

  /** Returns the round after those of the account's waiting requests, but at least the current one. */
  #nextRound(account: string) {
    const others = this.#waiters.filter((other) => other.account === account && !other.lease)
    return Math.max(this.#round, ...others.map(({ round }) => round + 1))
  }

  #checkMs(waiter: Waiter) {
    return Math.min(FIRST_CHECK_MS * (1 + this.#waiters.indexOf(waiter)), MAX_CHECK_MS)
  }

  /** Returns whether a lease has been neither released nor revoked. */
  isReserved(lease: Lease): boolean {
    return this.#leases.has(lease)
  }

  /** Releases what a lease holds beyond `weight`. */
  shrink(lease: Lease, weight: number): void {
    if (!this.isReserved(lease) || weight >= lease.weight) return
    this.#used -= lease.weight - weight
    Object.assign(lease, { weight })
    this.#grant()
  }

  /** Releases a lease. Requests that now have room find their lease at their next check. */
  release(lease: Lease): void {
    if (this.#remove(lease)) this.#grant()
  }

  #lease(weight: number, account: string, until: number): Lease {
    const lease = { weight, account, until }
    this.#leases.add(lease)
    this.#used += weight
    return lease
  }

  #remove(lease: Lease): boolean {
    const wasReserved = this.#leases.delete(lease)
    if (wasReserved) this.#used -= lease.weight
    return wasReserved
  }

  /** Grants leases in order, until there is no room for the next request. */
  #grant() {
    const now = Date.now()
    this.#waiters = this.#waiters.filter(({ since, waitMs }) => now - since <= waitMs + GONE_MS)
    for (const waiter of this.#waiters) {
      if (isGone(waiter) || (waiter.lease && this.isReserved(waiter.lease))) continue
      if (!this.#fits(waiter)) this.#revokeExpired()
      if (!this.#fitsAccount(waiter)) continue
      if (this.#used + waiter.weight > this.limit) return
      this.#round = Math.max(this.#round, waiter.round)
      waiter.lease = this.#lease(waiter.weight, waiter.account, now + CLAIM_MS)
    }
  }

  #fits(claim: Pick<Claim, 'weight' | 'account'>) {
    return this.#used + claim.weight <= this.limit && this.#fitsAccount(claim)
  }

  #fitsAccount({ account, weight }: Pick<Claim, 'weight' | 'account'>) {
    if (this.#accountLimit === this.limit) return true
    let use = 0
    for (const lease of this.#leases) if (lease.account === account) use += lease.weight
    return use === 0 || use + weight <= this.#accountLimit
  }

  #hasManyWaiters(account: string) {
    const others = this.#waiters.filter(
      (other) => other.isWaitLimited && other.account === account && !other.lease && !isGone(other),
    )
    return others.length >= MAX_LIMITED_WAITERS
  }

  #revokeExpired() {
    const now = Date.now()
    for (const lease of this.#leases) if (lease.until <= now) this.#remove(lease)
  }
}

const isGone = ({ seenAt }: Waiter) => Date.now() - seenAt > GONE_MS
