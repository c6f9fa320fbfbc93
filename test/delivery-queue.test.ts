import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { excessOf, storeInQueue, usages } from '../src/ingest/delivery-queue.ts'
import { brand } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { json } from './partner.ts'
import { overridingSessions } from './watched.ts'

type Brand = Awaited<ReturnType<typeof brand>>

/** The longest time that a batch waits for as many batches as a test awaits, in milliseconds. */
const LONGEST_WAIT_MS = 15_000

/** The time in which a batch waits for one batch more than the test awaits, in milliseconds. */
const SURPLUS_WAIT_MS = 300
const LOOK_MS = 10

/**
 * An environment whose database reports so many milliseconds for each batch, and counts the batches that
 * run at once. Each waits until `awaited` have run at once, and a while for one more, which a test
 * excludes. `first` has the times of the batches that end first.
 */
function timed() {
  const seen = {
    databaseMs: 1,
    atOnce: 0,
    most: 0,
    awaited: 1,
    starts: [] as number[],
    first: [] as number[],
  }
  const DB = overridingSessions(env.DB, (real) => ({
    prepare: (text: string) => real.prepare(text),
    batch: async (list: D1PreparedStatement[]) => {
      seen.atOnce += 1
      seen.starts.push(seen.atOnce)
      seen.most = Math.max(seen.most, seen.atOnce)
      for (let waited = 0; waited < LONGEST_WAIT_MS; waited += LOOK_MS) {
        if (seen.most >= seen.awaited) break
        await scheduler.wait(LOOK_MS)
      }
      await scheduler.wait(SURPLUS_WAIT_MS)
      const results = await real.batch(list)
      seen.atOnce -= 1
      const times = [seen.first.shift() ?? seen.databaseMs]
      return results.map((one) => ({
        ...one,
        meta: { ...one.meta, duration: times.shift() ?? 0 },
      }))
    },
  }))
  const send = (acme: Brand, records: number, name: string) => {
    const body = Array.from({ length: records }, (_, i) => ({ customerId: `${name}-${i}` }))
    return fetchWith(
      { ...env, DB },
      new Request('https://api.example/tracking/events/customers', {
        method: 'POST',
        headers: { 'x-api-key': acme.brand_token, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  }
  /** Sends deliveries at once. Returns their statuses, and how many were stored at the same time. */
  const sendAtOnce = async (acme: Brand, records: readonly number[], awaited: number) => {
    Object.assign(seen, { most: 0, awaited })
    const responses = await Promise.all(records.map((count, i) => send(acme, count, `r${i}`)))
    return { statuses: responses.map(({ status }) => status), most: seen.most }
  }
  return { seen, send, sendAtOnce }
}

const OK = (count: number) => Array(count).fill(200)

test('a delivery has the bookmark of its session', async () => {
  const session = env.DB.withSession('first-primary')
  await session.prepare('select 1').run()
  const delivery = { account: 'bookmarked', received: 1 }
  const bookmark = await storeInQueue(delivery, 1, session, async (own) => own.getBookmark())
  expect(bookmark).toEqual(expect.any(String))
  expect(bookmark).toBe(session.getBookmark())
})

test('a delivery has free time for its records and its bytes', () => {
  for (const [databaseMs, records, characters, excess] of [
    [20, 0, 0, 0],
    [28, 100, 0, 0],
    [29, 100, 0, 1],
    [110, 1000, 102_400, 0],
    [300, 1000, 102_400, 190],
    [600, 1000, 8_388_608, 0],
  ] as const) {
    expect(excessOf(databaseMs, records, characters)).toBeCloseTo(excess)
  }
})

test('at most 2000 records of an account are stored at once, and small deliveries besides', async () => {
  const acme = await brand({ account: 'parallel' })
  const { sendAtOnce } = timed()
  expect(await sendAtOnce(acme, [1000, 1000, 1000], 2)).toEqual({ statuses: OK(3), most: 2 })
  const mixed = await sendAtOnce(acme, [1000, 1000, 100, 1], 4)
  expect(mixed).toEqual({ statuses: OK(4), most: 4 })
})

test('after a slow delivery the account stores one at a time, and others go on', async () => {
  const [slow, other] = await Promise.all([
    brand({ account: 'slow' }),
    brand({ account: 'slow-other' }),
  ])
  const { seen, send, sendAtOnce } = timed()
  expect((await sendAtOnce(slow, [1, 1, 1], 3)).most).toBe(3)
  seen.databaseMs = 300
  expect((await send(slow, 1, 'heavy')).status).toBe(200)
  seen.databaseMs = 1
  expect(await sendAtOnce(slow, [1, 1, 1], 1)).toEqual({ statuses: OK(3), most: 1 })
  expect(await sendAtOnce(other, [1, 1, 1], 3)).toEqual({ statuses: OK(3), most: 3 })
})

test('an isolate remembers the usage of at most 1000 accounts', async () => {
  const acme = await brand({ account: 'thousandth' })
  const { seen, send } = timed()
  const usage = { excessMs: 1, pausedUntil: 0, expiresAt: Number.POSITIVE_INFINITY }
  for (let i = 1; i <= 1000; i++) usages.set(`other-${i}`, usage)
  seen.databaseMs = 300
  expect((await send(acme, 1, 'heavy')).status).toBe(200)
  expect([...usages.keys()]).toEqual(['thousandth'])
})

test('deliveries that wait already when the account becomes slow are stored one at a time, too', async () => {
  const acme = await brand({ account: 'becomes-slow' })
  const { seen, sendAtOnce } = timed()
  seen.first = [400]
  const { statuses } = await sendAtOnce(acme, [1000, 1000, 1000, 1000], 2)
  expect([statuses, seen.starts]).toEqual([OK(4), [1, 2, 1, 1]])
})

test('a little time beyond the free time has no effect', async () => {
  const acme = await brand({ account: 'hiccup' })
  const { seen, send, sendAtOnce } = timed()
  seen.databaseMs = 200
  expect((await send(acme, 1, 'heavy')).status).toBe(200)
  expect((await sendAtOnce(acme, [1, 1, 1], 3)).most).toBe(3)
})

test('the usage of an account is forgotten a minute after its last delivery', async () => {
  const acme = await brand({ account: 'forgotten' })
  const { seen, send, sendAtOnce } = timed()
  const used = { excessMs: 1000, pausedUntil: 0 }
  // A delivery adds to what is remembered, and not to what is forgotten.
  for (const [expiresIn, most] of [
    [60_000, 1],
    [-1, 3],
  ] as const) {
    usages.set('forgotten', { ...used, expiresAt: Date.now() + expiresIn })
    seen.databaseMs = 30
    expect((await send(acme, 1, 'heavy')).status).toBe(200)
    seen.databaseMs = 1
    expect(await sendAtOnce(acme, [1, 1, 1], most)).toEqual({ statuses: OK(3), most })
  }
})

test('an account that used far more than its share gets the length of its pause', async () => {
  const acme = await brand({ account: 'very-slow' })
  const { seen, send } = timed()
  seen.databaseMs = 5250
  expect((await send(acme, 1, 'heavy')).status).toBe(200)
  const refused = await send(acme, 1, 'refused')
  expect([refused.status, (await json(refused)).code]).toEqual([503, 'unavailable'])
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(15)
  expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(20)
  expect((await json(acme.get('customers'))).meta.total).toBe(1)
})
