import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { portalApp } from '../../src/portal/app.tsx'
import { fill, WORDS } from '../../src/portal/words.ts'
import { openBrowser } from '../console/browser.ts'
import { ask, askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { surrounded } from '../sweep/platform.ts'
import { type Deviation, FLAGS, newPasskey } from './authenticator.ts'
import {
  type Browser,
  confirmed,
  type Device,
  hidden,
  inviteTo,
  joinAt,
  joinedFor,
  openPortal,
  optionsIn,
} from './join.ts'

// The portal: invitations, passkeys and sessions, with a device in software.

const AT = '/portal/acme'
const words = WORDS.en

beforeEach(async () => {
  await partner('forex', { account: 'acme', affiliates: ['IB-07', 'IB-08'] })
})

const put = (body: object) => askAdmin('accounts/acme/affiliates', 'PUT', [body])

const invite = (body?: object, affiliate = 'IB-07') => inviteTo('acme', affiliate, body)

const members = async () =>
  (await json(askAdmin('accounts/acme/affiliates/IB-07/members'))).data as { id: string }[]

const open = openPortal

const join = (...sent: Parameters<typeof joinAt> extends [string, ...infer Rest] ? Rest : never) =>
  joinAt(AT, ...sent)

async function signIn(
  browser: Browser,
  { device, by = {} }: { device: Device; by?: Deviation },
  at = AT,
) {
  const page = await (await browser.get(`${at}/sign-in`)).text()
  const credential = await device.get(optionsIn(page), by)
  const fields = { credential, state: hidden(page, 'state') }
  return { fields, response: await browser.post(`${at}/sign-in`, fields) }
}

const joined = () => joinedFor('acme', 'IB-07')

const PASSKEYS = `${AT}/passkeys`

const passkeysIn = async (browser: Browser) => (await browser.get(PASSKEYS)).text()

/** Sends a change of a member's keys and passkeys, which a device confirms. */
const changeConfirmed = async (browser: Browser, device: Device, fields: Record<string, string>) =>
  browser.post(PASSKEYS, await confirmed(await passkeysIn(browser), device, fields))

/** Adds a second passkey of a member. Returns the form that was sent, and its response. */
async function addPasskey(browser: Browser, device: Device, second: Device) {
  const page = await (await changeConfirmed(browser, device, { change: 'confirm-add' })).text()
  expect(optionsIn(page).excludeCredentials).toMatchObject([{ id: device.id }])
  const fields = {
    csrf: hidden(page, 'csrf'),
    change: 'add',
    state: hidden(page, 'state'),
    credential: await second.create(optionsIn(page)),
    name: 'Laptop',
  }
  return { fields, response: await browser.post(PASSKEYS, fields) }
}

const isSignedIn = async (browser: Browser) => (await browser.get(AT)).status === 200

test('§18.4 an invited person registers a passkey, and signs out and in again', async () => {
  const [browser, device] = [open(), await newPasskey()]
  const secret = await invite()
  expect(await (await browser.get(`${AT}/invitation`)).text()).toContain('data-invitation')
  const response = await join(browser, secret, { device })
  expect([response.status, response.headers.get('Location')]).toEqual([303, AT])
  const page = await (await browser.get(AT)).text()
  expect(page).toContain(words.plans)
  expect(await members()).toMatchObject([{ name: 'Eve', passkeys: 1 }])

  const copy = new Map(browser.cookies)
  await browser.post(`${AT}/sign-out`, { csrf: hidden(page, 'csrf') })
  expect(await isSignedIn(browser)).toBe(false)
  for (const [name, value] of copy) browser.cookies.set(name, value)
  expect(await isSignedIn(browser), 'a copy of the cookie').toBe(false)

  browser.cookies.clear()
  expect((await signIn(browser, { device })).response.status).toBe(303)
  expect(await isSignedIn(browser)).toBe(true)
})

test('the cookie of a session is signed, HttpOnly, Secure and SameSite=Strict, and lasts 8 hours', async () => {
  const { device } = await joined()
  const { response } = await signIn(open(), { device })
  const [cookie = ''] = response.headers.getSetCookie()
  expect(cookie).toMatch(/^__Host-tributary_portal=[\w-]+\.[\w-]{43};/)
  for (const part of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/', 'Max-Age=28800']) {
    expect(cookie).toContain(part)
  }
  const forged = open()
  forged.cookies.set('__Host-tributary_portal', `${btoa('{}')}.${'A'.repeat(43)}`)
  expect(await isSignedIn(forged)).toBe(false)
})

describe('an invitation', () => {
  test('works once', async () => {
    const secret = await invite()
    await join(open(), secret, { device: await newPasskey() })
    const again = await open().post(`${AT}/invitation`, { secret })
    expect([again.status, await again.text()]).toEqual([
      404,
      expect.stringContaining('was used already'),
    ])
  })

  test('works for one of two who register at the same time', async () => {
    const secret = await invite()
    const both = await Promise.all(
      [1, 2].map(async () => join(open(), secret, { device: await newPasskey() })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([303, 404])
    expect(await members()).toHaveLength(1)
  })

  test.each([
    ['it ends', 'update affiliate_invitations set ends_at = 0'],
    ['the affiliate is suspended', `update affiliates set status = 'suspended'`],
  ])('does not work if %s before its member is stored', async (_, happens) => {
    const platform = surrounded(async ({ sql }, act) => {
      if (sql.includes('insert into affiliate_passkeys')) await env.DB.exec(happens)
      return act()
    })
    const browser = openBrowser(platform, portalApp as never)
    expect((await join(browser, await invite(), { device: await newPasskey() })).status).toBe(404)
    expect(await members()).toEqual([])
  })

  test('ends after 72 hours, also between its two pages', async () => {
    const [secret, browser, device] = [await invite(), open(), await newPasskey()]
    const page = await (await browser.post(`${AT}/invitation`, { secret })).text()
    const credential = await device.create(optionsIn(page))
    await env.DB.exec(`update affiliate_invitations set ends_at = ${Date.now()}`)
    const late = await browser.post(`${AT}/invitation/register`, {
      ...{ secret, state: hidden(page, 'state'), credential, name: 'Eve' },
    })
    expect(late.status).toBe(404)
    expect((await browser.post(`${AT}/invitation`, { secret })).status).toBe(404)
    expect(await members()).toEqual([])
  })

  test('of another account is not found, and its challenge answers no other', async () => {
    await partner('forex', { account: 'other', affiliates: ['IB-07'] })
    const [secret, second] = [await invite(), await invite()]
    expect((await open().post('/portal/other/invitation', { secret })).status).toBe(404)

    const [browser, device] = [open(), await newPasskey()]
    const page = await (await browser.post(`${AT}/invitation`, { secret })).text()
    const credential = await device.create(optionsIn(page))
    const mixed = await browser.post(`${AT}/invitation/register`, {
      ...{ secret: second, state: hidden(page, 'state'), credential, name: 'Eve' },
    })
    expect(mixed.status).toBe(401)
    expect(await members()).toEqual([])
  })

  test('is not opened by a form of another site', async () => {
    const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
    const secret = await invite()
    expect((await open().post(`${AT}/invitation`, { secret }, foreign)).status).toBe(404)
    expect((await open().post(`${AT}/invitation`, { secret })).status).toBe(200)
  })
})

test('a wrong passkey is refused at the registration', async () => {
  const by = { crossOrigin: true } as const
  expect((await join(open(), await invite(), { device: await newPasskey(), by })).status).toBe(401)
  expect(await members()).toEqual([])
})

test('a wrong passkey is refused at the sign-in', async () => {
  const { device } = await joined()
  const { response } = await signIn(open(), { device })
  expect(response.status).toBe(303)
  for (const by of [
    // It is counted 2.
    { counter: 1 },
    { counter: 2 },
    { userHandle: 'bWVtLTI' },
    { userHandle: null },
    { crossOrigin: true },
  ] as const) {
    const refused = await signIn(open(), { device, by })
    expect([by, refused.response.status, await refused.response.text()]).toEqual([
      by,
      401,
      expect.stringContaining('not registered here'),
    ])
  }
})

test('a passkey is stored with whether it can be copied and, since its last use, is', async () => {
  const [browser, device] = [open(), await newPasskey()]
  const { UP, UV, BE, BS, AT } = FLAGS
  const flags = UP | UV | BE
  await join(browser, await invite(), { device, by: { flags: flags | AT } })
  const stored = () =>
    env.DB.prepare('select counter, backup_eligible, backed_up from affiliate_passkeys').first()
  expect(await stored()).toEqual({ counter: 1, backup_eligible: 1, backed_up: 0 })
  await signIn(open(), { device, by: { flags: flags | BS } })
  expect(await stored()).toEqual({ counter: 2, backup_eligible: 1, backed_up: 1 })
})

test('an answer of a passkey is accepted once, and not after ten minutes', async () => {
  const { device } = await joined()
  const { fields } = await signIn(open(), { device, by: { counter: 0 } })
  await env.DB.exec('update affiliate_passkeys set counter = 0')
  const first = await signIn(open(), { device, by: { counter: 0 } })
  expect(first.response.status).toBe(303)
  expect((await open().post(`${AT}/sign-in`, first.fields)).status).toBe(401)
  vi.setSystemTime(Date.now() + 11 * 60_000)
  expect((await open().post(`${AT}/sign-in`, fields)).status).toBe(401)
  vi.useRealTimers()
})

test('a passkey of one account signs nobody in to another', async () => {
  await partner('forex', { account: 'other', affiliates: ['IB-07'] })
  const { browser, device } = await joined()
  expect((await signIn(open(), { device }, '/portal/other')).response.status).toBe(401)
  expect((await browser.get('/portal/other')).status).toBe(303)
  expect((await browser.get('/portal/nobody')).status).toBe(404)
})

test('a suspension refuses every request at once, also in the middle of a form', async () => {
  const { browser, device } = await joined()
  const page = await (await changeConfirmed(browser, device, { change: 'confirm-add' })).text()
  const credential = await (await newPasskey()).create(optionsIn(page))
  await put({ affiliate_id: 'IB-07', status: 'suspended' })
  const sent = await browser.post(`${AT}/passkeys`, {
    ...{ csrf: hidden(page, 'csrf'), change: 'add', state: hidden(page, 'state'), credential },
  })
  expect([sent.status, await sent.text()]).toEqual([
    403,
    expect.stringContaining('suspended your access'),
  ])
  expect((await browser.get(AT)).status).toBe(403)
  expect((await signIn(open(), { device })).response.status).toBe(403)
  expect(await members()).toMatchObject([{ passkeys: 1 }])
})

const reinstate = () => put({ affiliate_id: 'IB-07', status: 'active' })

test('a suspension ends sessions for good', async () => {
  const { browser, device } = await joined()
  await put({ affiliate_id: 'IB-07', status: 'suspended' })
  await reinstate()
  expect(await isSignedIn(browser)).toBe(false)
  expect((await signIn(browser, { device })).response.status).toBe(303)
  expect(await isSignedIn(browser)).toBe(true)
  await put({ affiliate_id: 'IB-07', status: 'active', note: 'Reinstated' })
  expect(await isSignedIn(browser)).toBe(true)
})

test('a sign-in that a suspension overtakes begins no session', async () => {
  const { device } = await joined()
  const browser = open()
  const page = await (await browser.get(`${AT}/sign-in`)).text()
  const credential = await device.get(optionsIn(page), {})
  await put({ affiliate_id: 'IB-07', status: 'suspended' })
  const fields = { credential, state: hidden(page, 'state') }
  expect((await browser.post(`${AT}/sign-in`, fields)).status).toBe(403)
  await reinstate()
  expect(await isSignedIn(browser)).toBe(false)
})

test('whoever opens a page without a session comes to it after the sign-in, and to no other site', async () => {
  const { browser, device } = await joined()
  const page = `${AT}/statements?period=2026-10`
  browser.cookies.clear()
  const sent = await browser.get(page)
  expect(sent.status).toBe(303)
  const to = sent.headers.get('Location') ?? ''
  expect(to).toBe(`${AT}/sign-in?${new URLSearchParams({ next: page })}`)
  const signInFrom = async (address: string, next?: string) => {
    browser.cookies.clear()
    const text = await (await browser.get(address)).text()
    const credential = await device.get(optionsIn(text), {})
    const fields = { credential, state: hidden(text, 'state'), next: next ?? hidden(text, 'next') }
    return (await browser.post(`${AT}/sign-in`, fields)).headers.get('Location')
  }
  expect(await signInFrom(to)).toBe(page)
  expect((await browser.get(to)).headers.get('Location')).toBe(page)

  for (const next of [
    ...['https://evil.example/portal/acme/statements', '//evil.example/portal/acme/links'],
    ...['/portal/other/statements', '/portal/acme/../other/links', '/console', `${AT}/sign-out`],
    ...['javascript:alert(1)', `${AT}x`, '\\\\evil.example', ''],
  ]) {
    expect([next, await signInFrom(`${AT}/sign-in`, next)]).toEqual([next, AT])
  }
  const foreign = `${AT}/sign-in?${new URLSearchParams({ next: 'https://evil.example/' })}`
  expect(await signInFrom(foreign)).toBe(AT)
})

test('in development a page at 127.0.0.1 leads to itself at localhost, which can have passkeys', async () => {
  const world = { ...env, BASE_URL: 'http://127.0.0.1:8787' } as Env
  const page = `127.0.0.1:8787${AT}/statements?period=2026-10`
  const sent = await open().get(`http://${page}`, {}, world)
  const to = `http://${page.replace('127.0.0.1', 'localhost')}`
  expect([sent.status, sent.headers.get('Location')]).toEqual([307, to])
})

test('a form without a session changes nothing; the sign-in leads to its page', async () => {
  const { browser } = await joined()
  browser.cookies.clear()
  const sent = await browser.post(`${AT}/questions`, { change: 'write', text: 'Why?' })
  const page = await (await browser.get(sent.headers.get('Location') ?? '')).text()
  expect(hidden(page, 'next')).toBe(`${AT}/questions`)
})

test('nobody is invited while an affiliate is suspended; an open invitation waits', async () => {
  const secret = await invite()
  await put({ affiliate_id: 'IB-07', status: 'suspended' })
  const path = 'accounts/acme/affiliates/IB-07/invitations'
  const refused = await askAdmin(path, 'POST')
  expect([refused.status, (await json(refused)).detail]).toEqual([
    409,
    'The affiliate is suspended, so nobody can join. Reinstate it first.',
  ])
  expect((await open().post(`${AT}/invitation`, { secret })).status).toBe(403)
  await reinstate()
  expect((await join(open(), secret, { device: await newPasskey() })).status).toBe(303)
})

test('a member adds and removes passkeys, but never the last one', async () => {
  const { browser, device } = await joined()
  const remove = (id: string) =>
    changeConfirmed(browser, device, { change: 'remove', credential_id: id })

  expect((await remove(device.id)).status).toBe(422)
  const second = await newPasskey()
  const added = await addPasskey(browser, device, second)
  expect(added.response.headers.get('Location')).toBe(`${PASSKEYS}?done=added`)
  expect(await passkeysIn(browser)).toContain('Laptop')

  const laptop = open()
  await signIn(laptop, { device: second })
  await remove(second.id)
  expect(await isSignedIn(laptop)).toBe(false)
  expect(await isSignedIn(browser)).toBe(true)
  expect(await passkeysIn(browser)).not.toContain('Laptop')
  expect((await browser.post(PASSKEYS, added.fields)).status, 'the same answer again').toBe(422)
  expect(await members()).toMatchObject([{ passkeys: 1 }])
  const [{ id }] = (await members()) as [{ id: string }]
  const { data } = await json(askAdmin('audit-log?account=acme'))
  const entry = { actor: `affiliate-member ${id} IB-07`, details: { affiliate_id: 'IB-07', id } }
  expect(data.slice(0, 2)).toMatchObject([
    { action: 'affiliate-passkey.remove', ...entry },
    { action: 'affiliate-passkey.add', ...entry },
  ])
})

test('§20.1 without a fresh passkey of the member in their session, no key is made and no passkey removed or added', async () => {
  const { browser, device } = await joined()
  const second = await newPasskey()
  await addPasskey(browser, device, second)
  const other = await joined()
  const stored = async () => [
    await members(),
    (await json(askAdmin('accounts/acme/affiliates/IB-07/keys'))).data,
  ]
  const before = await stored()
  for (const fields of [
    { change: 'make-key', name: 'Tracker', scope: 'read' },
    { change: 'remove', credential_id: second.id },
    { change: 'confirm-add' },
  ]) {
    const refuse = async (form: Record<string, string>, status = 422) => {
      const response = await browser.post(PASSKEYS, form)
      expect([fields, response.status]).toEqual([fields, status])
      expect(await response.text()).not.toContain('excludeCredentials')
      expect(await stored()).toEqual(before)
    }
    const page = await passkeysIn(browser)
    const form = await confirmed(page, device, fields)
    await refuse({ ...form, credential: '' })
    await refuse({ ...form, state: '' })
    await refuse({ ...form, csrf: '' }, 400)
    await refuse(await confirmed(page, other.device, fields))
    const gettingPaid = await (await browser.get(`${AT}/getting-paid`)).text()
    await refuse(await confirmed(gettingPaid, device, fields))
    vi.setSystemTime(Date.now() + 301_000)
    await refuse(await confirmed(page, device, fields))
    vi.useRealTimers()
  }
})

test('the removal of a member ends the keys that they made', async () => {
  const { browser, device } = await joined()
  await changeConfirmed(browser, device, { change: 'make-key', name: 'Tracker', scope: 'read' })
  const page = await passkeysIn(browser)
  const [key = ''] = /taf_live_\w+|taf_test_\w+/.exec(page) ?? []
  const statusOf = async () =>
    (await ask('/affiliate/v1/me', { headers: { Authorization: `Bearer ${key}` } })).status
  expect(await statusOf()).toBe(200)
  const [member] = await members()
  const path = `accounts/acme/affiliates/IB-07/members/${member?.id}`
  expect((await askAdmin(path, 'DELETE')).status).toBe(204)
  expect(await statusOf()).toBe(401)
})

test('§18 an affiliate signs in at most 60 times an hour', async () => {
  const { device } = await joined()
  const gate = env.CLIENT_GATE.getByName('sign-ins:["acme","IB-07"]')
  const expiresAt = Date.now() + 3_600_000
  for (let i = 1; i < 60; i++) await gate.mint({ jti: `${i}`, expiresAt, version: 0 })
  expect((await signIn(open(), { device })).response.status).toBe(303)
  const { response } = await signIn(open(), { device })
  expect(response.status).toBe(429)
  expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(3500)
})

test('a member was last seen on the day on which they last looked', async () => {
  const { browser } = await joined()
  const seen = async () => {
    const [{ last_seen_at }] = (await members()) as unknown as [{ last_seen_at: string }]
    return last_seen_at
  }
  const first = await seen()
  await browser.get(AT)
  expect(await seen()).toBe(first)
  await env.DB.exec("update affiliate_members set last_seen_at = '2026-01-01T00:00:00.000Z'")
  await browser.get(AT)
  expect((await seen()).slice(0, 10)).toBe(new Date().toISOString().slice(0, 10))
})

test('a member who is removed is signed out at once', async () => {
  const { browser } = await joined()
  const [member] = await members()
  await askAdmin(`accounts/acme/affiliates/IB-07/members/${member?.id}`, 'DELETE')
  expect(await isSignedIn(browser)).toBe(false)
})

test('an address waits after five refused passkeys', async () => {
  const [browser, device] = [open(), await newPasskey()]
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) statuses.push((await signIn(browser, { device })).response.status)
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
})

test('the portal speaks the language of the affiliate, before that of the browser', async () => {
  for (const [accepted, language] of [
    ['it, de-CH;q=0.8, en;q=0.5', 'de'],
    ['fr-CA, de;q=0.8', 'fr'],
  ] as const) {
    const page = await open().get(`${AT}/sign-in`, { 'Accept-Language': accepted })
    expect(await page.text()).toContain(WORDS[language].sign_in_button)
  }
  await put({ affiliate_id: 'IB-07', language: 'pt' })
  const { browser } = await joined()
  expect(await (await browser.get(AT)).text()).toMatch(/<html lang="pt">[\s\S]*Como você recebe/)
})

test('French texts take each month: none needs an elision', () => {
  const periods = ['avril 2026', 'août 2026', 'octobre 2026']
  const texts = Object.values(WORDS.fr).filter((text) => text.includes('{period}'))
  for (const text of texts)
    for (const period of periods) expect(fill(text, { period })).not.toMatch(/\b(?:de|que) [ao]/)
  expect(texts.length).toBeGreaterThan(4)
})

test('an address without a page is a 404 in the language of the browser', async () => {
  const headers = { 'Accept-Language': 'de' }
  for (const path of [`${AT}/zahlungen`, '/portal/nobody/sign-in']) {
    const response = await open().get(path, headers)
    expect([path, response.status]).toEqual([path, 404])
    expect(await response.text()).toContain(WORDS.de.not_found)
  }
})

test('every page has the security headers of the console', async () => {
  const { headers } = await open().get(`${AT}/sign-in`)
  expect(headers.get('Content-Security-Policy')).toContain("script-src 'self'")
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(headers.get('X-Frame-Options')).toBe('DENY')
})

test('the pages of the portal show what the API of affiliates answers', async () => {
  const { browser } = await joined()
  for (const [path, text] of [
    ['', words.pending_none],
    ['/statements', words.no_statements],
    ['/customers', words.no_customers],
  ]) {
    const response = await browser.get(`${AT}${path}`)
    expect([path, response.status, await response.text()]).toEqual([
      path,
      200,
      expect.stringContaining(text ?? ''),
    ])
  }
  expect((await browser.get(`${AT}/statements/stm_000000000000000000000000`)).status).toBe(404)
  expect((await browser.get(`${AT}/nowhere`)).status).toBe(404)
})
