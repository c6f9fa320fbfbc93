import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { DEFAULT_VIEW } from '../../src/platform/auth/affiliate-view.ts'
import { newSecret } from '../../src/platform/auth/secret.ts'
import { brand } from '../brand.ts'
import { countCalls } from '../ingest/watched.ts'
import { ask, askAdmin, issuedPartner, json } from '../partner.ts'

/** An account with the affiliates IB-01 and IB-07, who is below. */
async function firm() {
  const partner = await issuedPartner('forex')
  const sent = [{ affiliate_id: 'IB-01' }, { affiliate_id: 'IB-07', parent: 'IB-01' }]
  await askAdmin(`accounts/${partner.account}/affiliates`, 'PUT', sent)
  const keysAt = (affiliate: string) => `accounts/${partner.account}/affiliates/${affiliate}/keys`
  const makeKey = (affiliate: string, fields: object = {}) =>
    json(askAdmin(keysAt(affiliate), 'POST', { name: 'Tracker', ...fields }))
  return { ...partner, keysAt, makeKey }
}

const asAffiliate = (key: string, path = '/affiliate/v1/me', method = 'GET') =>
  ask(path, { method, headers: { Authorization: `Bearer ${key}` } })

describe('keys of affiliates', () => {
  test('a key has the common form, is shown once, and only its digest is stored', async () => {
    const { makeKey, keysAt } = await firm()
    const made = await makeKey('IB-07')
    expect(made.affiliate_key).toMatch(/^taf_test_[0-9A-Za-z]{49}$/)
    expect(made).toMatchObject({ name: 'Tracker', scope: 'read', takes_effect: 'now' })
    const { results } = await env.DB.prepare('select * from affiliate_keys').all()
    expect(JSON.stringify(results)).not.toContain(made.affiliate_key)
    const listed = await json(askAdmin(keysAt('IB-07')))
    expect(listed.data).toEqual([
      expect.objectContaining({ id: made.id, name: 'Tracker', alive: true, ends_at: null }),
    ])
    expect((await json(askAdmin(keysAt('IB-01')))).data).toEqual([])
    expect(JSON.stringify(await json(askAdmin('audit-log')))).not.toContain(made.affiliate_key)
  })

  test('the day on which a key was last used is known, and is written once a day', async () => {
    const { account, makeKey } = await firm()
    const { affiliate_key } = await makeKey('IB-07')
    const headers = { Authorization: `Bearer ${affiliate_key}` }
    const used = async () =>
      (await json(askAdmin(`accounts/${account}/affiliates/IB-07/keys`))).data[0].last_used_on
    expect(await used()).toBe(null)
    const trips = async () => (await countCalls('/affiliate/v1/me', { headers })).trips
    const [first, second] = [await trips(), await trips()]
    expect(first - second).toBeLessThanOrEqual(2)
    expect(second).toBe(3)
    const today = new Date().toISOString().slice(0, 10)
    await vi.waitFor(async () => expect(await used()).toBe(today))
    vi.setSystemTime(Date.now() + 86_400_000)
    expect(await trips()).toBeGreaterThan(3)
    vi.useRealTimers()
  })

  test('a key reads as its affiliate: two reads at once, and one for the answer', async () => {
    const { makeKey } = await firm()
    const { affiliate_key } = await makeKey('IB-07')
    const read = () =>
      countCalls('/affiliate/v1/me', { headers: { Authorization: `Bearer ${affiliate_key}` } })
    await read()
    const { response, calls, trips } = await read()
    expect([response.status, calls, trips]).toEqual([200, ['admit', 'count'], 3])
    expect(await json(response)).toEqual({
      affiliate_id: 'IB-07',
      display_name: null,
      landing_pages: [],
      share_url: null,
      contact_email: null,
      language: null,
      account: { name: expect.any(String), time_zone: 'UTC', mode: 'test' },
      plans: [],
      affiliate_view: {
        customer_ids: 'pseudonym',
        amounts: true,
        countries: true,
        sub_affiliates: 'totals',
        drafts: true,
        held: 'category',
      },
      scope: 'read',
    })
    expect(response.headers.get('RateLimit-Policy')).toBe('"token";q=1000;w=60')
  })

  test('an ended key gets the 401 of an invented one, at once', async () => {
    const { makeKey, keysAt } = await firm()
    const { id, affiliate_key } = await makeKey('IB-07')
    expect((await asAffiliate(affiliate_key)).status).toBe(200)
    expect((await askAdmin(`${keysAt('IB-07')}/${id}`, 'DELETE')).status).toBe(204)
    const bodies = await Promise.all(
      [affiliate_key, newSecret('taf', 'test'), 'taf_x'].map(async (key) => {
        const response = await asAffiliate(key)
        const { request_id, ...body } = await json(response)
        return [response.status, response.headers.get('WWW-Authenticate'), body]
      }),
    )
    expect(bodies[0]).toEqual([
      401,
      'Bearer realm="affiliate", error="invalid_token"',
      expect.objectContaining({ code: 'invalid_affiliate_key' }),
    ])
    expect(bodies[1]).toEqual(bodies[0])
    expect(bodies[2]).toEqual(bodies[0])
    expect((await askAdmin(`${keysAt('IB-07')}/${id}`, 'DELETE')).status).toBe(204)
  })

  test('§18 all keys of an affiliate share one limit; at most 20 are made in an hour, and ended ones go', async () => {
    const { makeKey, keysAt } = await firm()
    const remaining = async (key: string) =>
      (await asAffiliate(key)).headers.get('RateLimit')?.split(';')[1]
    const first = await makeKey('IB-07')
    expect(await remaining(first.affiliate_key)).toBe('r=999')
    const second = await makeKey('IB-07')
    expect(await remaining(second.affiliate_key)).toBe('r=998')
    const { affiliate_key } = await makeKey('IB-01')
    expect(await remaining(affiliate_key)).toBe('r=999')

    for (let made = 2; made < 20; made++) {
      const { id } = await makeKey('IB-07')
      await askAdmin(`${keysAt('IB-07')}/${id}`, 'DELETE')
    }
    expect(await makeKey('IB-07')).toMatchObject({ status: 409, code: 'conflict' })
    await env.DB.exec(
      "update affiliate_keys set created_at = '2026-01-01T00:00:00.000Z', ends_at = ends_at - 9 * 86400000",
    )
    expect(await makeKey('IB-07')).toMatchObject({ name: 'Tracker' })
    expect((await json(askAdmin(keysAt('IB-07')))).data).toHaveLength(3)
  })

  test('an affiliate has at most 5 valid keys: one is ended before another is made', async () => {
    const { makeKey, keysAt } = await firm()
    const keys = [await makeKey('IB-07')]
    for (let i = 0; i < 4; i++) keys.push(await makeKey('IB-07'))
    expect(await makeKey('IB-07')).toMatchObject({ status: 409, code: 'conflict' })
    await askAdmin(`${keysAt('IB-07')}/${keys[0].id}`, 'DELETE')
    const next = await makeKey('IB-07')
    expect((await asAffiliate(keys[0].affiliate_key)).status).toBe(401)
    expect((await asAffiliate(next.affiliate_key)).status).toBe(200)
  })

  test('what is not of the affiliate is not found, and bad fields are named', async () => {
    const { makeKey, keysAt } = await firm()
    const { id } = await makeKey('IB-07')
    expect((await askAdmin(`${keysAt('IB-01')}/${id}`, 'DELETE')).status).toBe(404)
    expect((await askAdmin(keysAt('IB-99'))).status).toBe(404)
    const refused = await json(askAdmin(keysAt('IB-07'), 'POST', { name: '', scope: 'write' }))
    expect(refused.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/name',
      '/scope',
    ])
  })

  test('credentials at a door that is not theirs are refused', async () => {
    const { makeKey, access_token } = await firm()
    const { affiliate_key } = await makeKey('IB-07')
    const { brand_token } = await brand()
    const codeOf = async (response: Promise<Response>) => (await json(response)).code
    const headers = { 'x-api-key': affiliate_key }
    expect([
      await codeOf(asAffiliate(brand_token)),
      await codeOf(asAffiliate(access_token)),
      await codeOf(asAffiliate(affiliate_key, '/api/v1/forex/account')),
      await codeOf(asAffiliate(affiliate_key, '/admin/v1/accounts')),
      await codeOf(ask('/tracking/events/account', { headers })),
      await codeOf(ask('/affiliate/v1/me', { headers })),
    ]).toEqual([
      ...['invalid_affiliate_key', 'invalid_affiliate_key', 'invalid_token', 'invalid_admin'],
      ...['invalid_api_key', 'missing_credentials'],
    ])
  })
})

describe('what affiliates may see', () => {
  test('a setting is changed member by member, and reaches the next request', async () => {
    const { makeKey, account } = await firm()
    const { affiliate_key } = await makeKey('IB-07')
    const seen = async () => (await json(asAffiliate(affiliate_key))).affiliate_view
    const change = (affiliate_view: object) =>
      json(askAdmin(`accounts/${account}`, 'PATCH', { affiliate_view }))
    await change({ customer_ids: 'plain' })
    expect((await change({ amounts: false })).affiliate_view).toMatchObject({
      customer_ids: 'plain',
      amounts: false,
      countries: true,
    })
    expect(await seen()).toMatchObject({ customer_ids: 'plain', amounts: false })
    await change({ customer_ids: 'pseudonym', amounts: true })
    expect((await json(askAdmin(`accounts/${account}`))).affiliate_view).toEqual(DEFAULT_VIEW)
    const refused = await change({ customer_ids: 'all', drafts: 'no', other: 1 })
    expect(refused.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/affiliate_view/customer_ids',
    ])
  })
})
