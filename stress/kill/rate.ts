import type { Answer, RequestSender } from '../ask.ts'

/** The contract §3: requests a minute, and how many each crash may count that were never made. */
const LIMIT = 1000
const LEASE = 25
const WINDOW_MS = 60_000

/** Counts the requests of one token and the crashes of its object. Times are in milliseconds. */
export class Meter {
  readonly #requests: { sentAt: number; answeredAt: number }[] = []
  readonly #crashes: number[] = []

  /** Returns the same sender with each request counted. */
  countRequests(ask: RequestSender): RequestSender {
    return async (...sent) => {
      const request = { sentAt: Date.now(), answeredAt: Number.POSITIVE_INFINITY }
      this.#requests.push(request)
      const answer = await ask(...sent)
      request.answeredAt = answer.answeredAt
      return answer
    }
  }

  /** Notes that workerd was killed and restarted. */
  noteCrash(): void {
    this.#crashes.push(Date.now())
  }

  /**
   * Returns how many requests the last response counts, and the bounds of that number: at least the
   * requests answered within the minute, at most all that can have counted.
   */
  count({ headers, sentAt, answeredAt }: Answer): { used: number; least: number; most: number } {
    const remaining = /r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1]
    const isOver = (at: number) => at < sentAt - WINDOW_MS
    const certain = this.#requests.filter(
      (one) => one.answeredAt <= answeredAt && one.sentAt > answeredAt - WINDOW_MS,
    )
    const possible = this.#requests.filter((one) => !isOver(one.answeredAt))
    const crashes = this.#crashes.filter((at) => !isOver(at))
    return {
      used: LIMIT - Number(remaining ?? Number.NaN),
      least: certain.length,
      most: possible.length + LEASE * crashes.length,
    }
  }
}
