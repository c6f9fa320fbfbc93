import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { Hono } from 'hono'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reserveMemory, Sending } from '../src/http/memory.ts'
import { QUEUES } from '../src/http/memory-queues.ts'
import { sendResults } from '../src/http/send.ts'
import { brand } from './brand.ts'
import { json, ORIGIN } from './partner.ts'

// The memory that answers to deliveries take in an isolate until they are received.

const KIB = 1024
const MIB = 1024 * KIB

const someTime = () => scheduler.wait(50)

type Brand = Awaited<ReturnType<typeof brand>>

/** Sends records, and leaves the answer unread. */
const sendUnread = ({ brand_token }: Brand, records: readonly object[]) =>
  exports.default.fetch(`${ORIGIN}/tracking/events/customers`, {
    method: 'POST',
    headers: { 'x-api-key': brand_token, 'Content-Type': 'application/json' },
    body: JSON.stringify(records),
  })

const EMPTY = Array.from({ length: 1000 }, () => ({}))

/** Waits until all memory was returned. */
async function untilNothingIsHeld() {
  for (let turn = 0; turn < 100 && QUEUES.deliveryResponses.used > 0; turn++) await someTime()
  expect(QUEUES.deliveryResponses.used).toBe(0)
}

/** Stops the clock, so that no lease ends because the machine is slow. */
const stopClock = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })

beforeEach(() => expect(QUEUES.deliveryResponses.used).toBe(0))
afterEach(() => vi.useRealTimers())

test('an answer above 64 KiB holds its bytes until it is received', async () => {
  const response = await sendUnread(await brand(), EMPTY)
  const { used } = QUEUES.deliveryResponses
  expect([response.status, used > 64 * KIB]).toEqual([422, true])
  expect(await response.arrayBuffer()).toHaveProperty('byteLength', used)
  await untilNothingIsHeld()
})

test('an answer that is larger than announced is sent although there is no room for it', async () => {
  const held = QUEUES.deliveryResponses.tryTake(4 * MIB, 'other', Number.POSITIVE_INFINITY)!
  const context = createExecutionContext()
  const answer = 'x'.repeat(65 * KIB)
  const app = new Hono().get('/', async (c) => {
    await reserveMemory(c.req.raw, 'acme', 1)
    c.res = c.text(answer)
    await sendResults(c)
    return c.res
  })
  const response = await app.request('/', {}, env, context)
  expect(QUEUES.deliveryResponses.used).toBe(4 * MIB)
  expect(await response.text()).toBe(answer)
  await waitOnExecutionContext(context)
  expect(QUEUES.deliveryResponses.used).toBe(4 * MIB)
  QUEUES.deliveryResponses.release(held)
})

test('reading more of an answer without a lease takes none', async () => {
  const sending = new Sending(QUEUES.deliveryResponses, null)
  expect(await sending.readMore(Promise.resolve('more'))).toBe('more')
  expect(QUEUES.deliveryResponses.used).toBe(0)
})

test('an answer holds nothing once the client has gone', async () => {
  const response = await sendUnread(await brand(), EMPTY)
  await response.body!.cancel()
  await untilNothingIsHeld()
})

test.each([
  ['one record', [{ customerId: 'a' }]],
  ['30 records', Array.from({ length: 30 }, (_, i) => ({ customerId: `c-${i}` }))],
])('a small answer, to %s, holds nothing', async (_, records) => {
  const response = await sendUnread(await brand(), records)
  expect([response.ok, QUEUES.deliveryResponses.used]).toEqual([true, 0])
  expect(await response.json()).toHaveProperty('summary.created', records.length)
})

test('unread answers of an account hold at most 2 MiB, and a delivery without room stores nothing', async () => {
  const acme = await brand()
  stopClock()
  const unread = await Promise.all(Array.from({ length: 5 }, () => sendUnread(acme, EMPTY)))
  const held = QUEUES.deliveryResponses.tryTake(
    4 * MIB - QUEUES.deliveryResponses.used,
    'b',
    Number.POSITIVE_INFINITY,
  )!
  const bulk = Array.from({ length: 600 }, (_, i) => ({ customerId: `c-${i}` }))
  // Four wait, and the fifth is refused at once.
  const sent = Array.from({ length: 5 }, () => sendUnread(acme, bulk))
  const refused = await Promise.race(sent)
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '10'])
  expect((await json(refused)).detail).toContain('Too many responses above 64 KiB are unread.')
  expect(QUEUES.deliveryResponses.used).toBe(4 * MIB)
  expect(await env.DB.prepare('select count(*) as n from customers').first('n')).toBe(0)

  QUEUES.deliveryResponses.release(held)
  const answered = (await Promise.all(sent)).filter((response) => response !== refused)
  for (const response of answered) {
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
  await Promise.all(unread.map(({ body }) => body!.cancel()))
  await untilNothingIsHeld()
})

test('unread answers of an account hold at most 2 MiB; others are answered, and slow clients cut', async () => {
  const acme = await brand({ account: 'acme' })
  stopClock()
  const unread: Response[] = []
  while (QUEUES.deliveryResponses.used < 1.4 * MIB) unread.push(await sendUnread(acme, EMPTY))
  const counts = { answered: 0 }
  const next = [1, 2, 3, 4].map(async () => {
    const response = await sendUnread(acme, EMPTY)
    counts.answered += 1
    return response
  })
  for (let turn = 0; turn < 10; turn++) await someTime()
  const { used } = QUEUES.deliveryResponses
  expect([used <= 2 * MIB, counts.answered < 4]).toEqual([true, true])
  const other = await sendUnread(await brand({ account: 'other' }), EMPTY)
  expect([other.status, QUEUES.deliveryResponses.used > used]).toEqual([422, true])

  vi.setSystemTime(Date.now() + 15_000)
  const answered = await Promise.all(next)
  expect(answered.map(({ status }) => status)).toEqual([422, 422, 422, 422])
  expect(QUEUES.deliveryResponses.used).toBeLessThanOrEqual(4 * MIB)
  const all = [...unread, ...answered, other]
  await Promise.all(all.map(({ body }) => body!.cancel().catch(() => {})))
  await untilNothingIsHeld()
})
