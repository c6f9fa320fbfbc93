import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { digest } from '../../src/platform/auth/secret.ts'
import { ORIGIN } from '../partner.ts'
import { type Deviation, FLAGS, newPasskey, REFUSED } from '../portal/authenticator.ts'
import { type Browser, confirmed, type Device, hidden, joinAt, optionsIn } from '../portal/join.ts'
import { surrounded } from '../sweep/platform.ts'
import { KINDS } from './kinds.ts'

// Invitations, passkeys and sessions of both kinds of people who sign in with passkeys, with a device in software.

describe.each(KINDS)('of the $kind', (kind) => {
  const { home, own, invite, open } = kind
  beforeEach(() => kind.begin())

  const join = (browser: Browser, secret: string, device: Device, by: Deviation = {}) =>
    joinAt(home, browser, secret, { device, by })

  async function joined() {
    const [browser, device] = [open(), await newPasskey()]
    expect((await join(browser, await invite(), device)).status).toBe(303)
    return { browser, device }
  }

  async function signIn(browser: Browser, device: Device, by: Deviation = {}) {
    const page = await (await browser.get(`${home}/sign-in`)).text()
    const credential = await device.get(optionsIn(page), by)
    const fields = { credential, state: hidden(page, 'state') }
    return { fields, response: await browser.post(`${home}/sign-in`, fields) }
  }

  const stored = async (columns = 'name, counter, backup_eligible, backed_up') =>
    (await env.DB.prepare(`select ${columns} from ${kind.passkeys} order by name`).all()).results

  const isSignedIn = async (browser: Browser) => (await browser.get(own)).status === 200

  const ownPage = async (browser: Browser) => (await browser.get(own)).text()

  const change = async (browser: Browser, device: Device, fields: Record<string, string>) =>
    browser.post(own, await confirmed(await ownPage(browser), device, fields))

  async function addPasskey(browser: Browser, device: Device, second: Device) {
    const page = await (await change(browser, device, { change: 'confirm-add' })).text()
    const [form = ''] = /<form[^>]*data-passkey="create"[\s\S]*?<\/form>/.exec(page) ?? []
    expect(optionsIn(form).excludeCredentials).toMatchObject([{ id: device.id }])
    const fields = {
      ...{ csrf: hidden(page, 'csrf'), change: 'add', state: hidden(form, 'state') },
      ...{ credential: await second.create(optionsIn(form)), name: 'Laptop' },
    }
    return { fields, response: await browser.post(own, fields) }
  }

  test('who is invited registers a passkey, signs out, and in again', async () => {
    const { browser, device } = await joined()
    const page = await ownPage(browser)
    const copy = new Map(browser.cookies)
    await browser.post(`${home}/sign-out`, { csrf: hidden(page, 'csrf') })
    expect(await isSignedIn(browser)).toBe(false)
    for (const [name, value] of copy) browser.cookies.set(name, value)
    expect(await isSignedIn(browser), 'a copy of the cookie').toBe(false)

    browser.cookies.clear()
    const { response } = await signIn(browser, device)
    expect([response.status, response.headers.get('Location')]).toEqual([303, home])
    const [cookie = ''] = response.headers.getSetCookie()
    expect(cookie.slice(0, kind.cookie.length + 1)).toBe(`${kind.cookie}=`)
    for (const part of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/', 'Max-Age=28800']) {
      expect(cookie).toContain(part)
    }
    expect(await isSignedIn(browser)).toBe(true)
    browser.cookies.set(kind.cookie, `${btoa('{}')}.${'A'.repeat(43)}`)
    expect(await isSignedIn(browser), 'forged').toBe(false)
  })

  describe('an invitation', () => {
    const use = async (secret: string) =>
      (await join(open(), secret, await newPasskey()).catch(() => null))?.status

    test('is not used by who opens it, and works once', async () => {
      const secret = await invite()
      expect(await (await open().get(`${home}/invitation`)).text()).toContain('data-invitation')
      expect((await open().post(`${home}/invitation`, { secret })).status).toBe(200)
      expect(await use(secret)).toBe(303)
      const again = await open().post(`${home}/invitation`, { secret })
      expect([again.status, await again.text()]).toEqual([
        404,
        expect.stringContaining('was used already'),
      ])
    })

    test('works for one of two browsers that register at the same time', async () => {
      const secret = await invite()
      const both = await Promise.all(
        [1, 2].map(async () => join(open(), secret, await newPasskey())),
      )
      expect(both.map(({ status }) => status).sort()).toEqual([303, 404])
      expect(await stored()).toHaveLength(1)
    })

    test('does not work if it ends before its passkey is stored', async () => {
      const platform = surrounded(async ({ sql }, act) => {
        if (sql.includes(`insert into ${kind.passkeys}`))
          await env.DB.exec(`update ${kind.invitations} set ends_at = 0`)
        return act()
      })
      const browser = open({ ...platform, ACCESS_TEAM: '', ACCESS_AUD: '' })
      expect((await join(browser, await invite(), await newPasskey())).status).toBe(404)
      expect(await stored()).toEqual([])
    })

    test('ends after 72 hours, also between its two pages', async () => {
      const [secret, browser, device] = [await invite(), open(), await newPasskey()]
      const page = await (await browser.post(`${home}/invitation`, { secret })).text()
      const credential = await device.create(optionsIn(page))
      vi.setSystemTime(Date.now() + 72 * 3_600_000 + 1)
      const fields = { secret, state: hidden(page, 'state'), credential, name: 'Eve' }
      expect((await browser.post(`${home}/invitation/register`, fields)).status).toBe(404)
      expect((await browser.post(`${home}/invitation`, { secret })).status).toBe(404)
      vi.useRealTimers()
      expect(await stored()).toEqual([])
    })

    test('is of its site alone, and its challenge answers no other', async () => {
      const [secret, second] = [await invite(), await invite()]
      for (const other of KINDS.filter((one) => one !== kind)) {
        await other.begin()
        const path = `${other.home}/invitation`
        expect((await other.open().post(path, { secret })).status).toBe(404)
      }
      const [browser, device] = [open(), await newPasskey()]
      const page = await (await browser.post(`${home}/invitation`, { secret })).text()
      const credential = await device.create(optionsIn(page))
      const mixed = { secret: second, state: hidden(page, 'state'), credential, name: 'Eve' }
      expect((await browser.post(`${home}/invitation/register`, mixed)).status).toBe(401)
      expect(await stored()).toEqual([])
    })

    test('is not opened by a form of another site', async () => {
      const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
      const secret = await invite()
      expect((await open().post(`${home}/invitation`, { secret }, foreign)).status).toBe(404)
      expect(await use(secret)).toBe(303)
    })
  })

  test('each step of WebAuthn refuses at the registration and at the sign-in', async () => {
    for (const by of REFUSED) {
      expect((await join(open(), await invite(), await newPasskey(), by)).status).toBe(401)
    }
    expect(await stored()).toEqual([])
    const { device } = await joined()
    const { UP, UV, BE } = FLAGS
    const wrongs = [
      ...REFUSED,
      // It is counted 1.
      { counter: 1 },
      { flags: UP | UV | BE },
      { userHandle: 'bWVtLTI' },
      { userHandle: null },
    ]
    for (const [i, by] of wrongs.entries()) {
      const page = await (await open().get(`${home}/sign-in`)).text()
      const fields = {
        ...{ state: hidden(page, 'state'), credential: await device.get(optionsIn(page), by) },
      }
      const from = { Origin: ORIGIN, 'CF-Connecting-IP': `203.0.113.${i}` }
      const response = await open().post(`${home}/sign-in`, fields, from)
      expect([by, response.status, await response.text()]).toEqual([
        by,
        401,
        expect.stringContaining('not registered here'),
      ])
    }
    expect((await signIn(open(), device, { counter: 9 })).response.status).toBe(303)
  })

  test('no passkey of another site signs in', async () => {
    const { browser, device } = await joined()
    for (const other of KINDS.filter((one) => one !== kind)) {
      await other.begin()
      const foreign = other.open()
      const page = await (await foreign.get(`${other.home}/sign-in`)).text()
      const credential = await device.get(optionsIn(page))
      const fields = { credential, state: hidden(page, 'state') }
      expect((await foreign.post(`${other.home}/sign-in`, fields)).status).toBe(401)
      for (const [, value] of browser.cookies) foreign.cookies.set(other.cookie, value)
      expect((await foreign.get(other.own)).status).toBe(303)
    }
  })

  test('a passkey is stored with whether it can be copied and, since its last use, is', async () => {
    const [device, { UP, UV, BE, BS, AT }] = [await newPasskey(), FLAGS]
    await join(open(), await invite(), device, { flags: UP | UV | BE | AT })
    expect(await stored()).toMatchObject([{ counter: 1, backup_eligible: 1, backed_up: 0 }])
    await signIn(open(), device, { flags: UP | UV | BE | BS })
    expect(await stored()).toMatchObject([{ counter: 2, backup_eligible: 1, backed_up: 1 }])
  })

  test('an answer of a passkey is accepted once, and not after ten minutes', async () => {
    const { device } = await joined()
    // As passkeys that are synchronized between devices, which count nothing.
    await env.DB.exec(`update ${kind.passkeys} set counter = 0`)
    const first = await signIn(open(), device, { counter: 0 })
    expect(first.response.status).toBe(303)
    expect((await open().post(`${home}/sign-in`, first.fields)).status).toBe(401)
    const page = await (await open().get(`${home}/sign-in`)).text()
    const credential = await device.get(optionsIn(page), { counter: 0 })
    vi.setSystemTime(Date.now() + 601_000)
    const late = { credential, state: hidden(page, 'state') }
    expect((await open().post(`${home}/sign-in`, late)).status).toBe(401)
    vi.useRealTimers()
  })

  test('an address waits after five refused passkeys', async () => {
    const device = await newPasskey()
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await signIn(open(), device)).response.status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('a member adds and removes passkeys, but never the last one', async () => {
    const { browser, device } = await joined()
    const remove = (id: string) => change(browser, device, { change: 'remove', credential_id: id })
    expect((await remove(device.id)).status).toBeGreaterThanOrEqual(400)
    const second = await newPasskey()
    const added = await addPasskey(browser, device, second)
    expect(added.response.status).toBe(303)
    expect((await stored()).map(({ name }) => name)).toEqual(['Laptop', 'Passkey 1'])

    const laptop = open()
    await signIn(laptop, second)
    expect(await isSignedIn(laptop)).toBe(true)
    expect((await remove(second.id)).status).toBe(303)
    expect([await isSignedIn(laptop), await isSignedIn(browser)]).toEqual([false, true])
    expect((await browser.post(own, added.fields)).status, 'again').toBeGreaterThanOrEqual(400)
    expect(await stored()).toHaveLength(1)
  })

  test('§20.1 without a fresh passkey of the member in their session, no passkey is removed or added', async () => {
    const { browser, device } = await joined()
    const second = await newPasskey()
    await addPasskey(browser, device, second)
    const other = await joined()
    const before = await stored('credential_id')
    for (const fields of [
      { change: 'remove', credential_id: second.id },
      { change: 'confirm-add' },
    ]) {
      const refuse = async (form: Record<string, string>) => {
        const response = await browser.post(own, form)
        expect([fields, response.status >= 400]).toEqual([fields, true])
        expect(await response.text()).not.toContain('excludeCredentials')
        expect(await stored('credential_id')).toEqual(before)
      }
      const page = await ownPage(browser)
      const form = await confirmed(page, device, fields)
      await refuse({ ...form, credential: '' })
      await refuse({ ...form, state: '' })
      await refuse({ ...form, csrf: '' })
      await refuse(await confirmed(page, other.device, fields))
      vi.setSystemTime(Date.now() + 301_000)
      await refuse(await confirmed(page, device, fields))
      vi.useRealTimers()
    }
  })

  test('no secret of an invitation is stored', async () => {
    const secret = await invite()
    const { results } = await env.DB.prepare(`select * from ${kind.invitations}`).all()
    expect(JSON.stringify(results)).not.toContain(secret)
    expect(JSON.stringify(results)).toContain(await digest(secret))
  })
})
