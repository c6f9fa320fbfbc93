import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { Halt } from './halt.ts'

/** An answer of the service that a retry would not change. */
export interface Answer {
  status: number
  headers: Headers
  /** Parsed JSON; undefined where it was none. */
  body: unknown
}

/** Sends a request until it is answered; what cannot be sent is a `Halt`. */
export type Exchange = (url: string, request: RequestInit) => Promise<Answer>

/** What is longer under way is taken for lost: the service answers a bulk within seconds. */
const TIMEOUT_MS = 60_000

/** How long to wait after a 429 that does not say it. */
const WAIT_MS = 5_000

/**
 * A way to the service that obeys `Retry-After`, and repeats what fails for `retryFor` seconds with
 * growing waits. Once `stop` is aborted nothing is repeated; what is under way is finished.
 */
export function connect(retryFor: number, stop: AbortSignal, note: (text: string) => void) {
  setMaxListeners(0, stop)
  let resumeAt = 0

  /** Nobody sends while the service asks for patience: who is told speaks for all. */
  async function pause() {
    while (Date.now() < resumeAt) await sleep(resumeAt - Date.now(), undefined, { signal: stop })
  }

  async function once(url: string, request: RequestInit): Promise<Answer> {
    await pause()
    const answer = await ask(url, request)
    const { status, headers } = answer
    const wait = waitOf(headers.get('Retry-After')) ?? (status === 429 ? WAIT_MS : 0)
    if (status === 429 || status >= 500) resumeAt = Math.max(resumeAt, Date.now() + wait)
    if (status === 429) note(`429: the service asks to wait ${Math.ceil(wait / 1000)} s`)
    if (status >= 500) throw new Error(`the service answers ${status}`)
    return answer
  }

  async function persistently(url: string, request: RequestInit): Promise<Answer> {
    let answer: Answer | undefined
    const attempt = async () => {
      answer = await once(url, request)
    }
    const options = {
      retries: Number.POSITIVE_INFINITY,
      maxRetryTime: retryFor * 1000,
      minTimeout: 500,
      maxTimeout: 15_000,
      randomize: true,
      signal: stop,
      onFailedAttempt: ({ error }: { error: Error }) => note(`${error.message}; trying again`),
    }
    try {
      await pRetry(attempt, options)
    } catch (error) {
      // What was answered after the signal counts all the same: it may be stored.
      if (answer === undefined) {
        if (stop.aborted) throw stop.reason
        throw new Halt(1, `Given up after ${retryFor} s: ${(error as Error).message}.`, error)
      }
    }
    return answer!
  }

  const exchange: Exchange = async (url, request) => {
    for (;;) {
      // A 429 is no failure: the time it takes is not the time that failures may take.
      const answer = await persistently(url, request)
      if (answer.status !== 429) return answer
    }
  }
  return exchange
}

/** Sends a request once; what is thrown says in a few words why there is no answer. */
export async function ask(url: string, request: RequestInit): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    // A redirect would take the secret elsewhere.
    const response = await fetch(url, { ...request, redirect: 'manual', signal })
    const text = await response.text()
    const { status, headers } = response
    return { status, headers, body: parsed(text, response.ok && status !== 204) }
  } catch (error) {
    // p-retry takes a TypeError for a bug, and that is how `fetch` says that the network failed.
    throw new Error(reasonOf(error), { cause: error })
  }
}

function parsed(text: string, mustBe: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (mustBe) throw new Error('the service answers what is not JSON', { cause: error })
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  return code ? `the service cannot be reached (${code})` : message
}

/**
 * How long a `Retry-After` asks to wait, in milliseconds; null: it does not say.
 *
 * @see [RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3) seconds or a date
 */
export function waitOf(header: string | null): number | null {
  if (header === null) return null
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}
