import type { Answer, Ask } from '../ask.ts'

/** The contract §3: so many a minute, and after each crash so many that were not made. */
const LIMIT = 1000
const LEASE = 25
const WINDOW_MS = 60_000

/** The requests of one token, and the crashes that its object has seen; all in milliseconds. */
export class Meter {
  readonly #requests: { sentAt: number; answeredAt: number }[] = []
  readonly #crashes: number[] = []

  /** The same asker, each request of which is counted. */
  counted(ask: Ask): Ask {
    return async (...sent) => {
      const request = { sentAt: Date.now(), answeredAt: Number.POSITIVE_INFINITY }
      this.#requests.push(request)
      const answer = await ask(...sent)
      request.answeredAt = answer.answeredAt
      return answer
    }
  }

  /** Workerd was killed, and is there again. */
  crashed(): void {
    this.#crashes.push(Date.now())
  }

  /**
   * How many requests the answer to the last one says were counted, and between which numbers that
   * must be: at least those that were answered within the minute, at most all that can have counted.
   */
  judge({ headers, sentAt, answeredAt }: Answer): { used: number; least: number; most: number } {
    const remaining = /r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1]
    const isOver = (at: number) => at < sentAt - WINDOW_MS
    const surely = this.#requests.filter(
      (one) => one.answeredAt <= answeredAt && one.sentAt > answeredAt - WINDOW_MS,
    )
    const possibly = this.#requests.filter((one) => !isOver(one.answeredAt))
    const crashes = this.#crashes.filter((at) => !isOver(at))
    return {
      used: LIMIT - Number(remaining ?? Number.NaN),
      least: surely.length,
      most: possibly.length + LEASE * crashes.length,
    }
  }
}
