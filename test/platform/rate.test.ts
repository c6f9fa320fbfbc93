import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import type { Grant } from '../../src/platform/auth/grant.ts'
import {
  decide,
  INITIAL_RATE,
  LEASE_IDLE_MS,
  LEASE_SIZE,
  type RateState,
  REQUESTS_PER_WINDOW,
  recover,
  settle,
  WINDOW_MS,
} from '../../src/platform/auth/rate.ts'
import { ada, json, issuedPartner as partner } from '../partner.ts'

/**
 * A simulated token object with memory, storage, the timer that closes the lease, evictions (the
 * platform evicts only idle objects) and crashes.
 */
class SimulatedObject {
  now = 1_000_000
  writes = 0
  #stored: RateState = INITIAL_RATE
  #memory: RateState | undefined
  #last = 0

  wait(ms: number) {
    const closes = this.#last + LEASE_IDLE_MS
    if (this.#memory && this.#memory.lease > 0 && this.now + ms >= closes) {
      this.#memory = settle(this.#memory)
      this.#write()
    }
    this.now += ms
  }
  crash() {
    this.#memory = undefined
  }
  evict() {
    this.wait(10_000)
    this.#memory = undefined
  }
  ask() {
    if (!this.#memory) {
      this.#memory = recover(this.#stored, this.now)
      if (this.#stored.lease > 0) this.#write()
    }
    const decision = decide(this.#memory, this.now)
    this.#memory = decision.rate
    if (decision.write) this.#write()
    if (decision.retryAfter === 0) this.#last = this.now
    return decision
  }
  #write() {
    this.#stored = this.#memory!
    this.writes += 1
  }
}

const requests = fc.record({
  ask: fc.integer({ min: 1, max: 400 }),
  gap: fc.nat(120),
})
const pause = fc.record({ wait: fc.nat(70_000) })
const RUNS = env.FUZZ_RUNS || 25

type Step = { ask: number; gap: number } | { wait: number } | 'evict' | 'crash'

/**
 * Compares each decision with a log of all timestamps. Returns the first contradiction, or null if
 * there is none.
 */
function findContradiction(steps: Step[]): string | null {
  const object = new SimulatedObject()
  let log: number[] = []
  // The object notices a crash at the next request, so the crash counts from then.
  let crashes: number[] = []
  let crashed = 0
  for (const step of steps) {
    if (step === 'evict') object.evict()
    else if (step === 'crash') {
      object.crash()
      crashed += 1
    } else if ('wait' in step) object.wait(step.wait)
    else {
      for (let i = 0; i < step.ask; i++, object.wait(step.gap)) {
        for (; crashed > 0; crashed--) crashes.push(object.now)
        const since = object.now - WINDOW_MS
        if (log[0]! <= since) log = log.filter((time) => time > since)
        crashes = crashes.filter((time) => time > since)
        const excess = LEASE_SIZE * crashes.length
        const { retryAfter, remaining } = object.ask()
        if (retryAfter === 0) log.push(object.now)
        if (log.length > REQUESTS_PER_WINDOW) return 'admits more than 1000 in 60 s'
        if (retryAfter > 0 && log.length + excess < REQUESTS_PER_WINDOW)
          return `refuses after ${log.length}`
        if (remaining > REQUESTS_PER_WINDOW - log.length) return 'announces more than remain'
        if (remaining < REQUESTS_PER_WINDOW - log.length - excess)
          return 'announces fewer than remain'
      }
    }
  }
  return null
}

test('at most 1000 requests pass in 60 s and none under the limit fails', () => {
  const step = fc.oneof(
    { weight: 12, arbitrary: requests },
    { weight: 6, arbitrary: pause },
    { weight: 2, arbitrary: fc.constant('evict' as const) },
    { weight: 2, arbitrary: fc.constant('crash' as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      expect(findContradiction(steps)).toBeNull()
    }),
    { numRuns: RUNS, seed: env.SEED },
  )
}, 600_000)

test('a request passes after Retry-After and fails one millisecond before the window ends', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(80), { minLength: REQUESTS_PER_WINDOW, maxLength: REQUESTS_PER_WINDOW }),
      (gaps) => {
        const object = new SimulatedObject()
        for (const [i, gap] of gaps.entries()) {
          object.ask()
          object.wait(gap)
          if (i % 300 === 299) object.crash()
        }
        const { retryAfter } = object.ask()
        if (retryAfter === 0) return
        object.wait(retryAfter * 1000)
        expect(object.ask().retryAfter).toBe(0)
      },
    ),
    { numRuns: 5, seed: env.SEED },
  )
  const times = Array.from({ length: REQUESTS_PER_WINDOW }, (_, i) => 30_000 + i)
  const fullWindow = { times, lease: 5, used: 1 }
  const refused = { retryAfter: 1, rate: fullWindow, write: false, remaining: 0, reset: 1 }
  expect(decide(fullWindow, 30_000 + WINDOW_MS - 1)).toEqual(refused)
  const passed = decide(fullWindow, 30_000 + WINDOW_MS)
  expect(passed).toMatchObject({ retryAfter: 0, remaining: 0 })
  expect(passed.rate.times).toEqual([...times.slice(1), 30_000 + WINDOW_MS])
})

test('a request after Retry-After passes after a crash as well', () => {
  // More entries than the limit: requests that a crash made uncertain count beside the real ones.
  const rate = { times: [0, ...Array<number>(1010).fill(30_000)], lease: 0, used: 0 }

  expect(decide(rate, 31_000)).toMatchObject({ retryAfter: 59, reset: 59 })
  expect(decide(rate, 31_000 + 59_000).retryAfter).toBe(0)
})

test('a clock that moves backwards admits no extra requests', () => {
  const times = Array.from({ length: REQUESTS_PER_WINDOW }, () => 100_000)

  expect(decide({ times, lease: 5, used: 1 }, 1).retryAfter).toBe(60)
  expect(decide({ times: [100_000], lease: 5, used: 1 }, 1).rate.times).toEqual([100_000, 100_000])
})

describe('the token object', () => {
  const grant: Grant = {
    account: 'acme',
    client_id: 'client',
    name: 'Acme',
    vertical: 'forex',
    mode: 'test',
    time_zone: 'UTC',
    binding: 'DB',
    unknown_customer: 'reject',
    unknown_affiliate: 'warn',
    scope: 'read write',
    version: 1,
    disabled: false,
    events: [],
    book_zone: 'UTC',
    amount_signs: 'magnitude',
    storage_quota: 1e9,
    statuses: [],
  }
  const openObject = async () => {
    const tokenObject = env.TOKEN_GATE.getByName('jti-1')
    await tokenObject.open(grant, Date.now() + 3_600_000)
    return tokenObject
  }
  const ask = async (tokenObject: Awaited<ReturnType<typeof openObject>>, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => tokenObject.admit()))
    return answers.map((answer) => answer!.retryAfter)
  }

  test('the object admits 1000 of 1001 parallel calls', async () => {
    const waits = await ask(await openObject(), 1001)

    expect(waits.filter((wait) => wait === 0)).toHaveLength(1000)
    expect(waits.filter((wait) => wait > 0)).toEqual([expect.toSatisfy((s: number) => s > 50)])
  })

  test('an expired or ended token admits no more requests', async () => {
    const until = Date.now() + 60_000
    const tokenObject = env.TOKEN_GATE.getByName('jti-2')
    await tokenObject.open(grant, until)
    await runInDurableObject(tokenObject, async (instance) => {
      vi.useFakeTimers({ toFake: ['Date'], now: until - 1 })
      try {
        expect(instance.admit()).not.toBeNull()
        vi.setSystemTime(until)
        expect(instance.admit()).toBeNull()
        vi.setSystemTime(until - 1)
        await instance.end()
        expect(instance.admit()).toBeNull()
      } finally {
        vi.useRealTimers()
      }
    })
  })

  test('the count survives an eviction within the window', async () => {
    const tokenObject = await openObject()
    await ask(tokenObject, 990)
    await scheduler.wait(LEASE_IDLE_MS + 300)
    await evictDurableObject(tokenObject)

    expect((await ask(tokenObject, 20)).filter((wait) => wait === 0)).toHaveLength(10)
  }, 15_000)

  test('after a crash an open lease counts as spent and admits no extra requests', async () => {
    const tokenObject = await openObject()
    await ask(tokenObject, 500)
    await abortAllDurableObjects()

    const restarted = env.TOKEN_GATE.getByName('jti-1')
    const passed = (await ask(restarted, 600)).filter((wait) => wait === 0).length
    expect(passed).toBeLessThanOrEqual(500)
    expect(passed).toBeGreaterThanOrEqual(500 - LEASE_SIZE)
  })
})

describe('over HTTP', () => {
  const storeTimes = async (acme: Awaited<ReturnType<typeof partner>>, times: number[]) => {
    const { jti } = decodeJwt(acme.access_token)
    await runInDurableObject(env.TOKEN_GATE.getByName(jti!), (_, { storage }) =>
      storage.kv.put('rate', { times, lease: 0, used: 0 } satisfies RateState),
    )
  }

  test('every authenticated response has the rate policy and the remaining requests', async () => {
    const acme = await partner()
    const reader = await partner('forex', { account: 'reader', scope: 'read' })
    const answers = [
      await acme.post('customers', ada),
      await acme.get('customers'),
      await acme.get('customers/nobody'),
      await acme.get('nowhere'),
      await acme.post('customers/c-1', {}),
      await acme.post('customers', [{}]),
      await acme.postText('customers', '{'),
      await reader.post('customers', ada),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 404, 404, 405, 422, 400, 403])
    for (const { headers } of answers) {
      expect(headers.get('RateLimit-Policy')).toBe('"token";q=1000;w=60')
      expect(headers.get('RateLimit')).toMatch(/^"token";r=99\d;t=(60|59)$/)
    }
    expect(answers[6]!.headers.get('RateLimit')).toContain('r=993;')
  })

  test('request 1001 is 429, stores nothing and passes after Retry-After', async () => {
    const acme = await partner()
    const now = Date.now()
    await storeTimes(
      acme,
      Array.from({ length: REQUESTS_PER_WINDOW }, () => now - WINDOW_MS + 1500),
    )
    const refused = await acme.post('customers', ada)

    expect(refused.status).toBe(429)
    const seconds = Number(refused.headers.get('Retry-After'))
    expect(seconds).toBeGreaterThanOrEqual(1)
    expect(refused.headers.get('RateLimit')).toBe(`"token";r=0;t=${seconds}`)
    expect(await json(refused)).toMatchObject({ code: 'rate_limited', status: 429 })
    expect((await acme.postText('customers', '{')).status).toBe(429)

    await scheduler.wait(seconds * 1000)
    expect(await json(acme.get('customers'))).toMatchObject({ data: [] })
    expect((await json(acme.get('deliveries'))).data).toEqual([])
  })
})
