import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { brand, deposited, eve, day as pastDay } from '../brand.ts'
import { ada, ask, askAdmin, json, partner, traded as pastTrade } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import { printedAs } from '../secrecy.ts'
import { eventsOf } from '../webhooks/webhook-events.ts'

// Dates in the future: with a past date the alarm of an expired token would end it at once.
const traded = { ...pastTrade, date: '2030-10-02' }
const day = { ...pastDay, createtime: '2030-10-02' }

const at = (time: string) => vi.setSystemTime(new Date(`2030-10-0${time}Z`))

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  at('3T05:30:00')
})
afterEach(() => {
  vi.useRealTimers()
})

/** Has an account deliver something two days ago, as most have. */
async function begin<T extends { post: (path: string, body: unknown) => Promise<Response> }>(
  account: T,
  customer: object,
): Promise<T> {
  const now = Date.now()
  at('1T10:00:00')
  await account.post('customers', [customer])
  vi.setSystemTime(now)
  return account
}

const cron = (expression: Parameters<typeof runCron>[0]) => runCron(expression)

/** Returns the feed by resource, by the admin route because partner tokens expire in these tests. */
const feedOf = async ({ account }: { account: string }) =>
  Object.fromEntries(
    (await json(askAdmin(`accounts/${account}/feed`))).data.map((feed: { resource: string }) => [
      feed.resource,
      feed,
    ]),
  )

describe('GET feed', () => {
  test('a feed has the last delivery, lag and refused share per resource', async () => {
    const acme = await partner()
    const nothing = {
      last_delivery_at: null,
      lag_seconds: null,
      received_last_day: 0,
      rejected_last_day: 0,
      not_stored_last_day: 0,
      refused_share_last_day: null,
    }
    expect(await feedOf(acme)).toEqual({
      customers: { resource: 'customers', ...nothing },
      transactions: { resource: 'transactions', ...nothing },
      'trading-activity': { resource: 'trading-activity', ...nothing, yesterday: 'pending' },
    })
    await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
    await acme.post('customers', [ada, {}])
    await acme.post('customers', [ada, {}], { Prefer: 'handling=lenient' })
    await acme.post('customers?dry_run=true', [{}])
    at('3T05:31:40')
    expect((await feedOf(acme)).customers).toMatchObject({
      resource: 'customers',
      last_delivery_at: '2030-10-03T05:30:00.000Z',
      lag_seconds: 100,
      received_last_day: 6,
      rejected_last_day: 2,
      not_stored_last_day: 1,
      refused_share_last_day: 0.5,
    })
    at('4T06:30:00')
    expect((await feedOf(acme)).customers).toMatchObject({
      last_delivery_at: '2030-10-03T05:30:00.000Z',
      received_last_day: 0,
      refused_share_last_day: null,
    })
  })

  test('a feed counts the records of the last 24 hours', async () => {
    const acme = await brand()
    for (const hour of ['3T05', '3T06', '3T07']) {
      at(`${hour}:30:00`)
      await acme.post('customers', [eve])
      await acme.post('customers', [eve, {}, {}])
    }
    for (const [time, received] of [
      ['3T07:40:00', 12],
      ['4T05:10:00', 8],
      ['4T06:10:00', 4],
      ['4T07:10:00', 0],
    ] as const) {
      at(time)
      expect([time, (await feedOf(acme)).customers]).toMatchObject([
        time,
        {
          received_last_day: received,
          refused_share_last_day: received === 0 ? null : 0.75,
          last_delivery_at: '2030-10-03T07:30:00.000Z',
        },
      ])
    }
  })

  test.each([
    ['3T05:59:59', 'pending'],
    ['3T06:00:00', 'missing'],
    ['3T23:59:59', 'missing'],
  ])("yesterday's activity that has not arrived at %s is %s", async (time, due) => {
    at(time)
    const acme = await begin(await partner(), ada)
    const casino = await begin(await brand(), eve)
    // None of these counts for yesterday: one has today's date, one is refused, one is a dry run.
    await acme.post('trading-activity', [{ ...traded, date: '2030-10-03' }])
    await acme.post('trading-activity', [traded, {}])
    await acme.post('trading-activity?dry_run=true', [traded])
    expect((await feedOf(acme))['trading-activity'].yesterday).toBe(due)

    await acme.post('trading-activity', [traded])
    await casino.post('activities', [day])
    expect((await feedOf(acme))['trading-activity'].yesterday).toBe('arrived')
    expect((await feedOf(casino)).activities.yesterday).toBe('arrived')
    // On the 3rd the partner sent activity of that day, and the brand did not.
    vi.setSystemTime(Date.now() + 86_400_000)
    expect((await feedOf(acme))['trading-activity'].yesterday).toBe('arrived')
    expect((await feedOf(casino)).activities.yesterday).toBe(due)
  })
})

test('activity that is reported as it happens has arrived', async () => {
  at('2T23:30:00')
  const casino = await begin(await brand(), eve)
  await casino.post('activities', [{ ...deposited, createtime: '2030-10-02 23:29' }])
  at('3T06:30:00')
  expect((await feedOf(casino)).activities.yesterday).toBe('arrived')
  at('4T06:30:00')
  expect((await feedOf(casino)).activities.yesterday).toBe('missing')
})

test('the last delivery is the newest one, even if an older one is stored after it', async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  at('3T05:20:00')
  await acme.post('customers', { ...ada, customer_id: 'c-2' })

  expect((await feedOf(acme)).customers.last_delivery_at).toBe('2030-10-03T05:30:00.000Z')
})

describe('the team', () => {
  test('a log line names each feed that was late this morning', async () => {
    const acme = await begin(await partner(), ada)
    await begin(await brand({ binding: 'DB_2' }), eve)
    await acme.post('trading-activity', [traded])
    at('3T06:05:00')
    await cron('5 6 * * *')
    expect(printedAs('warn').map((line) => JSON.parse(line))).toEqual([
      {
        late_feed: 'activities',
        account: 'acme-casino',
        last_delivery_at: null,
      },
    ])
  })
})

test('a feed that is missing needs attention', async () => {
  const acme = await begin(await partner(), ada)
  const late = async () => {
    const { attention } = await json(acme.get('account'))
    return attention.find(({ code }: { code: string }) => code === 'feed_late')
  }
  expect(await late()).toBeUndefined()
  at('3T06:00:00')
  expect(await late()).toMatchObject({
    count: 1,
    detail: expect.stringContaining('trading-activity'),
  })
  await acme.post('trading-activity', [traded])
  expect(await late()).toBeUndefined()
})

describe('retention', () => {
  const DAY_MS = 86_400_000
  const count = async (db: D1Database, table: string) =>
    (await db.prepare(`select count(*) as n from ${table}`).first<{ n: number }>())!.n

  test('deliveries, arrivals and clicks are deleted after 30 days, records never', async () => {
    const acme = await brand()
    const other = await brand({ account: 'other', binding: 'DB_2' })
    for (const { post } of [acme, other]) {
      await post('customers', eve)
      await post('activities', deposited)
    }
    const click = (db: D1Database, daysAgo: number) => {
      const then = Date.now() - daysAgo * DAY_MS
      return db
        .prepare(
          "insert into clicks (account, day, link_id, click_id, clicked_at) values ('a', ?, 'l', ?, ?)",
        )
        .bind(Math.floor(then / DAY_MS), String(daysAgo), then)
        .run()
    }
    for (const daysAgo of [0, 30, 31, 400]) await click(env.DB_2, daysAgo)
    await cron('17 * * * *')
    expect([await count(env.DB, 'deliveries'), await count(env.DB_2, 'deliveries')]).toEqual([2, 2])
    expect(await count(env.DB_2, 'clicks')).toBe(2)

    vi.setSystemTime(Date.now() + 29 * DAY_MS)
    await acme.post('customers', { ...eve, customerId: 'p-2' })
    vi.setSystemTime(Date.now() + 1 * DAY_MS + 1)
    await cron('17 * * * *')
    expect([await count(env.DB, 'deliveries'), await count(env.DB_2, 'deliveries')]).toEqual([1, 0])
    expect(await count(env.DB_2, 'arrivals')).toBe(2)
    vi.setSystemTime(Date.now() + 3_600_000)
    await cron('17 * * * *')
    expect([await count(env.DB, 'arrivals'), await count(env.DB_2, 'arrivals')]).toEqual([1, 0])
    expect([await count(env.DB, 'customers'), await count(env.DB_2, 'events')]).toEqual([2, 1])
  })
})

describe('a new account', () => {
  const create = async () => {
    const body = { account: 'new-casino', name: 'New', vertical: 'igaming', mode: 'test' }
    expect((await askAdmin('accounts', 'POST', body)).status).toBe(201)
    const { brand_token } = await json(askAdmin('accounts/new-casino/brand-tokens', 'POST'))
    const headers = { 'x-api-key': brand_token, 'Content-Type': 'application/json' }
    return (path: string, records?: unknown[]) =>
      ask(`/tracking/events/${path}`, {
        headers,
        ...(records && { method: 'POST', body: JSON.stringify(records) }),
      })
  }
  const yesterday = async (call: (path: string) => Promise<Response>) => {
    const feed = (await json(call('feed'))).data[1]
    const [{ feeds }] = (await json(askAdmin('feeds'))).data
    expect([feed.resource, feeds[1]]).toEqual(['activities', feed])
    expect((await feedOf({ account: 'new-casino' })).activities).toEqual(feed)
    return feed.yesterday
  }

  test('an account owes no activity for the day of its first delivery', async () => {
    at('3T09:00:00')
    const call = await create()
    await call('customers', [eve])
    expect(await yesterday(call)).toBe('pending')
    at('4T06:05:00')
    await cron('5 6 * * *')
    expect(await yesterday(call)).toBe('pending')
    expect(printedAs('warn')).toEqual([])

    at('5T06:05:00')
    await cron('5 6 * * *')
    expect(await yesterday(call)).toBe('missing')
    expect(printedAs('warn')).toHaveLength(1)
  })
})

test('an event is sent for each day whose activity is missing', async () => {
  const casino = await begin(await brand(), eve)
  await askAdmin(`accounts/${casino.account}/webhooks`, 'POST', {
    ...{ url: 'https://hooks.example/feeds', events: ['feed.late'] },
  })
  const late = (day: string) => ({ type: 'feed.late', resource: 'activities', day })
  for (const time of ['3T06:05:00', '3T06:06:00', '4T06:05:00']) {
    at(time)
    await cron('5 6 * * *')
  }
  await casino.post('activities', { ...day, createtime: '2030-10-04' })
  at('5T06:05:00')
  await cron('5 6 * * *')
  expect(await eventsOf(casino.account)).toMatchObject([late('2030-10-02'), late('2030-10-03')])
})
