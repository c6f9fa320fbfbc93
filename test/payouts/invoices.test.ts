import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { readInvoice } from '../../src/payouts/invoices.ts'
import type { Role } from '../../src/platform/auth/roles.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import {
  approve,
  askAda,
  askBen,
  bookPaid,
  earning,
  idOf,
  rowsOf,
  storeRows,
} from '../books/book-rows.ts'
import { fetchWith } from '../checked-fetch.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json } from '../partner.ts'
import { hidden, signedInFor } from '../portal/join.ts'
import { surrounded } from '../sweep/platform.ts'
import {
  accept,
  approval,
  biller,
  decide,
  INVOICING,
  set,
  transferred,
  whole,
} from './invoice-rows.ts'
import {
  ADA,
  as,
  askExport,
  bookByHand,
  change,
  confirmed,
  enter,
  MAIN,
  PATH,
  PAYER,
  type Person,
  payable,
  requestOf,
  rowsOfEach,
} from './payout-rows.ts'

beforeEach(() => biller({ a: 'domestic', b: 'reverse_charge', c: null }))

const list = async () => (await json(askAdmin(`${PATH}/invoices`))).data
const show = (number: string) => json(askAdmin(`${PATH}/invoices/${number}`))
const correct = (number: string) =>
  askAdmin(`${PATH}/invoices/${number}/correct`, 'POST', { reason: 'The address is wrong.' })

const documentOf = async (number: string, language: string) => {
  await change('update affiliates set language = ?', language)
  const headers = { Accept: 'text/html' }
  const answer = await askAdmin(`${PATH}/invoices/${number}`, 'GET', undefined, headers)
  expect(answer.headers.get('Content-Type')).toContain('text/html')
  return (await answer.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

/** What cannot be paid, and why. */
const leftOut = async () =>
  (await payable()).flatMap(({ affiliate_id, reasons }) =>
    reasons.length > 0 ? [[affiliate_id, ...reasons]] : [],
  )

test('§20.5 an invoice is of the payable of its statement, its lines add up, and VAT is due with it', async () => {
  const received = [await transferred('a', 'ib', '10.00')]
  const more = { opening: '30.00', adjustments_sum: '-5.00', received, payable: '125.00' }
  await approve(earning('a', '2024-10', '100.00', more))
  const [{ number }] = await list()
  expect(await show(number)).toMatchObject({
    ...{ number: expect.stringMatching(/^SB-1-20\d\d-0001$/), net: '125.00' },
    ...{ treatment: 'domestic', rate: 19, taxable: '115.00', vat: '21.85', total: '146.85' },
    lines: [
      { kind: 'carried', amount: '20.00', text: null },
      { kind: 'earned', amount: '100.00', text: null },
      { kind: 'adjusted', amount: '-5.00', text: null },
      { kind: 'transferred', amount: '10.00', text: 'before-ib' },
    ],
    seller: { name: ADA.name, address: whole(ADA).address, vat_id: 'DE123456789' },
    buyer: { name: MAIN.name, address: whole(MAIN).address, vat_id: INVOICING.vat_id },
  })
  expect(await payable()).toMatchObject([{ amount: '146.85' }])
  expect((await rowsOf('ledger')).map(({ kind, amount }) => [kind, amount])).toContainEqual([
    ...['vat', '21.85'],
  ])
})

test('§20.5 a statement waits until the treatment is decided and the affiliate has agreed; nothing pays it', async () => {
  await change(`update agreements set until = '2026-01-01' where affiliate_id <> 'a'`)
  const rows = ['b', 'c'].map((id) => earning(id, '2024-10', '100.00'))
  await approve(...rows)
  expect(await leftOut()).toEqual([
    ['b', 'no_agreement'],
    ['c', 'no_agreement', 'no_treatment'],
  ])
  await accept('c')
  expect(await leftOut()).toEqual([
    ['b', 'no_agreement'],
    ['c', 'no_treatment'],
  ])
  const browser = await signedIn()
  const textOf = async (path: string) =>
    (await (await browser.get(`/console/${PATH}${path}`)).text()).replaceAll(/<[^>]*>|\s+/g, ' ')
  for (const page of ['', '/payouts'])
    expect(await textOf(page)).toMatch(/No agreement about invoices *: *100\.00 EUR +of +1 payee/)
  expect(await bookPaid(rows.map(idOf), 'R-1')).toBe(false)
  expect(await list()).toEqual([])
  await accept('b')
  // A treatment that lacks something is not decided.
  for (const more of [{}, { exempt_reason: '' }]) {
    expect([409, 422]).toContain((await decide('c', 1, 'exempt', more)).status)
  }
  await decide('c', 1, 'exempt', { exempt_reason: '§ 19 UStG' })
  expect(await leftOut()).toEqual([])
  const written = (await list()).map(
    ({ affiliate_id, vat, exempt_reason }: Record<string, string>) => [
      ...[affiliate_id, vat, exempt_reason],
    ],
  )
  expect(written).toEqual([
    ['c', '0.00', '§ 19 UStG'],
    ['b', '0.00', null],
  ])
  // VAT is rounded to the nearest cent, and another series begins anew.
  await set({ invoicing: { series: 'NEW' } })
  await approve(earning('a', '2024-11', '10.05'))
  const [{ number, vat }] = await list()
  expect([number.replace(/20\d\d/, ''), vat]).toEqual(['NEW-1--0001', '1.91'])
})

test('§20.5 nobody is named in an invoice, and nobody begins with invoices, without street or post box', async () => {
  const say = async (path: string, body: object) =>
    (await askAda(`${PATH}/${path}/approve`, 'POST', { version: 2, ...body })).status
  for (const [party, path, details, sent] of [
    ['payee', 'affiliates/a/payee', ADA, { treatment: 'outside' }],
    ['payer', 'payers/main', PAYER, {}],
  ] as const) {
    const id = party === 'payee' ? 'a' : 'main'
    await enter(party, id, details, { version: 2, state: 'entered', payable_from: null })
    expect(await say(path, sent)).toBe(409)
    if (party === 'payee') expect(await say(path, { treatment: 'none' })).toBe(200)
  }
  await set({ self_billing: 'off' })
  expect(await say('payers/main', {})).toBe(200)
  expect((await set({ self_billing: 'invoice' })).status).toBe(409)
  await enter('payer', 'main', whole(PAYER), { version: 3 })
  expect((await set({ self_billing: 'invoice' })).status).toBe(200)
  const page = await (await (await signedIn()).get(`/console/${PATH}/invoices`)).text()
  const labels = [...page.matchAll(/<label for="save-[^>]*>([^<]*)/g)].map(([, text]) => text)
  expect(labels).toHaveLength(7)
  for (const label of labels) expect(label!.split(' ').length).toBeGreaterThan(1)
})

test('§20.5 where two must approve, two decide a treatment; a VAT number that changes ends the agreement', async () => {
  await set({ approvals: 2 })
  const row = earning('c', '2024-10', '100.00')
  const [path, body] = approval(row)
  await storeRows([row])
  for (const ask of [askBen, askAda]) await ask(`${PATH}/${path}`, 'POST', body)
  const say = (who: Person, treatment: string) =>
    as(who, 'affiliates/c/payee/approve', 'POST', { version: 1, treatment })
  await say('mia', 'outside')
  await say('bob', 'none')
  expect((await leftOut())[0]).toContain('no_treatment')
  await say('mia', 'none')
  expect(await leftOut()).toEqual([])
  expect(await list()).toEqual([])
  for (const who of ['mia', 'bob'] as const) await as(who, '', 'PATCH', { approvals: 1 })
  for (const [version, vat_id] of [
    [2, 'DE123456789'],
    [3, 'DE987654321'],
  ] as const) {
    const tax = { vat_id, treatment: 'reverse_charge' }
    await askAda(`${PATH}/affiliates/b/payee`, 'PUT', {
      ...whole(ADA),
      name: `Ada ${version}`,
      tax,
    })
    const { until } = (await rowsOf('agreements')).find((one) => one.affiliate_id === 'b')!
    expect(until === null).toBe(vat_id === 'DE123456789')
  }
})

test('§20.5 a correction names the invoice and takes its whole amount back; what is paid keeps its sum', async () => {
  const row = earning('a', '2024-10', '100.00')
  await approve(row)
  const [{ number }] = await list()
  await set({ invoicing: { rate: 7 } })
  for (const _ of [1, 2]) expect((await correct(number)).status).toBe(200)
  const [again, correction] = await list()
  expect(correction).toMatchObject({
    corrects: number,
    net: '-100.00',
    vat: '-19.00',
    total: '-119.00',
  })
  expect(again).toMatchObject({ corrects: null, vat: '7.00', total: '107.00' })
  expect((await correct(correction.number)).status).toBe(409)
  expect(await bookPaid([idOf(row)], 'R-1')).toBe(true)
  await set({ invoicing: { rate: 8 } })
  expect((await correct(again.number)).status).toBe(409)
  await set({ invoicing: { rate: 7 } })
  expect((await correct(again.number)).status).toBe(200)
  expect((await list()).map((one: Record<string, string>) => one.total)).toEqual([
    '107.00',
    '-107.00',
    '107.00',
    '-119.00',
    '119.00',
  ])
  for (const sql of ['update invoices set number = number', 'delete from invoices'])
    await expect(change(sql)).rejects.toThrow('an invoice')
})

test('§20.5 a correction of what is paid in part leaves the rest due', async () => {
  await approve(earning('a', '2024-10', '100.00'))
  const { id, transfers } = await confirmed({ rows: rowsOfEach(['a']) })
  await askExport(id)
  const difference = { kind: 'owed', reason: 'Our limit of a day' }
  await bookByHand(transfers[0].id, { amount: '60.00', difference })
  const [{ number }] = await list()
  expect((await correct(number)).status).toBe(200)
  expect(await list()).toHaveLength(3)
  expect(await payable()).toMatchObject([{ amount: '59.00' }])
})

test('§20.5 an approval whose answer is lost writes its invoice and books its VAT once', async () => {
  const row = earning('a', '2024-10', '100.00')
  await storeRows([row])
  let isLost = false
  const world = surrounded(async ({ sql }, act) => {
    const result = await act()
    if (sql.includes('insert into invoices') && !isLost) {
      isLost = true
      throw new Error('D1_ERROR: Network connection lost.')
    }
    return result
  })
  const [path, body] = approval(row)
  expect((await fetchWith(world, requestOf(path, body))).status).toBe(200)
  expect(isLost).toBe(true)
  expect(await list()).toHaveLength(1)
  const vat = (await rowsOf('ledger')).filter(({ kind }) => kind === 'vat')
  expect(vat.map(({ amount }) => amount)).toEqual(['19.00'])
})

test('§20.5 the document has the marks of its language; a correction is never called Gutschrift', async () => {
  await approve(earning('a', '2024-10', '100.00'), earning('b', '2024-10', '50.00'))
  const marks = {
    en: 'Self-billing',
    de: 'Gutschrift',
    fr: 'Autofacturation',
    es: 'Facturación por el destinatario',
    pt: 'Autofaturação',
  }
  const [{ number: reverse }, { number: domestic }] = await list()
  for (const [language, mark] of Object.entries(marks)) {
    const page = await documentOf(reverse, language)
    for (const text of [
      mark,
      'Reverse charge',
      'DE123456789',
      INVOICING.vat_id,
      ADA.name,
      MAIN.name,
      reverse,
    ])
      expect(page, language).toContain(text)
    expect(page).not.toContain('HMRC')
  }
  const ofGb = { ...MAIN, address: { city: 'London', country: 'GB' } }
  expect(await documentOf(domestic, 'en')).not.toContain('HMRC')
  await enter('payer', 'main', { ...ofGb, kind: 'company', method: 'bank' }, { version: 2 })
  await correct(domestic)
  const [again, correction] = await list()
  expect(await documentOf(again.number, 'en')).toContain('output tax due to HMRC')
  const german = await documentOf(correction.number, 'de')
  expect(german).toContain('Rechnungskorrektur')
  expect(german).not.toContain('Gutschrift')
})

test('§20.5 a member agrees in the portal, reads their own invoices alone, and what they write stands on them', async () => {
  await change('delete from agreements')
  await approve(earning('b', '2024-10', '100.00'), earning('a', '2024-10', '100.00'))
  const [b, a] = [await signedInFor('acme-forex', 'b'), await signedInFor('acme-forex', 'a')]
  const at = '/portal/acme-forex/invoices'
  const form = async () => ({ csrf: hidden(await (await b.get(at)).text(), 'csrf') })
  expect(await (await b.get(at)).text()).toContain(INVOICING.agreement.text)
  expect((await b.post(at, { ...(await form()), version: 'v0' })).status).toBe(422)
  expect(await list()).toEqual([])
  expect((await b.post(at, { ...(await form()), version: 'v1' })).status).toBe(303)
  const [{ number, statement_id }] = await list()
  const page = `${at}?number=${number}`
  expect(await (await b.get(page)).text()).toContain('DE123456789')
  expect((await a.get(page)).status).toBe(404)
  const question = { statement: statement_id, text: 'The rate was 12.' }
  expect(
    (await b.post('/portal/acme-forex/questions', { ...(await form()), ...question })).status,
  ).toBe(303)
  expect(await (await b.get(page)).text()).toContain(question.text)
  expect((await show(number)).objections).toMatchObject([
    { from: 'affiliate', text: question.text },
  ])
  await change(`update affiliate_questions set asked_at = '2099-01-01T00:00:00.000Z'`)
  expect((await show(number)).objections).toEqual([])
  await change(`update accounts set self_billing = 'off'`)
  expect(await (await b.get('/portal/acme-forex')).text()).not.toContain(at)
})

test('§20.5 who does not approve details reads them masked, and an erased affiliate stays on their invoices', async () => {
  await approve(earning('a', '2024-10', '100.00'))
  const [{ number }] = await list()
  await askAdmin(`${PATH}/affiliates/a/payee`, 'DELETE')
  const account = (await findAccount(env.DB, 'acme-forex'))!
  const sellerOf = async (role: Role) =>
    (await readInvoice({ env, account, db: env.DB, role }, number)).seller
  expect(await sellerOf('approver')).toMatchObject({ name: ADA.name, vat_id: 'DE123456789' })
  expect(await sellerOf('manager')).toMatchObject({ name: ADA.name, vat_id: 'DE…6789' })
})
