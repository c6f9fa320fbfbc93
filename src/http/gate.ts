import type { ApiError } from '../errors.ts'
import { tooSlow } from './body-errors.ts'

/** How long a request waits at gates before it is refused, in milliseconds. */
const WAIT_MS = 45_000

/**
 * How long a reservation counts at least: the runtime may end a request without its `finally`. Shorter than the wait, so
 * that who waits for it is not refused. In milliseconds.
 */
const HELD_MS = 40_000

/** How long a waiting request lets smaller ones of others pass, in milliseconds. */
const PATIENCE_MS = 2000

/** A waiting request that has not checked for this long, while others could, was ended by the runtime. In milliseconds. */
const GONE_MS = 2000

/** The time between two checks of the first waiting request; others check less often. In milliseconds. */
const FIRST_CHECK_MS = 5
const MAX_CHECK_MS = 100

/** The pace of a sender or reader while others wait: 256 KiB a second, after two seconds. */
const PACE_BYTES_PER_MS = 256
const GRACE_MS = 2000

/** The time between two checks of a request that waits for its client, in milliseconds. */
const TICK_MS = 1000

/** The number of accounts whose last turn is remembered. Beyond it, all of them are forgotten. */
const MAX_ACCOUNTS = 1000

interface Waiting {
  readonly account: string
  readonly size: number
  readonly since: number
  /** When it last checked, by the clock of the gate. */
  seenAt: number
}

/** Returns the time until which a request that begins now waits at gates, in milliseconds. */
export const newDeadline = (): number => Date.now() + WAIT_MS

/**
 * A limit that the requests of an isolate share, such as bytes of memory, with a share for each account. A single
 * reservation may exceed the share, if the account has no other. Next is the account whose last turn is longest ago.
 *
 * Requests share numbers and no promises: the runtime forbids a request to settle a promise of another. So each
 * waiting request checks repeatedly whether it is next.
 */
export class Gate {
  readonly #limit: number
  readonly #share: number
  readonly #held = new Set<Reservation>()
  /** In the order of arrival. */
  #waiting: readonly Waiting[] = []
  /** Milliseconds in which requests could check. It stands while the isolate computes something long. */
  #clock = 0
  #checkedAt = 0
  /** The number of the last turn of each account. */
  readonly #lastTurns = new Map<string, number>()
  #turns = 0

  constructor(limit: number, share: number) {
    this.#limit = limit
    this.#share = share
  }

  /** Waits for a turn and reserves a size. Throws what `refusal` returns if the turn does not come in time. */
  async reserve(
    account: string,
    size: number,
    refusal: () => ApiError,
    deadline = newDeadline(),
  ): Promise<Reservation> {
    const since = Date.now()
    const own: Waiting = { account, size: Math.min(size, this.#limit), since, seenAt: 0 }
    try {
      for (;;) {
        own.seenAt = this.#tick()
        if (!this.#waiting.includes(own)) this.#waiting = [...this.#waiting, own]
        if (this.#isNext(own)) return this.#hold(own)
        if (Date.now() >= deadline) throw refusal()
        const place = 1 + this.#waiting.indexOf(own)
        await scheduler.wait(Math.min(FIRST_CHECK_MS * place, MAX_CHECK_MS))
      }
    } finally {
      this.#waiting = this.#waiting.filter((one) => one !== own)
    }
  }

  #tick(): number {
    const now = Date.now()
    this.#clock += Math.min(now - this.#checkedAt, MAX_CHECK_MS)
    this.#checkedAt = now
    return this.#clock
  }

  #hold({ account, size }: Waiting): Reservation {
    if (this.#lastTurns.size >= MAX_ACCOUNTS) this.#lastTurns.clear()
    this.#lastTurns.set(account, ++this.#turns)
    const reservation = new Reservation(account, size, this.#held)
    this.#held.add(reservation)
    return reservation
  }

  /** Returns whether it is the turn of a waiting request. Of each account only the first is looked at. */
  #isNext(own: Waiting): boolean {
    const now = Date.now()
    if (!this.#fits(own)) {
      for (const one of this.#held) if (one.until <= now) one.release()
    }
    if (!this.#fits(own)) return false
    this.#waiting = this.#waiting.filter(({ seenAt }) => this.#clock - seenAt < GONE_MS)
    const firsts = new Map<string, Waiting>()
    for (const one of this.#waiting) if (!firsts.has(one.account)) firsts.set(one.account, one)
    const turnOf = ({ account }: Waiting) => this.#lastTurns.get(account) ?? 0
    for (const one of [...firsts.values()].sort((a, b) => turnOf(a) - turnOf(b))) {
      if (this.#fits(one)) return one === own
      if (this.#fitsShare(one) && now - one.since > PATIENCE_MS) return false
    }
    return false
  }

  #fits(one: Waiting): boolean {
    return this.#used() + one.size <= this.#limit && this.#fitsShare(one)
  }

  #fitsShare({ account, size }: Waiting): boolean {
    const used = this.#used(account)
    return used === 0 || used + size <= this.#share
  }

  /** Returns what an account has reserved; without one, what all have. */
  #used(account?: string): number {
    let sum = 0
    for (const one of this.#held) {
      if (account === undefined || one.account === account) sum += one.size
    }
    return sum
  }
}

/** What a request has reserved. */
export class Reservation {
  readonly account: string
  size: number
  /** When it may be taken from the request for others that wait, in milliseconds. */
  until = Date.now() + HELD_MS
  readonly #held: Set<Reservation>
  /** The time that the client may still take, in milliseconds. */
  #allowedMs = GRACE_MS

  constructor(account: string, size: number, held: Set<Reservation>) {
    this.account = account
    this.size = size
    this.#held = held
  }

  /**
   * Waits for the client to send or take bytes, and returns what `work` resolves with. `bytesOf` returns their number.
   *
   * @throws ApiError `unavailable` if the client is slow while others wait.
   */
  async pace<T>(work: Promise<T>, bytesOf: (value: T) => number): Promise<T> {
    const start = Date.now()
    this.until = start + this.#allowedMs
    let timer: number | null = null
    const settled = work.then((value) => ({ value }))
    settled.catch(() => {}) // Nothing awaits it once the client was too slow.
    for (;;) {
      // Not `scheduler.wait`: its timer costs eight times as much to cancel.
      const tick = new Promise<null>((resolve) => {
        timer = setTimeout(() => resolve(null), TICK_MS)
      })
      const done = await Promise.race([settled, tick]).finally(() => clearTimeout(timer))
      if (!this.#held.has(this)) throw tooSlow()
      if (!done) continue
      this.#allowedMs += bytesOf(done.value) / PACE_BYTES_PER_MS - (Date.now() - start)
      this.until = Date.now() + HELD_MS
      return done.value
    }
  }

  /** Ends the reservation. */
  release(): void {
    this.#held.delete(this)
  }
}
