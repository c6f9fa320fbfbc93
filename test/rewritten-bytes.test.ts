import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { brand } from './brand.ts'
import { askAdmin, json } from './partner.ts'
import { countCalls } from './watched.ts'

// A change of one additional field rewrites all that are stored of the customer. Each of these has
// 64,061 bytes of them: 65 customers stay below 4 MiB, and 66 exceed it.

const MOST = 65

type Brand = Awaited<ReturnType<typeof brand>>

const fullFields = JSON.stringify(
  Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [name, JSON.stringify('x'.repeat(16_004))]),
  ),
)

/** Creates a brand with customers that have many additional fields. */
async function brandWithLarge(customers: number): Promise<Brand> {
  const acme = await brand()
  await acme.post('customers', changes(customers))
  const insert = `update customers set extras = ? where account = 'acme-casino'`
  await env.DB.prepare(insert).bind(fullFields).run()
  return acme
}

/** Small changes of so many customers. */
const changes = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ customerId: `p-${i}`, ...fields }))

const changed = () =>
  env.DB.prepare(`select count(*) as n from customers where revision > 1`).first<number>('n')

const send = (acme: Brand, body: unknown) =>
  countCalls('/tracking/events/customers', {
    method: 'POST',
    headers: { 'x-api-key': acme.brand_token, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

const DETAIL =
  'This request would rewrite more than 4194304 bytes of stored additional fields. Nothing was stored. Send at most 64 records in each request.'

test('small changes of large customers are refused beyond 4 MiB of stored fields', async () => {
  const acme = await brandWithLarge(MOST + 1)
  for (const fields of [{ vip: 1 }, { country: 'FR' }, { regtime: '2026-10-01 08:30' }]) {
    for (const [query, headers] of [
      ['', {}],
      ['', { Prefer: 'handling=lenient' }],
      ['?dry_run=true', {}],
    ] as const) {
      const refused = await acme.post(`customers${query}`, changes(MOST + 1, fields), headers)
      expect([refused.status, await json(refused)]).toMatchObject([
        413,
        { code: 'payload_too_large', detail: DETAIL },
      ])
    }
  }
  expect(await changed()).toBe(0)
  const fits = await send(acme, changes(MOST, { vip: 1 }))
  expect([fits.response.status, fits.trips]).toEqual([200, 1])
  expect(await changed()).toBe(MOST)
})

test('fields that the request itself sends do not count', async () => {
  const acme = await brandWithLarge(90)
  const fields = { a: 'y'.repeat(16_004) }
  expect((await acme.post('customers', changes(80, fields))).status).toBe(200)
  expect((await acme.post('customers', changes(90, fields))).status).toBe(413)
})

test('any 64 records are accepted, and rewrite at most 4 MiB', async () => {
  const acme = await brandWithLarge(64)
  const whole = await acme.post('customers', changes(64, { e: 'y'.repeat(1400) }))
  expect(whole.status).toBe(200)
  const again = await acme.post('customers', changes(64, { e: 'z'.repeat(1400) }))
  expect(again.status).toBe(200)
})

test('a customer counts once, however many of its records a request has', async () => {
  const acme = await brandWithLarge(1)
  const repeated = Array.from({ length: 1000 }, (_, vip) => ({ customerId: 'p-0', vip }))
  const stored = await send(acme, repeated)
  expect([stored.response.status, stored.trips, await changed()]).toEqual([200, 1, 1])
})

test('invalid records are listed before anything is said about stored fields', async () => {
  const acme = await brandWithLarge(MOST + 1)
  const refused = await acme.post('customers', [...changes(MOST + 1, { vip: 1 }), {}])
  expect([refused.status, (await json(refused)).errors_total]).toEqual([422, 1])
})

test('records that may be too large are not looked at in a request that rewrites too much', async () => {
  const acme = await brandWithLarge(70)
  const growing = changes(70, { e: 'y'.repeat(1500) })
  for (const body of [growing, [...growing, {}]]) {
    const refused = await acme.post('customers', body)
    expect([refused.status, (await json(refused)).code]).toEqual([413, 'payload_too_large'])
  }
  const few = await acme.post('customers', growing.slice(0, 60))
  expect([few.status, (await json(few)).errors_total]).toEqual([422, 60])
})

test('at the storage quota such a request is refused, although nothing of it is computed', async () => {
  const acme = await brandWithLarge(MOST + 1)
  await askAdmin('accounts/acme-casino', 'PATCH', { storage_quota: 1000 })
  const refused = await acme.post('customers', changes(MOST + 1, { vip: 1 }))
  expect([refused.status, (await json(refused)).code]).toEqual([403, 'quota_exceeded'])
  expect(await changed()).toBe(0)
})
