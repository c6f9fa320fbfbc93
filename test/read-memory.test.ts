import { createExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { type Context, Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError, onError } from '../src/errors.ts'
import { ReadMemory } from '../src/http/memory.ts'
import { QUEUES } from '../src/http/memory-queues.ts'
import { sendPieces, sendText } from '../src/http/send.ts'
import { storedBrand as brand } from './brand.ts'
import { ask, json, ORIGIN } from './partner.ts'

// The memory that answers to reads take in an isolate, which has 128 MiB.

const KIB = 1024
const MIB = 1024 * KIB

/** What the pages of `wideBrand` have at least, in bytes. */
const PAGE_BYTES = 130 * 14 * KIB

type Brand = Awaited<ReturnType<typeof brand>>

const leased = () => ({ answers: QUEUES.readResponses.used, process: QUEUES.process.used })
const NOTHING = { answers: 0, process: 0 }

async function* twoPieces() {
  yield 'x'.repeat(65 * KIB)
  yield 'y'
}

const someTime = () => scheduler.wait(50)

/** Waits until `isTrue` for at most 5 seconds. */
async function until(isTrue: () => boolean) {
  for (let turn = 0; turn < 100 && !isTrue(); turn++) await someTime()
  expect(isTrue()).toBe(true)
}

/** Asks for a page, and leaves its body unread. */
const askUnread = ({ brand_token }: Brand, query = 'per_page=130', init: RequestInit = {}) =>
  exports.default.fetch(`${ORIGIN}/tracking/events/customers?${query}`, {
    headers: { 'x-api-key': brand_token },
    ...init,
  })

/** Returns how many bytes of a body can still be read; 0 if the connection was cut. */
const receivedBytes = (response: Response) =>
  response.arrayBuffer().then(
    ({ byteLength }) => byteLength,
    () => 0,
  )

/** Creates a brand with 130 customers whose page has almost 2 MiB. */
async function wideBrand(account: string) {
  const acme = await brand({ account })
  const bulk = Array.from({ length: 130 }, (_, i) => ({
    customerId: `u-${i}`,
    note: 'n'.repeat(14 * KIB),
  }))
  expect((await acme.post('customers', bulk)).status).toBe(200)
  return acme
}

beforeEach(() => expect(leased()).toEqual(NOTHING))
afterEach(() => vi.useRealTimers())

describe('an answer above 64 KiB', () => {
  test('holds its bytes until it is received, and nothing after that', async () => {
    const acme = await wideBrand('acme')
    const response = await askUnread(acme)
    const { answers, process } = leased()
    expect([answers > PAGE_BYTES, process]).toEqual([true, 0])

    expect(await response.arrayBuffer()).toHaveProperty('byteLength', answers)
    await until(() => leased().answers === 0)
  })

  test('holds nothing once the client has gone', async () => {
    const response = await askUnread(await wideBrand('acme'))
    expect(leased().answers).toBeGreaterThan(PAGE_BYTES)
    await response.body!.cancel()
    await until(() => leased().answers === 0)
  })

  test('holds nothing if only its head was asked for', async () => {
    const acme = await wideBrand('acme')
    expect((await askUnread(acme, 'per_page=130', { method: 'HEAD' })).status).toBe(200)
    expect(leased()).toEqual(NOTHING)
  })

  test('is one at a time for an account; the others wait, and replace one that is read slowly', async () => {
    const acme = await wideBrand('acme')
    const first = await askUnread(acme)
    const bytes = leased().answers
    const served: number[] = []
    const others = Array.from({ length: 29 }, async () => {
      const response = await askUnread(acme)
      served.push(response.status)
      return response
    })
    await someTime()
    expect([served, leased()]).toEqual([[], { answers: bytes, process: 0 }])

    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + 2500)
    await until(() => served.length === 1)
    expect(leased()).toEqual({ answers: bytes, process: 0 })
    // The request looks every second whether it still holds its lease.
    await scheduler.wait(1100)
    expect(await receivedBytes(first)).toBeLessThan(PAGE_BYTES)

    vi.setSystemTime(Date.now() + 20_000)
    const responses = await Promise.all(others)
    expect(served.filter((status) => status === 503).length).toBeGreaterThanOrEqual(27)
    await Promise.all(responses.map(({ body }) => body?.cancel()))
    await until(() => leased().answers === 0)
  })

  test('of an affiliate never keeps one of the firm waiting', async () => {
    const app = new Hono<{ Bindings: Env; Variables: { affiliate: object } }>().get(
      '/:who',
      (c) => {
        if (c.req.param('who') === 'affiliate') c.set('affiliate', {})
        return sendText(c, 'x'.repeat(2 * MIB), {}, new ReadMemory('acme'))
      },
    )
    const context = createExecutionContext()
    const sent = Array.from({ length: 3 }, () => app.request('/affiliate', {}, env, context))
    const unread = await sent[0]!
    const firm = app.request('/firm', {}, env, context)
    const first = await Promise.race([firm, scheduler.wait(1000)])
    expect(first).toHaveProperty('status', 200)
    for (const one of [unread, firm, ...sent.slice(1)]) await (await one).body!.cancel()
    await until(() => leased().answers === 0)
  })

  test('of all accounts together take at most 6 MiB', async () => {
    const accounts = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => wideBrand(`acme-${name}`)),
    )
    const responses: Response[] = []
    const reading = accounts.map(async (acme) => responses.push(await askUnread(acme)))
    await until(() => responses.length === 2)
    await someTime()
    expect(responses).toHaveLength(2)
    expect(leased().answers).toBeLessThanOrEqual(6 * MIB)

    await responses[0]!.body!.cancel()
    await until(() => responses.length === 3)
    await responses[1]!.body!.cancel()
    await until(() => responses.length === 4)
    await Promise.all(responses.slice(2).map(({ body }) => body!.cancel()))
    await Promise.all(reading)
    await until(() => leased().answers === 0)
  })

  test('is cut off after 30 seconds in which the client reads nothing', async () => {
    const response = await askUnread(await wideBrand('acme'))
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + 29_000)
    await scheduler.wait(1100)
    expect(leased().answers).toBeGreaterThan(0)
    vi.setSystemTime(Date.now() + 1000)
    await until(() => leased().answers === 0)
    expect(await receivedBytes(response)).toBeLessThan(PAGE_BYTES)
  })

  test('is refused after 20 seconds in a queue, with advice', async () => {
    const acme = await wideBrand('acme')
    const held = QUEUES.readResponses.tryTake(6 * MIB, 'other', Number.POSITIVE_INFINITY)!
    vi.useFakeTimers({ toFake: ['Date'] })
    const waiting = askUnread(acme)
    await someTime()
    vi.setSystemTime(Date.now() + 20_000)
    const response = await waiting
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '10'])
    expect((await json(response)).detail).toContain('Responses of up to 64 KiB do not wait')
    QUEUES.readResponses.release(held)
    expect(leased()).toEqual(NOTHING)
  })
})

test.each([
  ['sent at once', (c: Context) => sendText(c, 'x'.repeat(65 * KIB), {}, new ReadMemory('acme'))],
  [
    'sent in pieces',
    (c: Context) => sendPieces(c, twoPieces(), {}, new ReadMemory('acme'), 65 * KIB),
  ],
])('an answer %s that is refused for lack of memory has no Link', async (_, send) => {
  const held = QUEUES.readResponses.tryTake(6 * MIB, 'other', Number.POSITIVE_INFINITY)!
  vi.useFakeTimers({ toFake: ['Date'] })
  const waiting = new Hono<{ Bindings: Env }>()
    .get('/', (c) => {
      c.header('Link', '</?page=2>; rel="next"')
      return send(c)
    })
    .onError(onError)
    .request('/', {}, env)
  await someTime()
  vi.setSystemTime(Date.now() + 20_000)
  const { status, headers } = await waiting
  expect([status, headers.get('Retry-After'), headers.get('Link')]).toEqual([503, '10', null])
  QUEUES.readResponses.release(held)
  expect(leased()).toEqual(NOTHING)
})

describe('an answer of at most 64 KiB', () => {
  test('does not wait for large answers or bodies', async () => {
    const acme = await wideBrand('acme')
    const held = [QUEUES.readResponses, QUEUES.process].map((queue) => ({
      queue,
      lease: queue.tryTake(queue.limit, 'other', Number.POSITIVE_INFINITY)!,
    }))
    const before = leased()
    for (const path of ['customers?per_page=3', 'customers/u-1', 'account', 'held', 'deliveries']) {
      expect([path, (await acme.get(path)).status]).toEqual([path, 200])
    }
    const totals = await acme.get('totals?from=2026-10-01&to=2026-10-02')
    expect(totals.status).toBe(200)
    expect(leased()).toEqual(before)
    for (const { queue, lease } of held) queue.release(lease)
  })

  test('is made as a whole before it is sent, so that it holds nothing and an error is one', async () => {
    async function* pieces(fails: boolean) {
      yield 'x'
      if (fails) throw new ApiError('unavailable', { detail: 'x' })
      yield 'y'
    }
    const app = new Hono<{ Bindings: Env }>()
      .get('/:fails', (c) => {
        const texts = pieces(c.req.param('fails') === 'true')
        return sendPieces(c, texts, {}, new ReadMemory('acme'), 65 * KIB)
      })
      .onError(onError)
    const context = createExecutionContext()
    const response = await app.request('/false', {}, env, context)
    expect(leased()).toEqual(NOTHING)
    expect(await response.text()).toBe('xy')
    expect((await app.request('/true', {}, env, context)).status).toBe(503)
  })
})

test('pages above and below 64 KiB are walked with the same records and total', async () => {
  const acme = await wideBrand('acme')
  for (const size of [3, 40, 100, 130]) {
    const ids = []
    let path: string | null = `customers?per_page=${size}`
    while (path) {
      const { data, meta } = await json(
        ask(`/tracking/events/${path}`, { headers: { 'x-api-key': acme.brand_token } }),
      )
      ids.push(...data.map((one: { customerId: string }) => one.customerId))
      expect(meta.total).toBe(130)
      path = meta.next_cursor && `customers?cursor=${meta.next_cursor}`
    }
    expect([size, new Set(ids).size, ids.length]).toEqual([size, 130, 130])
  }
})
