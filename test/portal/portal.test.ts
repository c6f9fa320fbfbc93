import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { fill } from '../../src/platform/languages.ts'
import { portalApp } from '../../src/portal/app.tsx'
import { openBrowser } from '../console/browser.ts'
import { ask, askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { surrounded } from '../sweep/platform.ts'
import { forgetWords } from '../words.ts'
import { type Deviation, newPasskey } from './authenticator.ts'
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

test('§18.4 an invited person says their name, registers a passkey, and sees the portal', async () => {
  const [browser, device] = [open(), await newPasskey()]
  const secret = await invite()
  const response = await join(browser, secret, { device })
  expect([response.status, response.headers.get('Location')]).toEqual([303, AT])
  const page = await (await browser.get(AT)).text()
  expect(page).toContain(words.plans)
  expect(await members()).toMatchObject([{ name: 'Eve', passkeys: 1 }])
})

describe('an invitation', () => {
  test('does not work if its affiliate is suspended before its member is stored', async () => {
    const platform = surrounded(async ({ sql }, act) => {
      if (sql.includes('insert into affiliate_passkeys'))
        await env.DB.exec("update affiliates set status = 'suspended'")
      return act()
    })
    const browser = openBrowser(platform, portalApp as never)
    expect((await join(browser, await invite(), { device: await newPasskey() })).status).toBe(404)
    expect(await members()).toEqual([])
  })

  test('of another account is not found', async () => {
    await partner('forex', { account: 'other', affiliates: ['IB-07'] })
    const secret = await invite()
    expect((await open().post('/portal/other/invitation', { secret })).status).toBe(404)
  })
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

test('the audit log names the member who adds or removes a passkey', async () => {
  const { browser, device } = await joined()
  const second = await newPasskey()
  await addPasskey(browser, device, second)
  await changeConfirmed(browser, device, { change: 'remove', credential_id: second.id })
  expect(await members()).toMatchObject([{ passkeys: 1 }])
  const [{ id }] = (await members()) as [{ id: string }]
  const { data } = await json(askAdmin('audit-log?account=acme'))
  const entry = { actor: `affiliate-member ${id} IB-07`, details: { affiliate_id: 'IB-07', id } }
  expect(data.slice(0, 2)).toMatchObject([
    { action: 'affiliate-passkey.remove', ...entry },
    { action: 'affiliate-passkey.add', ...entry },
  ])
})

test('§20.1 no key is made without a fresh passkey, of this page', async () => {
  const { browser, device } = await joined()
  const fields = { change: 'make-key', name: 'Tracker', scope: 'read' }
  const gettingPaid = await (await browser.get(`${AT}/getting-paid`)).text()
  for (const form of [
    { ...(await confirmed(await passkeysIn(browser), device, fields)), credential: '' },
    await confirmed(gettingPaid, device, fields),
  ]) {
    expect((await browser.post(PASSKEYS, form)).status).toBe(422)
    expect((await json(askAdmin('accounts/acme/affiliates/IB-07/keys'))).data).toEqual([])
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

test('the portal speaks the language of the affiliate, before that of the browser', async () => {
  for (const [accepted, language] of [
    ['it, de-CH;q=0.8, en;q=0.5', 'de'],
    ['fr-CA, de;q=0.8', 'fr'],
  ] as const) {
    forgetWords()
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
    forgetWords()
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
