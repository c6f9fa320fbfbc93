import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { keyOfRole } from '../members.ts'
import { askAdmin, json, register } from '../partner.ts'
import { ADA, BATCH_ID, MAIN, OTHER_IBAN, payoutRows } from '../payouts/payout-rows.ts'
import { KEY_WORLD, signedIn } from './browser.ts'

// The bank details of affiliates and of the account. `eve` has entered those that are stored.

const AT = '/console/accounts/acme'
const AFFILIATE = `${AT}/affiliates/aff-7`
const HIDDEN = [ADA.iban, MAIN.iban].map((iban) => iban.slice(4, -4))

beforeEach(async () => {
  await register('forex', { account: 'acme' })
  await env.DB.batch(await payoutRows(env.DB, 'acme'))
})

const payee = () => json(askAdmin('accounts/acme/affiliates/aff-7/payee'))

test('§20.1 bank details are approved, changed and blocked on a page, where only a reason shows their numbers', async () => {
  const browser = await signedIn()
  const change = async (path: string, fields: Record<string, string>) =>
    browser.post(path, { csrf: await browser.csrf(path), ...fields })
  for (const path of [AFFILIATE, `${AT}/payees`, `${AT}/payers`, `${AT}/payers?payer=main`, AT]) {
    const page = await (await browser.get(path)).text()
    for (const number of HIDDEN) expect(page).not.toContain(number)
  }
  expect((await change(AFFILIATE, { change: 'approve', version: '1' })).status).toBe(303)
  expect(
    (await change(`${AT}/payers?payer=main`, { change: 'approve', version: '1' })).status,
  ).toBe(303)
  expect(await payee()).toMatchObject({ state: 'approved', version: 1 })
  const shown = await change(AFFILIATE, { change: 'reveal', reason: 'The bank asks' })
  expect(await shown.text()).toContain(ADA.iban)
  const owner = { name: 'Ada', kind: 'person', email: 'ada@x.example' }
  // The form hides the BIC, which is that of another method.
  const typed = { ...owner, city: 'Paris', country: 'FR', method: 'sepa', bic: 'COBADEFF' }
  const wrong = await change(AFFILIATE, { change: 'enter', ...typed, iban: 'FR00' })
  expect([wrong.status, await wrong.text()]).toEqual([
    422,
    expect.stringContaining('of its country'),
  ])
  const entered = await change(AFFILIATE, { change: 'enter', ...typed, iban: OTHER_IBAN })
  expect(entered.status).toBe(303)
  const payer = { name: 'Acme', city: 'Paris', country: 'FR', iban: OTHER_IBAN, currency: 'EUR' }
  const added = await change(`${AT}/payers`, { change: 'enter', payer: 'second', ...payer })
  expect(added.status).toBe(303)
  expect(await json(askAdmin('accounts/acme/payers'))).toMatchObject({ meta: { total: 3 } })
  const page = await (await browser.get(AFFILIATE)).text()
  for (const text of ['DE…3000', 'FR…2606', '<bdi>–</bdi>', 'another person approves']) {
    expect(page).toContain(text)
  }
  expect((await change(AFFILIATE, { change: 'block', reason: 'Not theirs' })).status).toBe(303)
  expect(await payee()).toMatchObject({ state: 'blocked', version: 2, reason: 'Not theirs' })
  const { data } = await json(askAdmin('accounts/acme/attention'))
  const names = ['aff-7', 'payer second']
  expect(data).toContainEqual(expect.objectContaining({ code: 'waiting_payees', count: 2, names }))
})

test('§20.1 a manager sees only the forms that they can send', async () => {
  const browser = await signedIn(KEY_WORLD, undefined, await keyOfRole('manager'))
  const page = await (await browser.get(`${AT}/payers?payer=main`)).text()
  expect(page.match(/<summary>[^<]*/g)).toEqual(['<summary>Menu', '<summary>Enter bank details'])
})

test('§20.1 a file of payees is uploaded as it is, with the headings that the page names', async () => {
  const browser = await signedIn()
  const file = `Affiliate ID;Name;Kind;City;Country;Method;IBAN\naff-7;Ada;person;Paris;France;sepa;${OTHER_IBAN}\n`
  const csrf = await browser.csrf(`${AT}/payees`)
  const done = await browser.post(`${AT}/payees`, { csrf, change: 'upload', file })
  expect(done.status).toBe(303)
  expect(await payee()).toMatchObject({ version: 2, details: { iban: 'FR…2606' } })
})

test('§20.3 a batch is exported by a button, and only then its page leads to the file', async () => {
  const browser = await signedIn()
  const page = `${AT}/batches/${BATCH_ID}`
  const [before, early] = [
    await (await browser.get(page)).text(),
    await browser.get(`${page}?file=1`),
  ]
  expect([before.includes('Download'), early.status]).toEqual([false, 409])
  const exported = await browser.post(page, { csrf: await browser.csrf(page), change: 'export' })
  expect(exported.headers.get('Location')).toBe(page)
  const after = await (await browser.get(page)).text()
  expect(after).toContain(`<a href="${page}?file=1">Download ${BATCH_ID}.xml</a>`)
  const [file, own] = [
    await browser.get(`${page}?file=1`),
    askAdmin(`accounts/acme/batches/${BATCH_ID}/file`),
  ]
  expect(file.headers.get('Content-Disposition')).toContain(`${BATCH_ID}.xml`)
  expect(await file.text()).toBe(await (await own).text())
})

test('§20.1 an approver says on a page why two affiliates have one account', async () => {
  const browser = await signedIn()
  const shown = async () => (await browser.get(AFFILIATE)).text()
  expect(await shown()).toContain('The same account is that of')
  const why = { change: 'explain', reason: 'An agency' }
  await browser.post(AFFILIATE, { csrf: await browser.csrf(AFFILIATE), ...why })
  expect(await shown()).not.toContain('The same account is that of')
})
