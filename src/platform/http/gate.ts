import type { ApiError } from '../errors.ts'

/** How long a request waits at gates before it is refused, in milliseconds. */
const WAIT_MS = 45_000

/** How long a reservation counts: the runtime may end a request without its `finally`. In milliseconds. */
const HELD_MS = 60_000

/** The time between two checks of a waiting request, in milliseconds. */
const CHECK_MS = 20

/** Returns the time until which a request that begins now waits at gates, in milliseconds. */
export const newDeadline = (): number => Date.now() + WAIT_MS

/** What a request has reserved. */
export interface Reservation {
  readonly account: string
  size: number
  /** Ends the reservation. */
  readonly release: () => void
}

/**
 * A limit that the requests of an isolate share, such as bytes of memory, with a share for each account. A single
 * reservation may exceed the share, if the account has no other.
 *
 * Requests share numbers and no promises: the runtime forbids a request to settle a promise of another. So each
 * waiting request checks repeatedly whether there is room.
 */
export class Gate {
  readonly #limit: number
  readonly #share: number
  readonly #held = new Map<Reservation, number>()

  constructor(limit: number, share: number) {
    this.#limit = limit
    this.#share = share
  }

  /** Waits for room and reserves a size. Throws what `refusal` returns if there is none in time. */
  async reserve(
    account: string,
    size: number,
    refusal: () => ApiError,
    deadline = newDeadline(),
  ): Promise<Reservation> {
    const needed = Math.min(size, this.#limit)
    while (!this.#fits(account, needed)) {
      if (Date.now() >= deadline) throw refusal()
      await scheduler.wait(CHECK_MS)
    }
    const held: Reservation = { account, size: needed, release: () => this.#held.delete(held) }
    this.#held.set(held, Date.now() + HELD_MS)
    return held
  }

  #fits(account: string, size: number): boolean {
    let [all, own] = [0, 0]
    for (const [one, until] of this.#held) {
      if (until <= Date.now()) one.release()
      else all += one.size
      if (one.account === account) own += one.size
    }
    return all + size <= this.#limit && (own === 0 || own + size <= this.#share)
  }
}
