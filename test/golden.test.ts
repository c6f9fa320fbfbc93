import { env } from 'cloudflare:workers'
import { base64url } from 'jose'
import { describe, expect, test } from 'vitest'
import { isWellFormed } from '../src/auth/secret.ts'
import { decodeTrackingCode, encodeTrackingCode } from '../src/tracking/code.ts'
import { brand, day, deposited, eve } from './brand.ts'
import { ada, json, partner } from './partner.ts'

// The exact form of what outlives a deployment, as docs/storage.md lists it. A change of any of these
// values breaks secrets, codes, cursors or records that already exist.

describe('a secret', () => {
  test.each([
    ['tcs', 'live', '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg0GLwlW'],
    ['tbt', 'test', 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz1ITkVa'],
  ] as const)('of kind %s ends with its CRC-32 in base62', (prefix, mode, body) => {
    expect(isWellFormed(`${prefix}_${mode}_${body}`, prefix)).toBe(true)
  })
})

describe('tracking_data', () => {
  const keys = JSON.stringify({
    keys: [{ kty: 'oct', kid: 'golden', k: 'Z29sZGVuLWtleS1vZi10aGUtdGVzdHM' }],
  })
  const link = { link_id: 'abcdefgh', account: 'acme-forex', affiliate_id: 'aff-7' }
  const code = 'tr1abcdefghAAAAAAAAAAAAswoyCGsiMN8yX8h0XuIcF01i'

  test('is the same for the same link, click and key', async () => {
    expect(await encodeTrackingCode(keys, link, 'AAAAAAAAAAAA')).toBe(code)
  })

  test('that an earlier deployment signed still verifies', async () => {
    expect(await decodeTrackingCode(keys, code)).toEqual({
      link_id: 'abcdefgh',
      click_id: 'AAAAAAAAAAAA',
      account: 'swoyCGs',
      affiliate: 'IjDf',
    })
  })
})

describe('the stored identity of an event', () => {
  const identities = async (records: object[], headers = {}) => {
    const acme = await brand()
    await acme.post('customers', eve)
    expect((await acme.post('activities', records, headers)).status).toBe(200)
    const { results } = await env.DB.prepare('select id from events order by id').all()
    return results.map(({ id }) => id)
  }
  const { eventid: _, ...anonymous } = deposited

  test('is its eventid, or the day of a daily aggregate', async () => {
    expect(await identities([deposited, day])).toEqual([
      'd ["DailyStats","p-1","2026-10-02","EUR",null]',
      'e e-1',
    ])
  })

  test('is a SHA-256 digest if it is longer than 300 characters', async () => {
    const ofLength = (length: number) => ({ ...deposited, eventid: 'e'.repeat(length) })

    expect(await identities([298, 299, 400].map(ofLength))).toEqual([
      `e ${'e'.repeat(298)}`,
      'h 4276d3c89322316e041612264865ee3789e2c4dc1efed6af2fd25e3e6bc3fcbc',
      'h e1cee0198d42d78b3f477eb0bf88a960c7b0b2d486e1b261b2d87c3ca87e3f1b',
    ])
  })

  test('is otherwise the Idempotency-Key and the index of the record in three digits', async () => {
    const records = Array.from({ length: 12 }, (_, i) => ({ ...anonymous, Value: `${i}` }))
    const expected = records.map((_, i) => `k k-1 ${i < 10 ? '00' : '0'}${i}`)

    expect(await identities(records, { 'Idempotency-Key': 'k-1' })).toEqual(expected)
  })

  test('is the delivery id and the index if the request has no Idempotency-Key', async () => {
    expect(await identities([anonymous, anonymous])).toEqual([
      expect.stringMatching(/^r dlv_[\dA-Z]{26} 000$/),
      expect.stringMatching(/^r dlv_[\dA-Z]{26} 001$/),
    ])
  })
})

test('an Idempotency-Key is bound to the HMAC of the records in canonical JSON', async () => {
  const acme = await brand()
  await acme.post('customers', eve)
  await acme.post('activities', [deposited], { 'Idempotency-Key': 'k-1' })
  const text =
    '[{"Currency":"EUR","Value":"100.00","createtime":"2026-10-02 09:30","customerid":"p-1","eventid":"e-1","eventname":"Deposit"}]'
  const [{ k }] = JSON.parse(env.TRACKING_KEYS).keys
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('jwk', { k, kty: 'oct' }, hmac, false, ['sign'])
  const mac = await crypto.subtle.sign(hmac, key, new TextEncoder().encode(`records ${text}`))
  expect(await env.DB.prepare('select key, digest from idempotency_keys').first()).toEqual({
    key: 'k-1',
    digest: new Uint8Array(mac).toHex(),
  })
})

test('a cursor is page, size, total and key in base64url, sealed with a key derived from the first signing key', async () => {
  const acme = await partner()
  await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
  const { next_cursor } = (await json(acme.get('customers?per_page=1'))).meta
  const encoder = new TextEncoder()
  const [{ d }] = JSON.parse(env.SIGNING_KEYS).keys
  const secret = await crypto.subtle.digest('SHA-256', encoder.encode(`seal ${d}`))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
  const text = '[2,1,2,0,"c-1"]'
  const sealed = encoder.encode(`2 ["acme-forex","customers",{}]\n${text}`)
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, sealed))

  expect(next_cursor).toBe(`${base64url.encode(text)}.${base64url.encode(mac)}`)
})
