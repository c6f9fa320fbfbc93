import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { app } from '../../src/app.ts'
import { brand, dailyStats, eve } from '../brand.ts'
import { type Json, nearly } from '../fuzz/bodies.ts'
import { BASE64URL, isSendable, mangled, singleEdits } from '../fuzz/edits.ts'
import { holds, PATIENCE } from '../fuzz/runs.ts'
import { newAddress, newClient, send } from '../fuzz/send.ts'
import { ada, askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { ANY_CHARACTER } from './any-character.ts'

// Generated requests to the token endpoint, the links and the administration API.

const FORM = 'application/x-www-form-urlencoded'

describe('the token endpoint', () => {
  /** The number of tokens for each client, below its limit of 60 an hour. */
  const TOKENS_PER_CLIENT = 50

  test('only the exact credentials of a client get a token', { timeout: PATIENCE }, async () => {
    const { account } = await partner()
    let client = await newClient(account)
    let issued = 0
    const attempt = fc.record({
      how: fc.constantFrom('form', 'form', 'header', 'both'),
      edited: fc.constantFrom('body', 'body', 'header', 'type', 'order'),
      // A position, not a text, because the client changes now and then.
      at: fc.nat(1_000_000),
      to: fc.tuple(fc.nat(200), fc.nat(200), fc.string({ maxLength: 4 })),
    })
    const edit = (text: string, at: number, [from, length, put]: [number, number, string]) => {
      const edits = at % 2 ? [...singleEdits(text)] : []
      const start = from % (text.length + 1)
      return edits[at % edits.length] ?? text.slice(0, start) + put + text.slice(start + length)
    }
    await holds(60, attempt, async ({ how, edited, at, to }) => {
      if (issued >= TOKENS_PER_CLIENT) [client, issued] = [await newClient(account), 0]
      const { client_id, client_secret } = client
      const basic = `Basic ${btoa(`${client_id}:${client_secret}`)}`
      const parameters = { grant_type: 'client_credentials', ...(how !== 'header' && client) }
      let body = `${new URLSearchParams({ ...parameters, scope: 'read' })}`
      if (edited === 'body') body = edit(body, at, to)
      if (edited === 'order')
        body = body
          .split('&')
          .toSorted()
          .join(at % 3 ? '&' : '&&')
      const headers = new Headers({ 'Content-Type': FORM, ...newAddress() })
      const type = edited === 'type' ? edit(FORM, at, to) : FORM
      if (isSendable(type)) headers.set('Content-Type', type)
      const Authorization = edited === 'header' ? edit(basic, at, to) : basic
      if (how !== 'form' && isSendable(Authorization)) headers.set('Authorization', Authorization)

      const { status, text } = await send('/oauth/token', { method: 'POST', headers, body })
      expect([200, 400, 401]).toContain(status)
      expect(Object.hasOwn(JSON.parse(text), status === 200 ? 'access_token' : 'error')).toBe(true)
      if (status !== 200) return
      issued += 1
      // A standard parser finds the secret of the client exactly once.
      const form = new URLSearchParams(body)
      const header = headers.get('Authorization')
      expect(form.get('grant_type')).toBe('client_credentials')
      if (form.get('client_secret')) {
        expect([header, form.get('client_id')]).toEqual([null, client_id])
        expect(form.get('client_secret')).toBe(client_secret)
      } else {
        expect(atob(header!.split(' ').at(-1)!)).toBe(`${client_id}:${client_secret}`)
        expect(form.get('client_id') || client_id).toBe(client_id)
      }
    })
  })

  test('revoking an edited token does not end the original token', {
    timeout: PATIENCE,
  }, async () => {
    const { client_id, client_secret, access_token } = await partner()
    const revoke = (token: string) =>
      send('/oauth/revoke', {
        method: 'POST',
        headers: { 'Content-Type': FORM },
        body: `${new URLSearchParams({ client_id, client_secret, token })}`,
      })
    await holds(20, mangled(access_token), async (token) => {
      if (token === access_token) return
      expect((await revoke(token)).status).toBe(token === '' ? 400 : 200)
    })
    const listing = () =>
      send('/api/v1/forex/customers', { headers: { Authorization: `Bearer ${access_token}` } })
    expect((await listing()).status).toBe(200)
    await revoke(access_token)
    expect((await listing()).status).toBe(401)
  })
})

describe('a link', () => {
  async function linked() {
    const casino = await brand()
    await askAdmin(`accounts/${casino.account}/affiliates`, 'PUT', [{ affiliate_id: 'A-1' }])
    const link = { affiliate_id: 'A-1', landing_page: 'https://casino.example/?lang=en' }
    const { link_id } = await json(askAdmin(`accounts/${casino.account}/links`, 'POST', link))
    const { headers } = await send(`/go/${link_id}`)
    const code = new URL(headers.get('Location')!).searchParams.get('tracking_data')!
    return { ...casino, link_id: link_id as string, code }
  }

  test('tracking_data with one character edited attributes no customer', {
    timeout: PATIENCE,
  }, async () => {
    const { post, code } = await linked()
    const edits = new Set(singleEdits(code))
    for (let at = 0; at < code.length; at++) {
      for (const char of BASE64URL) edits.add(code.slice(0, at) + char + code.slice(at + 1))
    }
    edits.delete(code)
    const customers = [code, ...edits].map((tracking_data, i) => {
      return { customerId: `p-${i}`, regtime: '2026-10-01 08:00', tracking_data }
    })
    const verdicts: (string | undefined)[] = []
    for (let i = 0; i < customers.length; i += 1000) {
      const { results } = await json(post('customers', customers.slice(i, i + 1000)))
      for (const { warnings } of results) verdicts.push(warnings?.[0].code)
    }
    expect(verdicts).toHaveLength(edits.size + 1)
    expect(verdicts[0]).toBeUndefined()
    const wrong = verdicts.slice(1).filter((code) => !/^(altered|unrecognised)$/.test(code ?? ''))
    expect(wrong).toEqual([])
  })

  test('only the exact id of a link redirects', {
    timeout: PATIENCE,
  }, async () => {
    const { link_id } = await linked()
    const id = fc.oneof(mangled(link_id), fc.string({ unit: ANY_CHARACTER, maxLength: 12 }))
    const search = fc.string({ maxLength: 12 }).map((text) => text.replaceAll('#', ''))
    await holds(30, fc.tuple(id, search, fc.boolean()), async ([named, query, isRaw]) => {
      // Dots would leave the path `/go/`, so that it is not a link.
      const path = isRaw ? named.replaceAll(/[^\w%.~-]/g, '_') : encode(named)
      if (/^(\.|%2e)*$/i.test(path)) return
      const { status, headers } = await send(`/go/${path}?${query}`)
      // 503: more than ten invented ids in this second.
      expect([302, 404, 503]).toContain(status)
      expect(status === 302).toBe(decoded(path) === link_id)
      if (status === 302) {
        expect(headers.get('Location')).toMatch(
          /^https:\/\/casino\.example\/\?lang=en&tracking_data=tr1/,
        )
      }
    })
  })
})

/** Returns any text as one segment of a path. */
const encode = (text: string) => encodeURIComponent(text.toWellFormed())

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

describe('the administration API', () => {
  const ROUTES = [
    ...new Set(
      app.routes
        .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/admin/v1'))
        .map(({ method, path }) => `${method} ${path}`),
    ),
  ]
  const BODIES: Json[] = [
    { account: 'new-firm', name: 'New', vertical: 'forex', mode: 'test', time_zone: 'Asia/Tokyo' },
    { name: 'Renamed', unknown_customer: 'hold', unknown_affiliate: 'reject', disabled: false },
    [{ affiliate_id: 'aff-7' }, { affiliate_id: 'aff-8', parent: 'aff-7' }],
    { affiliate_id: 'aff-7', landing_page: 'https://acme.example/', name: 'Spring' },
    { landing_page: 'https://acme.example/?a=1', disabled: true },
    dailyStats,
    { settled: 'approved', open: 'pending' },
    { overlap: '24h' },
    {},
  ]
  const UNUSUAL_IDS = [
    '',
    '..%2f',
    '%00',
    '%ff',
    'x'.repeat(600),
    '__proto__',
    'toString',
    "' or 1=1 --",
  ]

  test('any request gets a documented status, and 401 or 404 without the key', {
    timeout: PATIENCE,
  }, async () => {
    const firm = await partner('forex', { account: 'firm' })
    await firm.post('customers', ada)
    const casino = await brand({ account: 'casino', events: { DailyStats: dailyStats } })
    await casino.post('customers', eve)
    const landing = { affiliate_id: 'aff-7', landing_page: 'https://acme.example/' }
    const { link_id } = await json(askAdmin('accounts/firm/links', 'POST', landing))
    const ids = [firm.client_id, link_id, 'c-1', 'p-1', 'DailyStats']
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...ids) },
      fc.constantFrom(...UNUSUAL_IDS),
      fc.string({ unit: ANY_CHARACTER, maxLength: 8 }).map(encode),
    )
    const requests = fc.record({
      route: fc.constantFrom(...ROUTES),
      account: fc.oneof({ weight: 6, arbitrary: fc.constantFrom('firm', 'casino') }, step),
      id: step,
      search: fc.constantFrom(
        '',
        '',
        '?from=2026-10-01&to=2026-10-31',
        '?page=2',
        '?cursor=x.y',
        '?account=firm',
      ),
      body: nearly(BODIES),
      key: fc.oneof(
        { weight: 6, arbitrary: fc.constant(env.ADMIN_KEY) },
        mangled(env.ADMIN_KEY).filter(isSendable),
        fc.constantFrom('', ` ${env.ADMIN_KEY}\t`, `\t${env.ADMIN_KEY}`),
      ),
    })
    await holds(70, requests, async ({ route, account, id, search, body, key }) => {
      const [method, path] = route.split(' ') as [string, string]
      const filled = path.replace(':account', account).replaceAll(/:\w+/g, id)
      const { status, text } = await send(filled + search, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(method !== 'GET' && { body }),
      })
      // Spaces may follow the scheme, a tab may not.
      if (key.replace(/^ +|\s+$/g, '') !== env.ADMIN_KEY) {
        expect([401, 404]).toContain(status)
        if (status === 401) expect(JSON.parse(text).code).toBe('invalid_admin')
        return
      }
      expect([200, 201, 202, 204, 400, 404, 405, 409, 413, 415, 422]).toContain(status)
      if (status === 422) {
        const { errors, errors_total } = JSON.parse(text)
        expect(errors.length).toBeGreaterThan(0)
        expect(errors_total).toBe(errors.length)
      }
    })
    for (const key of [...singleEdits(env.ADMIN_KEY)].filter((_, i) => i % 8 === 0)) {
      if (!isSendable(key) || key.trim() === env.ADMIN_KEY) continue
      const headers = { Authorization: `Bearer ${key}` }
      expect((await send('/admin/v1/accounts', { headers })).status).toBe(401)
    }
  })
})
