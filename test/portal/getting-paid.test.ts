import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { askAda, rowsOf } from '../books/book-rows.ts'
import { at } from '../days.ts'
import { askAdmin, json, register } from '../partner.ts'
import { ADA } from '../payouts/payout-rows.ts'
import { FLAGS } from './authenticator.ts'
import { type Browser, confirmed, hidden, joinedFor, optionsIn } from './join.ts'

const PORTAL = '/portal/acme-forex'
const PAGE = `${PORTAL}/getting-paid`
const PAYEE = 'accounts/acme-forex/affiliates/aff-7/payee'

beforeEach(async () => {
  await register('forex', { affiliates: ['aff-7', 'aff-8'] })
})

const join = (affiliate: string) => joinedFor('acme-forex', affiliate)

const FIELDS = { ...ADA, address: '', city: 'Berlin', country: 'DE', change: 'enter' }

const pageOf = async (browser: Browser) => (await browser.get(PAGE)).text()

const states = async () => (await rowsOf('payees')).map(({ state }) => state)

test('§20.1 a member enters bank details with a passkey, and blocks what they did not enter', async () => {
  const { browser, device } = await join('aff-7')
  const entered = await browser.post(PAGE, await confirmed(await pageOf(browser), device, FIELDS))
  expect(entered.headers.get('Location')).toBe(`${PAGE}?done=yes`)
  const page = await pageOf(browser)
  expect(page).toContain('DE…3000')
  expect(page).not.toContain('0440532013')
  expect(await (await browser.get(PORTAL)).text()).toContain('has not approved these bank details')
  expect(await json(askAdmin(PAYEE))).toMatchObject({
    state: 'entered',
    entered_by: expect.stringMatching(/^affiliate-member /),
    invited_by: 'root-key',
  })
  // The details stand first; blocking stands last, and is asked for before it is confirmed.
  const places = ['DE…3000', 'value="enter"', '?ask=block'].map((text) => page.indexOf(text))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(page).not.toContain('value="block"')
  const asked = await (await browser.get(`${PAGE}?ask=block`)).text()
  expect(asked).toContain('value="block"')
  const blocked = await browser.post(PAGE, await confirmed(asked, device, { change: 'block' }))
  expect(blocked.headers.get('Location')).toBe(`${PAGE}?done=yes`)
  expect(await states()).toEqual(['blocked'])
})

test('§20.1 without a fresh passkey of the member in their session, nothing is changed', async () => {
  const [{ browser, device }, other, foreign] = [
    await join('aff-7'),
    await join('aff-7'),
    await join('aff-8'),
  ]
  const refuse = async (form: Record<string, string>) => {
    expect((await browser.post(PAGE, form)).status).toBe(422)
    expect(await states()).toEqual([])
  }
  const page = await pageOf(browser)
  const form = await confirmed(page, device, FIELDS)
  await refuse({ ...form, credential: '' })
  await refuse({ ...form, state: '' })
  for (const { device } of [other, foreign]) await refuse(await confirmed(page, device, FIELDS))
  const theirs = await pageOf(other.browser)
  const challenge = {
    state: hidden(theirs, 'state'),
    credential: await device.get(optionsIn(theirs)),
  }
  await refuse({ ...form, ...challenge })
  await refuse({ ...form, credential: await device.get(optionsIn(page), { flags: FLAGS.UP }) })
  at(new Date(Date.now() + 301_000).toISOString())
  await refuse(await confirmed(page, device, FIELDS))
  // As passkeys that are synchronized between devices, which count nothing.
  await env.DB.exec('update affiliate_passkeys set counter = 0')
  const fresh = await confirmed(await pageOf(browser), device, FIELDS, { counter: 0 })
  expect((await browser.post(PAGE, { ...fresh, csrf: '' })).status).toBe(400)
  expect((await browser.post(PAGE, fresh)).status).toBe(303)
  expect((await browser.post(PAGE, { ...fresh, name: 'Eve' })).status).toBe(422)
  expect(await states()).toEqual(['entered'])
})

test('§20.1 whoever invited a member does not approve what they enter, also once they are removed', async () => {
  const { browser, device } = await join('aff-7')
  await browser.post(PAGE, await confirmed(await pageOf(browser), device, FIELDS))
  const approve = async (ask: typeof askAda) =>
    (await ask(`${PAYEE}/approve`, 'POST', { version: 1 })).status
  expect(await approve(askAdmin)).toBe(409)
  const [{ id } = {}] = await rowsOf('affiliate_members')
  await askAdmin(`accounts/acme-forex/affiliates/aff-7/members/${id}`, 'DELETE')
  expect([await approve(askAdmin), await approve(askAda)]).toEqual([409, 409])
  expect(await states()).toEqual(['entered'])
})

test('§20.1 mistakes are named in the language of the member, and what was typed stays', async () => {
  await env.DB.exec("update affiliates set language = 'de'")
  const { browser, device } = await join('aff-7')
  const sent = await confirmed(await pageOf(browser), device, { ...FIELDS, iban: 'DE00', city: '' })
  const response = await browser.post(PAGE, sent)
  const page = await response.text()
  expect(response.status).toBe(422)
  expect(page).toContain('Prüfen Sie diese Felder: Ort, IBAN.')
  expect(page).toContain('value="DE00"')
  expect(page.match(/aria-invalid="true"|Prüfen Sie dieses Feld\.|Prüfziffern/g)).toHaveLength(4)
  const foreign = await confirmed(await pageOf(browser), device, { ...FIELDS, name: '王 Ada' })
  expect(await (await browser.post(PAGE, foreign)).text()).toContain('kennt Ihre Bank nicht: 王.')
})
