import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import type { Grant } from '../../src/auth/grant.ts'
import { decide, REQUESTS_PER_WINDOW, WINDOW_MS } from '../../src/auth/rate.ts'
import { IDLE_MS } from '../../src/auth/token-gate.ts'
import { ada, json, issuedPartner as partner } from '../partner.ts'

const requests = fc.record({
  ask: fc.integer({ min: 1, max: 400 }),
  gap: fc.nat(120),
  weight: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 30 })),
  pause: fc.nat(70_000),
})

test('at most 1000 requests pass in 60 s, none under the limit fails, and one after Retry-After passes', () => {
  const runs = { numRuns: env.FUZZ_RUNS || 50, seed: env.SEED }
  fc.assert(
    fc.property(fc.array(requests, { maxLength: 20 }), (steps) => {
      let now = 1_000_000
      let log: number[] = []
      let times: readonly number[] = []
      for (const { ask, gap, weight, pause } of steps) {
        for (let i = 0; i < ask; i++, now += gap) {
          log = log.filter((time) => time > now - WINDOW_MS)
          const passes = log.length + weight <= REQUESTS_PER_WINDOW
          if (passes) log.push(...Array<number>(weight).fill(now))
          const decision = decide(times, now, weight)
          times = decision.times
          expect(decision.retryAfter === 0).toBe(passes)
          expect(decision.remaining).toBe(REQUESTS_PER_WINDOW - log.length)
          expect(
            decide(times, now + decision.retryAfter * 1000, passes ? 0 : weight),
          ).toMatchObject({
            retryAfter: 0,
          })
        }
        now += pause
      }
    }),
    runs,
  )
}, 600_000)

test('a request passes when the window of the first ends, and one millisecond before it does not', () => {
  const times = Array.from({ length: REQUESTS_PER_WINDOW }, (_, i) => 30_000 + i)
  const refused = { retryAfter: 1, times, remaining: 0, reset: 1 }
  expect(decide(times, 30_000 + WINDOW_MS - 1, 1)).toEqual(refused)
  const passed = decide(times, 30_000 + WINDOW_MS, 1)
  expect(passed).toMatchObject({ retryAfter: 0, remaining: 0 })
  expect(passed.times).toEqual([...times.slice(1), 30_000 + WINDOW_MS])
})

test('a request that counts as 10 waits until 10 have left the window', () => {
  // Five are left: the fifth of the others leaves the window at 68 s, the first at 60 s.
  const times = [0, 2000, 4000, 6000, 8000, ...Array<number>(990).fill(9000)]
  expect(decide(times, 10_000, 10)).toMatchObject({ retryAfter: 58, reset: 50, remaining: 5 })
  expect(decide(times, 10_000 + 58_000, 10)).toMatchObject({ retryAfter: 0 })
  expect(decide(times, 8000 + WINDOW_MS - 1, 10).retryAfter).toBe(1)
})

test('a clock that moves backwards admits no extra requests', () => {
  const times = Array.from({ length: REQUESTS_PER_WINDOW }, () => 100_000)

  expect(decide(times, 1, 1).retryAfter).toBe(60)
  expect(decide([100_000], 1, 1).times).toEqual([100_000, 100_000])
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
    const answers = await Promise.all(Array.from({ length: count }, () => tokenObject.admit(1)))
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
        expect(instance.admit(1)).not.toBeNull()
        vi.setSystemTime(until)
        expect(instance.admit(1)).toBeNull()
        vi.setSystemTime(until - 1)
        await instance.end()
        expect(instance.admit(1)).toBeNull()
      } finally {
        vi.useRealTimers()
      }
    })
  })

  test('the count survives an eviction within the window', async () => {
    const tokenObject = await openObject()
    await ask(tokenObject, 990)
    await scheduler.wait(IDLE_MS + 300)
    await evictDurableObject(tokenObject)

    expect((await ask(tokenObject, 20)).filter((wait) => wait === 0)).toHaveLength(10)
  }, 15_000)
})

describe('over HTTP', () => {
  const storeTimes = async (acme: Awaited<ReturnType<typeof partner>>, times: number[]) => {
    const { jti } = decodeJwt(acme.access_token)
    await runInDurableObject(env.TOKEN_GATE.getByName(jti!), (_, { storage }) =>
      storage.kv.put('times', times),
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
