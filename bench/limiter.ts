import { decide, INITIAL_RATE, type RateState, REQUESTS_PER_WINDOW } from '../src/auth/rate.ts'
import { type Chapter, formatHundredths, formatInteger } from './chapter.ts'
import { send } from './http.ts'
import type { World } from './world.ts'

/** Sends as many requests as a token allows, and one more. */
export async function limiter({ us }: World): Promise<Chapter> {
  await us.renew()
  const headers = us.authorization()
  // The request is authorized, counted and refused, so that nothing else is measured.
  const url = new URL('/api/v1/forex/transactions?unknown', us.running.url)
  const started = performance.now()
  for (let i = 1; i <= REQUESTS_PER_WINDOW; i++) {
    const { status } = await send(url, { headers })
    if (status !== 400) throw new Error(`Request ${i} was answered ${status}.`)
  }
  const seconds = (performance.now() - started) / 1000
  const refused = await send(url, { headers })
  const wait = Number(refused.headers['retry-after'])
  if (refused.status !== 429 || !(wait >= 1 && wait <= 60))
    throw new Error(
      `Request ${REQUESTS_PER_WINDOW + 1} was answered ${refused.status}, to wait ${wait} s.`,
    )
  const written = writes(seconds)
  return {
    title: 'The limiter',
    notes: `One token, its object, and requests that are authorized and do nothing, one after the other. The object's writes are counted by running its own rule ${REQUESTS_PER_WINDOW} times, since the runtime does not report them.`,
    tables: [
      [
        ['', ''],
        ['requests/s', formatInteger(REQUESTS_PER_WINDOW / seconds)],
        ['rows the object writes for them', String(written)],
        ['rows a request', formatHundredths(written / REQUESTS_PER_WINDOW)],
        [`request ${REQUESTS_PER_WINDOW + 1}`, `429, Retry-After: ${wait}`],
      ],
    ],
  }
}

/** Counts the writes of `TokenGate` for evenly spaced requests: each lease and its end. */
function writes(seconds: number): number {
  let rate: RateState = INITIAL_RATE
  let rows = 0
  for (let i = 0; i < REQUESTS_PER_WINDOW; i++) {
    const decision = decide(rate, 1 + (i * seconds * 1000) / REQUESTS_PER_WINDOW, 1)
    rate = decision.rate
    if (decision.write) rows += 1
  }
  return rate.lease === 0 ? rows : rows + 1
}
