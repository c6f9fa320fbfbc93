import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { brand, deposited, eve } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { ada, askAdmin, deposit, json, ORIGIN, issuedPartner as partner } from './partner.ts'
import { overriding } from './watched.ts'

// Clauses of the contract that the tests of single features do not cover: see contract.md.

test('a refused bulk of 1000 lists every invalid record and stores nothing', async () => {
  const acme = await partner()
  const invalid = Array.from({ length: 1000 }, (_, i) => ({
    ...ada,
    customer_id: `c-${i}`,
    country_code: 'Germany',
    ...(i % 2 === 0 && { lang_id: 'English' }),
  }))
  const response = await acme.post('customers', invalid)
  const { errors, errors_total, delivery_id } = await json(response)
  expect(response.status).toBe(422)
  // At most 1000 errors are listed: one of each record, before a second of any.
  expect(errors.map(({ index }: { index: number }) => index)).toEqual(invalid.map((_, i) => i))
  expect(errors_total).toBe(1500)
  const { summary } = await json(acme.get(`deliveries/${delivery_id}`))
  expect(summary).toEqual({
    ...{ received: 1000, rejected: 1000 },
    ...{ created: 0, updated: 0, unchanged: 0, stale: 0, held: 0 },
  })
  expect((await json(acme.get('customers'))).meta.total).toBe(0)
})

test('a 422 has exactly the members that the contract shows', async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  const response = await acme.post('transactions', [deposit, { ...deposit, currency: 'EUX' }])
  const body = await json(response)
  expect(response.headers.get('Content-Type')).toBe('application/problem+json')
  expect(body).toEqual({
    type: 'https://api.example/problems/validation_failed',
    title: expect.any(String),
    status: 422,
    code: 'validation_failed',
    detail: expect.stringContaining('1 of 2 records'),
    request_id: response.headers.get('X-Request-Id'),
    delivery_id: expect.stringMatching(/^dlv_/),
    delivery_url: `https://api.example/api/v1/forex/deliveries/${body.delivery_id}`,
    summary: {
      ...{ received: 2, rejected: 1 },
      ...{ created: 0, updated: 0, unchanged: 0, stale: 0, held: 0 },
    },
    errors_total: body.errors.length,
    errors: expect.any(Array),
  })
  expect(body.errors[0]).toEqual({
    index: 1,
    key: { transaction_id: 't-1' },
    pointer: '/1/currency',
    code: 'currency',
    message: expect.stringContaining('`EUX`'),
    hint: expect.stringContaining('EUR'),
  })
})

test('totals count customers by the UTC day of their signup', async () => {
  const acme = await partner()
  await acme.post('customers', [
    ada,
    { ...ada, customer_id: 'c-2', signup_date: '2026-10-01T23:59:59Z' },
    { ...ada, customer_id: 'c-3', signup_date: '2026-10-02T01:00:00+02:00' },
  ])
  const { data } = await json(acme.get('totals?from=2026-10-01&to=2026-10-02'))
  expect(data).toEqual([{ day: '2026-10-01', resource: 'customers', count: 3, sums: {} }])
})

test('a brand reads the settings of its account', async () => {
  const acme = await brand({ time_zone: 'Europe/Berlin' })
  expect(await json(acme.get('account'))).toMatchObject({
    account: 'acme-casino',
    name: 'The acme-casino',
    vertical: 'igaming',
    mode: 'test',
    time_zone: 'Europe/Berlin',
    policies: { unknown_customer: 'hold', unknown_affiliate: 'warn' },
    scope: 'read write',
    affiliates: [],
  })
})

test('a brand reads its deliveries, and the errors of one', async () => {
  const acme = await brand()
  await acme.post('customers', eve)
  await acme.post('activities', { ...deposited, Currency: 'EUX' })
  const { data } = await json(acme.get('deliveries'))
  expect(
    data.map(({ resource, status }: { resource: string; status: number }) => [resource, status]),
  ).toEqual([
    ['activities', 422],
    ['customers', 201],
  ])
  const { errors } = await json(acme.get(`deliveries/${data[0].delivery_id}`))
  expect(errors).toMatchObject([{ pointer: '/Currency', code: 'currency' }])
})

test('a read without a bookmark queries the primary database', async () => {
  const acme = await partner()
  const constraints: string[] = []
  const DB = overriding(env.DB, {
    withSession: (constraint: string) => {
      constraints.push(constraint)
      return env.DB.withSession(constraint)
    },
  })
  const read = async (headers: Record<string, string> = {}) => {
    const request = new Request(new URL('/api/v1/forex/customers', ORIGIN), {
      headers: { Authorization: `Bearer ${acme.access_token}`, ...headers },
    })
    const response = await fetchWith({ ...env, DB }, request)
    return response.headers.get('x-d1-bookmark') ?? ''
  }
  const bookmark = await read()
  await read({ 'x-d1-bookmark': bookmark })
  expect(constraints).toEqual(['first-primary', bookmark])
})

test('a reset deletes every row of an account except its settings', async () => {
  const acme = await brand({ account: 'acme' })
  const other = await brand({ account: 'other' })
  for (const { post } of [acme, other]) {
    await post('customers', eve)
    await post('activities', [deposited, { ...deposited, eventid: 'e-2', customerid: 'p-9' }], {
      'Idempotency-Key': 'part-1',
    })
  }
  const tables = env.MIGRATIONS.flatMap(({ queries }) => queries).flatMap((query) => {
    const [, name, columns = ''] = /create table (\w+) \(([\s\S]*)\)/i.exec(query) ?? []
    return name && /\baccount\b/.test(columns) ? [name] : []
  })
  const tablesWithRows = async (account: string) => {
    const rows = await env.DB.batch<{ n: number }>(
      tables.map((table) =>
        env.DB.prepare(`select count(*) as n from ${table} where account = ?`).bind(account),
      ),
    )
    return tables.filter((_, i) => rows[i]!.results[0]!.n > 0)
  }
  const stored = await tablesWithRows('acme')
  expect(stored).toEqual(expect.arrayContaining(['customers', 'events', 'deliveries', 'arrivals']))
  expect((await askAdmin('accounts/acme/reset', 'POST')).status).toBe(204)
  expect(await tablesWithRows('acme')).toEqual(['brand_tokens', 'audit_log'])
  expect(await tablesWithRows('other')).toEqual(stored)
})
