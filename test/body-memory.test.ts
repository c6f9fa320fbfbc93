import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { drain, drainOf, readBody } from '../src/http/body.ts'
import { measureJson } from '../src/http/body-size.ts'
import { weigh } from '../src/http/body-weight.ts'
import { BodyMemory } from '../src/http/memory.ts'
import { MAX_WEIGHT, QUEUES } from '../src/http/memory-queues.ts'
import { answerEarly } from '../src/http/request-log.ts'
import { WeightedQueue } from '../src/http/weighted-queue.ts'
import worker from '../src/index.ts'
import { endLeases } from './leases.ts'
import { ada, ask, json, ORIGIN, partner } from './partner.ts'

// The memory that bodies take in an isolate, which has 128 MB.

const KIB = 1024
const MIB = 1024 * KIB

beforeAll(() => {
  expect(endLeases().filter((used) => used !== 0)).toEqual([])
})
afterEach(() => vi.useRealTimers())

/** Returns a request whose body counts the bytes that are read of it. */
function countedRequest(bytes: number, headers: Record<string, string> = {}) {
  const seen = { pulled: 0 }
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      if (seen.pulled >= bytes) {
        controller.close()
        controller.byobRequest?.respond(0)
        return
      }
      const chunk = new Uint8Array(Math.min(16 * KIB, bytes - seen.pulled)).fill(0x20)
      seen.pulled += chunk.byteLength
      controller.enqueue(chunk)
    },
  })
  const init = { 'Content-Type': 'application/json', ...headers }
  return { seen, request: new Request(ORIGIN, { method: 'POST', headers: init, body }) }
}

/** Returns a body of spaces, and what it does after this many bytes. */
function bodyThatStops(
  bytes: number,
  stop: (controller: ReadableByteStreamController) => Promise<void>,
) {
  let sent = 0
  const body = new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      if (sent >= bytes) {
        await stop(controller)
        return
      }
      const chunk = new Uint8Array(Math.min(64 * KIB, bytes - sent)).fill(0x20)
      sent += chunk.byteLength
      controller.enqueue(chunk)
    },
  })
  return { body, headers: { 'Content-Type': 'application/json' } }
}

const someTime = () => scheduler.wait(50)

describe('before the caller is admitted', () => {
  test.each([
    ['of unknown length', {}],
    ['of a known length', { 'Content-Length': String(MIB - 4 * KIB) }],
  ])('at most 64 KiB of a body %s are read', async (_, headers) => {
    const { seen, request } = countedRequest(MIB - 4 * KIB, headers)
    const admission = Promise.withResolvers<{ account: string }>()
    const reading = readBody(request, admission.promise)
    await someTime()
    expect(seen.pulled).toBe(64 * KIB)

    admission.resolve({ account: 'acme' })
    const body = await reading
    expect(seen.pulled).toBe(MIB - 4 * KIB)
    expect(body.takeText()).toHaveLength(MIB - 4 * KIB)
    body.release()
  })

  test('all callers together hold at most 4 MiB, and the others read nothing', async () => {
    const admission = Promise.withResolvers<{ account: string }>()
    const many = Array.from({ length: 100 }, () =>
      countedRequest(128 * KIB, { 'Content-Length': String(128 * KIB) }),
    )
    const reading = many.map(({ request }) => readBody(request, admission.promise))
    await someTime()
    const pulled = many.map(({ seen }) => seen.pulled)
    expect(pulled).toEqual([...Array(64).fill(64 * KIB), ...Array(36).fill(0)])

    admission.reject(new Error('refused'))
    const settled = await Promise.allSettled(reading)
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
    await Promise.all(many.map(({ request }) => drainOf(request)))
  })

  test('a large body that finds no room waits until the caller is admitted', async () => {
    const { limit } = QUEUES.unadmitted
    const held = QUEUES.unadmitted.tryTake(limit, '', Number.POSITIVE_INFINITY)!
    const length = { 'Content-Length': String(128 * KIB) }
    const refused = countedRequest(128 * KIB, length)
    const refusal = new Error('refused')
    await expect(readBody(refused.request, Promise.reject(refusal))).rejects.toBe(refusal)
    expect(QUEUES.unadmitted.used).toBe(limit)

    const admission = Promise.withResolvers<{ account: string }>()
    const { seen, request } = countedRequest(128 * KIB, length)
    const reading = readBody(request, admission.promise)
    await someTime()
    expect(seen.pulled).toBe(0)
    admission.resolve({ account: 'acme' })
    const body = await reading
    expect(body.takeText()).toHaveLength(128 * KIB)
    body.release()
    QUEUES.unadmitted.release(held)
  })

  test('a long body is moved to the queue of its size once, and keeps what it needs decompressed', async () => {
    const { limit } = QUEUES.unadmitted
    const held = QUEUES.unadmitted.tryTake(limit, '', Number.POSITIVE_INFINITY)!
    const memory = new BodyMemory(Promise.resolve({ account: 'acme' }), {
      ...{ length: 3 * MIB, isGzip: true, limit: 8 * MIB },
    })
    await memory.startReading()
    expect(QUEUES.readLarge.used).toBe(11 * MIB)
    await memory.continueReading()
    expect(QUEUES.readLarge.used).toBe(11 * MIB)
    await memory.decompress(5 * MIB)
    expect(QUEUES.readLarge.used).toBe(5 * MIB)
    memory.release()
    QUEUES.unadmitted.release(held)
  })

  test('a small compressed body keeps its memory when it is decompressed', async () => {
    const { used } = QUEUES.unadmitted
    const memory = new BodyMemory(Promise.resolve({ account: 'acme' }), {
      ...{ length: KIB, isGzip: true, limit: 8 * MIB },
    })
    await memory.startReading()
    const taken = QUEUES.unadmitted.used - used
    await memory.decompress(10 * KIB)
    expect(QUEUES.unadmitted.used - used).toBe(taken)
    memory.release()
    expect(QUEUES.unadmitted.used).toBe(used)
  })

  test('a discarded body that had no room returns nothing', async () => {
    const memory = new BodyMemory(Promise.resolve({ account: 'acme' }), {
      ...{ length: 1, isGzip: false, limit: MIB },
    })
    const before = QUEUES.unadmitted.used
    memory.discard()
    expect(QUEUES.unadmitted.used).toBe(before)
  })

  test('an answer without a body waits for the end of the body of its request', async () => {
    const end = Promise.withResolvers<void>()
    const { body } = bodyThatStops(1, (controller) => end.promise.then(() => controller.close()))
    let isAnswered = false
    const answering = Promise.resolve(
      new Hono()
        .use(async (c, next) => {
          await next()
          await answerEarly(c)
        })
        .delete('/', (c) => c.body(null, 204))
        .request('/', { method: 'DELETE', body }),
    ).finally(() => {
      isAnswered = true
    })
    await scheduler.wait(400)
    expect(isAnswered).toBe(false)
    end.resolve()
    expect((await answering).status).toBe(204)
  })

  test('after a refusal the rest is drained', async () => {
    const { seen, request } = countedRequest(3 * MIB)
    const refusal = new Error('refused')
    await expect(readBody(request, Promise.reject(refusal))).rejects.toBe(refusal)
    await drainOf(request)
    expect(seen.pulled).toBe(3 * MIB)
  })

  test('a silent sender with wrong credentials is answered before the body ends', async () => {
    const end = Promise.withResolvers<void>()
    const body = new ReadableStream({
      type: 'bytes',
      async pull(controller) {
        await end.promise
        controller.close()
        controller.byobRequest?.respond(0)
      },
    })
    const request = new Request<unknown, IncomingRequestCfProperties>(
      `${ORIGIN}/tracking/events/customers`,
      {
        method: 'POST',
        headers: { 'x-api-key': 'wrong', 'Content-Type': 'application/json' },
        body,
      },
    )
    const context = createExecutionContext()
    const response = await worker.fetch(request, env, context)
    const isDrained = drainOf(request)?.then(() => true)
    expect(await Promise.race([isDrained, Promise.resolve(false)])).toBe(false)
    expect([response.status, response.headers.get('RateLimit')]).toEqual([401, null])
    const reader = response.body?.getReader()
    const first = await reader?.read()
    expect(new TextDecoder().decode(first?.value)).toContain('invalid_api_key')
    end.resolve()
    expect([(await reader?.read())?.done, await isDrained]).toEqual([true, true])
    await waitOnExecutionContext(context)
  })

  test.each([
    ['is silent', 60_000],
    ['goes on slowly', 900],
  ])('after a refusal a sender who %s is awaited for 5 seconds', async (_, pauseMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const body = new ReadableStream({
      type: 'bytes',
      pull: (controller) =>
        new Promise((resolve) => {
          setTimeout(() => {
            controller.enqueue(new Uint8Array(1))
            resolve()
          }, pauseMs)
        }),
    })
    let isDrained = false
    const draining = drain(body.getReader({ mode: 'byob' })).then(() => {
      isDrained = true
    })
    await vi.advanceTimersByTimeAsync(4900)
    expect(isDrained).toBe(false)
    await vi.advanceTimersByTimeAsync(100)
    await draining
  })

  test('a refused body keeps the memory of one read until it is drained', async () => {
    const end = Promise.withResolvers<void>()
    const { body, headers } = bodyThatStops(8 * MIB + 64 * KIB, (controller) =>
      end.promise.then(() => controller.close()),
    )
    const request = new Request(ORIGIN, { method: 'POST', headers, body })
    const refusal = { code: 'payload_too_large' }
    const reading = readBody(request, Promise.resolve({ account: 'acme' }))
    await expect(reading).rejects.toMatchObject(refusal)
    expect(QUEUES.readLarge.used).toBe(64 * KIB)
    end.resolve()
    await drainOf(request)
    expect(QUEUES.readLarge.used).toBe(0)
  })

  test('a body that ends early returns its memory at once', async () => {
    const cut = Promise.withResolvers<void>()
    const { body, headers } = bodyThatStops(512 * KIB, (controller) =>
      cut.promise.then(() => controller.error(new Error('The caller has gone.'))),
    )
    const init = {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(4 * MIB) },
      body,
    }
    const request = new Request(ORIGIN, init)
    const reading = readBody(request, Promise.resolve({ account: 'acme' }))
    await someTime()
    expect(QUEUES.readLarge.used).toBe(4 * MIB)
    vi.useFakeTimers() // No timer passes.
    cut.resolve()
    await expect(reading).rejects.toMatchObject({ code: 'malformed_json' })
    await drainOf(request)
    expect([QUEUES.readLarge.used, QUEUES.unadmitted.used]).toEqual([0, 0])
  })

  test('a small body is read completely', async () => {
    const { request } = countedRequest(500, { 'Content-Length': '500' })
    const body = await readBody(request, new Promise(() => {}))
    expect(body.takeText()).toHaveLength(500)
    body.release()
  })
})

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('the size of a JSON text', () => {
  test.each<[string, string, object]>([
    ['a number', '1', { values: 1, containers: 0, escapes: 0, isWide: false }],
    ['an empty array', '[ ]', { values: 1, containers: 1 }],
    ['members', '{"a":1,"b":[2,3]}', { values: 5, containers: 2, escapes: 4 }],
    ['brackets within text', '["[{,"]', { values: 2, containers: 1, escapes: 2 }],
    ['an escaped quote', String.raw`["\",["]`, { values: 2, containers: 1, escapes: 4 }],
    ['an escaped backslash', String.raw`["\\",[]]`, { values: 3, containers: 2, escapes: 4 }],
    ['Latin-1', '"\u00ff"', { bytes: 4, isWide: false }],
    ['an arrow', '"→"', { bytes: 5, isWide: true }],
    ['an escaped arrow', String.raw`"\u2192"`, { isWide: true }],
    ['an unterminated string', '["[[', { values: 2, containers: 1 }],
    ['15 digits and points', '[123456789012.34, 1]', { values: 3, mayBeInexact: false }],
    ['15 digits and a point', '[12345678901234.5]', { mayBeInexact: true }],
    ['16 digits', '[1, -1234567890.123456]', { values: 3, mayBeInexact: true }],
    ['several numbers', '[12345678,12345678, [1234567],-1234567]', { mayBeInexact: false }],
    ['digits within text', '["1234567890123456", {"1e-400": "1e-400"}]', { mayBeInexact: false }],
    ['an exponent', '[1e-400]', { values: 2, mayBeInexact: true }],
    ['an exponent in upper case', '{"a":1.5E3}', { values: 2, mayBeInexact: true }],
    ['words', '[true,false,1,true]', { values: 5, mayBeInexact: false }],
  ])('%s, in whole and byte by byte', (_, text, expected) => {
    const bytes = bytesOf(text)
    const whole = measureJson([bytes])
    expect(whole).toMatchObject(expected)
    expect(measureJson([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  test('escapes, values, containers and wide characters add to the weight of a text', () => {
    const size = { bytes: MIB, values: 1000, containers: 100, escapes: 1000, isWide: false }
    const { weight } = weigh(size)
    for (const more of [{ values: 2000 }, { containers: 200 }, { escapes: 2000 }, { isWide: true }])
      expect(weigh({ ...size, ...more }).weight).toBeGreaterThan(weight)
  })

  test('a maximal bulk of ordinary records fits, one of quotes alone does not', () => {
    const size = { bytes: 8 * MIB, values: 9000, containers: 1001, escapes: 40_000, isWide: true }
    expect(weigh(size).weight).toBeLessThan(MAX_WEIGHT)
    expect(weigh({ ...size, escapes: 8 * MIB }).weight).toBeGreaterThan(MAX_WEIGHT)
  })
})

test('a body that would weigh too much is 413, and the error names both weights', async () => {
  const acme = await partner()
  const response = await acme.postText('customers', JSON.stringify([{ note: '"'.repeat(4e6) }]))
  expect(response.status).toBe(413)
  expect((await json(response)).detail).toMatch(/would take 1\d\d MiB .+ at most 74 MiB/)
})

const later = () => Date.now() + 60_000
const claim = (weight: number, account: string, isWaitLimited = false) => ({
  weight,
  account,
  isWaitLimited,
})

describe('a weighted queue', () => {
  test('serves in the order of arrival, and nobody passes the first that has no room', async () => {
    const queue = new WeightedQueue(10)
    const held = queue.tryTake(6, 'a', later())!
    const served: string[] = []
    const waiting = [claim(8, 'b'), claim(2, 'c'), claim(3, 'd')].map(async (one) => {
      const lease = await queue.take(one)
      served.push(one.account)
      return lease
    })
    await someTime()
    expect(served).toEqual([])
    expect(queue.tryTake(1, 'e', later())).toBeNull()

    queue.release(held)
    const [first] = await Promise.all([waiting[0], waiting[1]])
    expect(served.sort()).toEqual(['b', 'c'])
    queue.release(first!)
    await waiting[2]
    expect(served).toEqual(['b', 'c', 'd'])
  })

  test('four large bodies of an account wait, and a fifth is refused at once', async () => {
    const queue = new WeightedQueue(10)
    const held = queue.tryTake(10, 'a', later())!
    const waiting = Array.from({ length: 4 }, () => queue.take(claim(2, 'a', true)))
    const refusal = { code: 'unavailable', details: { headers: { 'Retry-After': '10' } } }
    await expect(queue.take(claim(2, 'a', true))).rejects.toMatchObject(refusal)
    const other = queue.take(claim(2, 'b', true))
    queue.release(held)
    const leases = await Promise.all([...waiting, other])
    expect(leases.map(({ account }) => account)).toEqual(['a', 'a', 'a', 'a', 'b'])
  })

  test('each account gets one lease in each round, however many of its requests wait', async () => {
    const queue = new WeightedQueue(10)
    let last = queue.tryTake(10, 'other', later())!
    const served: string[] = []
    const waiting = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(async (name) => {
      const lease = await queue.take(claim(10, name.slice(0, 1)))
      served.push(name)
      last = lease
    })
    for (let round = 1; round <= waiting.length; round++) {
      queue.release(last)
      while (served.length < round) await scheduler.wait(5)
    }
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('an account at its limit is passed over; a single body may exceed it', async () => {
    const queue = new WeightedQueue(10, 4)
    const held = queue.tryTake(4, 'a', later())!
    const own = queue.take(claim(1, 'a'))
    expect(await queue.take(claim(6, 'b'))).toMatchObject({ account: 'b' })
    queue.release(held)
    expect(await own).toMatchObject({ account: 'a' })
  })

  test('a body that waits for 20 seconds is refused', async () => {
    const queue = new WeightedQueue(10)
    queue.tryTake(10, 'a', Number.POSITIVE_INFINITY)
    vi.useFakeTimers({ toFake: ['Date'] })
    const waiting = queue.take(claim(1, 'b'))
    vi.setSystemTime(Date.now() + 20_000)
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('a claim may shorten the wait', async () => {
    const queue = new WeightedQueue(10)
    queue.tryTake(10, 'a', Number.POSITIVE_INFINITY)
    vi.useFakeTimers({ toFake: ['Date'] })
    const waiting = queue.take({ ...claim(1, 'b'), waitMs: 3000 })
    vi.setSystemTime(Date.now() + 3000)
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('an expired lease is revoked once another request needs its room', async () => {
    const queue = new WeightedQueue(10)
    const slow = queue.tryTake(6, 'a', Date.now() - 1)!
    const small = queue.tryTake(4, 'b', later())!
    expect(queue.isReserved(slow)).toBe(true)
    const next = await queue.take(claim(6, 'c'))
    expect([slow, small, next].map((lease) => queue.isReserved(lease))).toEqual([false, true, true])
    queue.release(slow)
    expect(queue.tryTake(1, 'd', later())).toBeNull()
  })

  test('memory that a lease returns goes to the next request', async () => {
    const queue = new WeightedQueue(10)
    const held = queue.tryTake(10, 'a', later())!
    const waiting = queue.take(claim(6, 'b'))
    queue.shrink(held, 4)
    expect(await waiting).toMatchObject({ weight: 6 })
  })
})

describe('the lease of a body', () => {
  const reading = async (account: string, length = 8 * MIB) => {
    const memory = new BodyMemory(Promise.resolve({ account }), {
      length,
      isGzip: false,
      limit: 8 * MIB,
    })
    await memory.startReading()
    await memory.continueReading()
    return memory
  }

  test('is kept at 1 MiB a second, and a smaller count never shortens it', async () => {
    const first = await reading('a')
    vi.useFakeTimers({ toFake: ['Date'] })
    first.received(4 * MIB)
    first.received(1)
    const waiting = reading('a').then((memory) => ({ memory }))
    const isGranted = () => Promise.race([waiting, someTime().then(() => null)])
    vi.setSystemTime(Date.now() + 4000)
    expect(await isGranted()).toBeNull()
    vi.setSystemTime(Date.now() + 2500)
    const second = await isGranted()
    expect(() => first.received(5 * MIB)).toThrow()
    for (const memory of [first, second!.memory]) memory.release()
  })

  test('lasts for 30 seconds while the body is processed', async () => {
    const first = await reading('a', 70_000)
    await first.process(MAX_WEIGHT)
    first.decoded()
    const second = await reading('b', 70_000)
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + 29_000)
    const waiting = second.process(MAX_WEIGHT).then(() => 'granted')
    const isGranted = () => Promise.race([waiting, someTime().then(() => 'waiting')])
    expect(await isGranted()).toBe('waiting')
    vi.setSystemTime(Date.now() + 1500)
    expect(await isGranted()).toBe('granted')
    for (const memory of [first, second]) memory.release()
  })

  test('small bodies of one account do not hold up those of others', async () => {
    const begin = async (account: string) => {
      const memory = new BodyMemory(Promise.resolve({ account }), {
        length: 7000,
        isGzip: true,
        limit: 8 * MIB,
      })
      await memory.startReading()
      return memory
    }
    // Each weighs 1 MiB: four fill the queue of callers who are not admitted yet.
    const held = await Promise.all(Array.from({ length: 5 }, () => begin('a')))
    const waiting = begin('a')
    const isWaiting = Promise.race([waiting.then(() => false), someTime().then(() => true)])
    const others = await Promise.all(['b', 'c', 'd'].map(begin))
    expect(await isWaiting).toBe(true)
    for (const memory of [...held, ...others]) memory.release()
    const last = await waiting
    last.release()
  })

  test('small bodies pass large ones that wait', async () => {
    const large = await reading('a', 70_000)
    await large.process(MAX_WEIGHT)
    const waiting = reading('b', 70_000)
    const acme = await partner()
    expect((await acme.post('customers', ada)).status).toBe(201)
    for (const memory of [large, await waiting]) memory.release()
  })

  test('survives a slow chunk while no other body waits', async () => {
    const memory = await reading('a')
    expect(await memory.waitFor(scheduler.wait(1200).then(() => 'came'))).toBe('came')
    memory.release()
  })
})

describe('a large body that arrives too slowly', () => {
  const slow = (pace: number) => {
    let timer: ReturnType<typeof setInterval>
    return new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(1_100_000).fill(0x20))
        timer = setInterval(() => controller.enqueue(new Uint8Array([0x20])), pace)
      },
      cancel: () => clearInterval(timer),
    })
  }

  test.each([
    ['a slow body', 200],
    ['a stalled body', 60_000],
  ])('%s makes room for the next large body', async (_, pace) => {
    const acme = await partner()
    const headers = {
      Authorization: `Bearer ${acme.access_token}`,
      'Content-Type': 'application/json',
    }
    const controller = new AbortController()
    const init = { method: 'POST', headers, body: slow(pace), signal: controller.signal }
    const pending = ask('/api/v1/forex/customers', init)
    await scheduler.wait(300)
    const large = JSON.stringify(ada) + ' '.repeat(3_000_000)

    expect((await acme.postText('customers', large)).status).toBe(201)
    const refused = await pending
    expect(refused.status).toBe(503)
    expect((await json(refused)).detail).toContain('at least 1 MiB per second')
    controller.abort()
  })
})
