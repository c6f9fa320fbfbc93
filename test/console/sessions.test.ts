import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { memberKey } from '../members.ts'
import { askAdmin, json, ORIGIN } from '../partner.ts'
import { assertionOf, ofTheTeam } from '../team.ts'
import { KEY_WORLD, openBrowser, signedIn } from './browser.ts'

// How members of the team sign in to the console, and who may send its forms.

const COOKIE = '__Host-tributary_console'

const isSignedIn = async (browser: ReturnType<typeof openBrowser>, world?: Env) =>
  (await browser.get('/console', {}, world)).status === 200

test('the right key begins a session of 8 hours in a cookie that only this site gets', async () => {
  const browser = openBrowser()
  const response = await browser.signIn(env.ADMIN_KEY, '/console/audit-log')

  expect(response.status).toBe(303)
  expect(response.headers.get('Location')).toBe('/console/audit-log')
  expect(response.headers.get('Set-Cookie')).toMatch(
    /^__Host-tributary_console=[\w.-]+; Max-Age=28800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  )
  expect(await isSignedIn(browser)).toBe(true)
})

test('a session ends after 8 hours', async () => {
  const browser = await signedIn()
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    vi.setSystemTime(Date.now() + 8 * HOUR_MS - 60_000)
    expect(await isSignedIn(browser)).toBe(true)
    vi.setSystemTime(Date.now() + 60_000)
    expect(await isSignedIn(browser)).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test('a copy of the cookie does not outlive the sign-out', async () => {
  const browser = await signedIn()
  const copy = openBrowser()
  copy.cookies.set(COOKIE, browser.cookies.get(COOKIE)!)
  expect(await isSignedIn(copy)).toBe(true)

  const response = await browser.post('/console/sign-out', { csrf: await browser.csrf() })
  expect(response.headers.get('Location')).toBe('/console/sign-in')
  expect(browser.cookies.has(COOKIE)).toBe(false)
  expect(await isSignedIn(copy)).toBe(false)
})

test.each([
  ['the root key is another one', true, null],
  ['their key has ended', false, "delete from member_keys where id = 'key-ada'"],
  ['they are removed', false, "update members set removed_at = 'now' where name = 'ada'"],
])('a session of a member ends when %s, and no other does', async (_, isLive, sql) => {
  const [ada, bob, root] = await Promise.all([
    signedIn(KEY_WORLD, undefined, await memberKey({ name: 'ada', role: 'manager' })),
    signedIn(KEY_WORLD, undefined, await memberKey({ name: 'bob', role: 'manager' })),
    signedIn(),
  ])
  if (sql) await env.DB.exec(sql)
  const world = { ...KEY_WORLD, ADMIN_KEY: sql ? env.ADMIN_KEY : 'x'.repeat(40) }
  const live = await Promise.all([ada, bob, root].map((browser) => isSignedIn(browser, world)))
  expect(live).toEqual([isLive, true, sql !== null])
})

test.each(['', 'x', `x.${'A'.repeat(43)}`])('the cookie %j is not a session', async (cookie) => {
  const browser = openBrowser()
  browser.cookies.set(COOKIE, cookie)
  expect(await isSignedIn(browser)).toBe(false)
})

test('a forged or changed cookie is not a session', async () => {
  const browser = await signedIn()
  const [body = '', mac = ''] = browser.cookies.get(COOKIE)!.split('.')
  const content = JSON.parse(atob(body.replaceAll('-', '+').replaceAll('_', '/')))
  const forged = btoa(JSON.stringify({ ...content, until: content.until + 1 })).replaceAll('=', '')
  browser.cookies.set(COOKIE, `${forged}.${mac}`)
  expect(await isSignedIn(browser)).toBe(false)
})

describe('wrong keys', () => {
  test('after five wrong keys in a minute an address waits, even with the right key', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const browser = openBrowser()
      for (let i = 0; i < 5; i++) expect((await browser.signIn('wrong')).status).toBe(401)
      for (const key of ['wrong', env.ADMIN_KEY]) {
        const response = await browser.signIn(key)
        expect(response.status).toBe(429)
        expect(response.headers.get('Retry-After')).toBe('60')
      }
      expect(browser.cookies.size).toBe(0)
      vi.setSystemTime(Date.now() + 60_000)
      expect((await browser.signIn()).status).toBe(303)
    } finally {
      vi.useRealTimers()
    }
  })

  test('another address is not affected', async () => {
    const browser = openBrowser()
    const from = (address: string) => ({ Origin: ORIGIN, 'CF-Connecting-IP': address })
    const tryAs = async (address: string) =>
      (await browser.post('/console/sign-in', { key: 'wrong' }, from(address))).status
    for (let i = 0; i < 5; i++) await tryAs('203.0.113.7')
    expect(await tryAs('203.0.113.7')).toBe(429)
    expect(await tryAs('203.0.113.8')).toBe(401)
  })
})

test.each([
  'https://evil.example/console/audit-log',
  '//evil.example/console',
  '/\\evil.example/console',
  'javascript:alert(1)',
  '/admin/v1/accounts',
  '/consoles',
  '/console/sign-out',
  'https://api.example@evil.example/console',
  '',
])('the sign-in never leads to %j', async (next) => {
  expect((await openBrowser().signIn(env.ADMIN_KEY, next)).headers.get('Location')).toBe('/console')
  const again = await (await signedIn()).get(`/console/sign-in?next=${encodeURIComponent(next)}`)
  expect(again.headers.get('Location')).toBe('/console')
})

test.each([
  [{}],
  [{ Origin: 'https://evil.example' }],
  [{ Origin: 'null' }],
  [{ 'Sec-Fetch-Site': 'cross-site' }],
  [{ 'Sec-Fetch-Site': 'same-site', Origin: ORIGIN }],
  [{ 'Sec-Fetch-Site': 'none', Origin: ORIGIN }],
])('a form with the headers %o neither signs in nor out', async (headers) => {
  const fields = { key: env.ADMIN_KEY }
  expect((await openBrowser().post('/console/sign-in', fields, headers)).status).toBe(403)

  const browser = await signedIn()
  const csrf = await browser.csrf()
  expect((await browser.post('/console/sign-out', { csrf }, headers)).status).toBe(400)
  expect(await isSignedIn(browser)).toBe(true)
})

test('a form with the CSRF token of another session, or without one, is refused', async () => {
  const browser = await signedIn()
  for (const csrf of ['', 'x', await (await signedIn()).csrf()]) {
    expect((await browser.post('/console/sign-out', { csrf })).status).toBe(400)
  }
  expect(await isSignedIn(browser)).toBe(true)
})

test('a form that is too large, or that no browser sends, is refused', async () => {
  const browser = await signedIn()
  const own = { Origin: ORIGIN }
  const large = await browser.post('/console/sign-out', {}, { ...own, 'Content-Length': '1048577' })
  expect(large.status).toBe(413)
  const other = { ...own, 'Content-Type': 'application/json' }
  expect((await browser.post('/console/sign-out', {}, other)).status).toBe(415)
})

test('a link from another site loads the page again, so that the browser sends the cookie', async () => {
  const response = await openBrowser().get('/console/audit-log', { 'Sec-Fetch-Site': 'cross-site' })

  expect(response.status).toBe(200)
  expect(response.headers.get('Refresh')).toBe('0')
})

describe('with Cloudflare Access', () => {
  const assertion = async () => ({ 'Cf-Access-Jwt-Assertion': await ofTheTeam() })

  test('a member whom Access admits needs no key, and no key signs in', async () => {
    const browser = openBrowser(env as Env)
    const page = await browser.get('/console', await assertion())

    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<a href="/console/me">')
    expect((await browser.signIn()).status).toBe(403)
    expect((await browser.get('/console')).status).toBe(303)
  })

  test('a sign-out leads to the sign-out of Access', async () => {
    const browser = openBrowser(env as Env)
    const headers = await assertion()
    const text = await (await browser.get('/console', headers)).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)![1]!
    const own = { ...headers, Origin: ORIGIN }
    const response = await browser.post('/console/sign-out', { csrf }, own)
    expect(response.headers.get('Location')).toBe('/cdn-cgi/access/logout')
  })

  test('whoever is no member gets a 403 page that says who can invite them', async () => {
    await memberKey({ name: 'bob', role: 'approver' })
    const headers = { 'Cf-Access-Jwt-Assertion': await assertionOf({ email: 'eve@team.example' }) }
    const response = await openBrowser(env as Env).get('/console', headers)
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining('bob@team.example'),
    ])
  })
})

test('the sign-in never shows or stores a key', async () => {
  const browser = openBrowser()
  expect(await (await browser.signIn('a-wrong-key')).text()).not.toContain('a-wrong-key')
  await browser.signIn()
  expect([...browser.cookies.values()].join()).not.toContain(env.ADMIN_KEY)
  expect((await json(askAdmin('audit-log'))).data).toEqual([])
})

test('a form that is sent after its session has ended changes nothing; the sign-in says so, and leads to its page', async () => {
  await askAdmin('accounts', 'POST', { account: 'acme', name: 'Acme', vertical: 'forex' })
  const at = '/console/accounts/acme/account?from=list'
  const browser = openBrowser()
  const sent = await browser.post(at, { change: 'save', name: 'New', 'was:name': 'Acme' })
  const page = await (await browser.get(sent.headers.get('Location')!)).text()
  expect(page).toContain(
    'Your session has ended. Nothing was changed, and what you typed was not saved.',
  )
  expect(page).toContain(`name="next" value="${at}"`)
  expect((await json(askAdmin('accounts/acme'))).name).toBe('Acme')
})
