import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { brand } from './brand.ts'
import { askAdmin, json } from './partner.ts'
import { countCalls } from './watched.ts'

// A change of one additional field rewrites all that are stored of the customer. Each of these has
// 64,061 bytes of them: 261 customers stay below 16 MiB, and 262 exceed it.

const MOST = 261

type Brand = Awaited<ReturnType<typeof brand>>

const fullFields = JSON.stringify(
  Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [name, JSON.stringify('x'.repeat(16_004))]),
  ),
)
const FULL = fullFields.length

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

const DETAIL = `Each record rewrites all additional fields that are stored for its customer. Those of this request have ${(MOST + 1) * FULL} bytes, and one request rewrites at most 16777216 bytes. Nothing was stored. Send at most 256 records in each request.`

test('small changes of large customers are refused beyond 16 MiB of stored fields', async () => {
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

test('any 256 records are accepted, and rewrite at most 16 MiB', async () => {
  const acme = await brandWithLarge(256)
  const whole = await acme.post('customers', changes(256, { e: 'y'.repeat(1400) }))
  expect(whole.status).toBe(200)
  const again = await acme.post('customers', changes(256, { e: 'z'.repeat(1400) }))
  expect(again.status).toBe(200)
})

test('a customer counts once for each of its records', async () => {
  const acme = await brandWithLarge(1)
  const repeated = (count: number) =>
    Array.from({ length: count }, (_, vip) => ({ customerId: 'p-0', vip }))
  const refused = await send(acme, repeated(300))
  expect([refused.response.status, await changed()]).toEqual([413, 0])
  expect((await acme.post('customers', repeated(250))).status).toBe(200)
})

test('fields that a request itself adds count for the records after it', async () => {
  const acme = await brand()
  const parts = ['a', 'b', 'c', 'd'].map((name) => ({
    customerId: 'p-0',
    [name]: 'x'.repeat(16_004),
  }))
  const small = Array.from({ length: 300 }, (_, vip) => ({ customerId: 'p-0', vip }))
  const refused = await acme.post('customers', [...parts, ...small])
  expect([refused.status, (await json(refused)).code]).toEqual([413, 'payload_too_large'])
  expect((await acme.post('customers', [...parts, ...small.slice(0, 200)])).status).toBe(200)
})

test('invalid records are listed before anything is said about stored fields', async () => {
  const acme = await brandWithLarge(MOST + 1)
  const refused = await acme.post('customers', [...changes(MOST + 1, { vip: 1 }), {}])
  expect([refused.status, (await json(refused)).errors_total]).toEqual([422, 1])
})

test('at the storage quota such a request is refused, although nothing of it is computed', async () => {
  const acme = await brandWithLarge(MOST + 1)
  await askAdmin('accounts/acme-casino', 'PATCH', { storage_quota: 1000 })
  const refused = await acme.post('customers', changes(MOST + 1, { vip: 1 }))
  expect([refused.status, (await json(refused)).code]).toEqual([403, 'quota_exceeded'])
  expect(await changed()).toBe(0)
})
