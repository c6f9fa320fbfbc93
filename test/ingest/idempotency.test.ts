import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { digestRecords } from '../../src/ingest/read-items.ts'
import { brand, caller, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { askAdmin, json, ORIGIN, issuedPartner as partner } from '../partner.ts'
import { parseText } from '../platform/parse-text.ts'

const bet = { eventname: 'Bet', customerid: 'p-1', createtime: '2026-10-02 10:00', Value: 1 }
/** A set of another key. */
const OTHER_KEYS = JSON.stringify({ keys: [{ kty: 'oct', k: 'x'.repeat(43) }] })

const key = (value: string) => ({ 'Idempotency-Key': value })
const brandWithCustomer = async () => {
  const acme = await brand()
  await acme.post('customers', eve)
  return acme
}
const countStored = async (acme: { get: (path: string) => Promise<Response> }) =>
  (await json(acme.get('activities'))).meta.total

describe('Idempotency-Key', () => {
  test.each([
    ['1e999', '12345678901234567890'],
    ['1e999', '-1e999'],
    ['null', '1e999'],
  ])('a record with %s differs from one with %s', async (first, second) => {
    const records = [first, second].map((number) => parseText(`[{"Value": ${number}}]`))
    const digestOf = (record: unknown) => digestRecords(env.TRACKING_KEYS, [record])
    const [one, two] = await Promise.all(records.map(digestOf))
    expect(one).not.toEqual(two)
  })

  test('the stored digest has a key, so that it confirms no guess of an erased name', async () => {
    const acme = await brand()
    const ada = { ...eve, firstName: 'Ada' }
    await acme.post('customers', [ada], key('k-1'))
    const path = `accounts/${acme.account}/customers/${eve.customerId}/personal-data`
    expect((await askAdmin(path, 'DELETE')).ok).toBe(true)
    const row = await env.DB.prepare('select digest from idempotency_keys').first()
    const [keyed] = await digestRecords(env.TRACKING_KEYS, [ada])
    expect(row?.digest).toBe(keyed)
    const [foreign] = await digestRecords(OTHER_KEYS, [ada])
    expect(foreign).not.toBe(keyed)
  })

  test('a request is repeatable after a new key was added, and waits for its keys', async () => {
    const acme = await brand()
    const send = async (TRACKING_KEYS: string, body: object) => {
      const headers = { 'x-api-key': acme.brand_token, ...key('k-1') }
      const init = {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify([body]),
      }
      const request = new Request(new URL('/tracking/events/customers', ORIGIN), init)
      return (await fetchWith({ ...env, TRACKING_KEYS } as Env, request)).status
    }
    const keysOf = (...sets: string[]) =>
      JSON.stringify({ keys: sets.flatMap((set) => JSON.parse(set).keys) })
    const rotated = keysOf(OTHER_KEYS, env.TRACKING_KEYS)
    expect(await send(env.TRACKING_KEYS, eve)).toBe(200)
    expect(await send(rotated, eve)).toBe(200)
    expect(await send(rotated, { ...eve, country: 'SE' })).toBe(422)
    expect(await send('', eve)).toBe(503)
  })

  test('a number of a million digits is read in a time that grows with its length', () => {
    const number = `1${'0'.repeat(1_000_000)}1`
    expect(parseText(`[${number}]`)).toEqual([Number.NaN])
  })

  test.each<[string, object, object, object]>([
    ['eventid', { eventid: 'ignored' }, { eventid: 'used' }, { eventid: 'b-1' }],
    ['granularity', { granularity: 'event' }, { granularity: 'day' }, {}],
    ['currency', { granularity: 'day' }, { granularity: 'day', currency: 'EUR' }, {}],
    [
      'product',
      { granularity: 'day' },
      { granularity: 'day', product: { field: 'Game', map: {} } },
      { Game: 'Slots' },
    ],
  ])('a request never counts twice after its %s is redefined', async (_, before, after, sent) => {
    const define = (definition: object) =>
      askAdmin('accounts/acme-casino/events/Bet', 'PUT', {
        granularity: 'event',
        eventid: 'used',
        kpis: [],
        ...definition,
      })
    const acme = await brandWithCustomer()
    expect((await define(before)).status).toBe(201)
    const post = () => json(acme.post('activities', [{ ...bet, ...sent }], key('k-1')))
    expect(await post()).toMatchObject({ summary: { created: 1 } })
    expect((await define(after)).status).toBe(200)
    const repeated = await post()
    expect(repeated).toMatchObject({
      code: 'idempotency_key_reused',
      detail: expect.stringContaining('event definitions'),
    })
    expect(await countStored(acme)).toBe(1)
    await define(before)
    expect(await post()).toMatchObject({ summary: { unchanged: 1 } })
  })

  test('a changed definition that decides no identity of the request changes no digest', async () => {
    const acme = await brandWithCustomer()
    const post = () => json(acme.post('activities', [bet, bet], key('k-1')))
    await post()
    const definition = { granularity: 'event', eventid: 'used', kpis: [] }
    await askAdmin('accounts/acme-casino/events/Bet', 'PUT', definition)
    expect(await post()).toMatchObject({ summary: { unchanged: 2 } })
  })

  test('an object and an array of its entries are different content', async () => {
    const acme = await brandWithCustomer()
    const withExtra = (extra: unknown) => [{ ...bet, extra }]
    await acme.post('activities', withExtra({ a: { b: 1 } }), key('k'))
    for (const other of [[['a', { b: 1 }]], { a: [['b', 1]] }]) {
      expect((await acme.post('activities', withExtra(other), key('k'))).status).toBe(422)
    }
  })

  test.each([[''], ['a b'], ['k'.repeat(256)], ['é']])(
    '%j is not a valid key and is 400',
    async (value) => {
      const acme = await brandWithCustomer()
      const response = await acme.post('activities', [bet], key(value))
      expect([response.status, await json(response)]).toMatchObject([
        400,
        { code: 'invalid_request', detail: expect.stringContaining('Idempotency-Key') },
      ])
      expect(await countStored(acme)).toBe(0)
    },
  )

  test('16 parallel requests with one key store one event', async () => {
    const acme = await brandWithCustomer()
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        acme.post('activities', [{ ...bet, Value: i % 2 }], key('k'.repeat(255))),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(8)
    expect(statuses.filter((status) => status === 422)).toHaveLength(8)
    expect(await countStored(acme)).toBe(1)
  })

  test('partner endpoints ignore the header because their records have ids', async () => {
    const acme = await partner()
    const response = await acme.post('customers', [{}], key('a b'))
    expect(response.status).toBe(422)
    expect((await caller('x').post('activities', [], key(''))).status).toBe(401)
  })
})
