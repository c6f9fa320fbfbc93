import { beforeEach, expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../../src/commission/engine/plan.ts'
import { storePlan } from '../commission/stored.ts'
import { askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { signedIn } from './browser.ts'

// A file of affiliates: what it has is shown first, and then stored.

const AT = '/console/accounts/acme'
const admin = (path: string) => json(askAdmin(`accounts/acme/${path}`))

beforeEach(async () => {
  await partner('forex', { account: 'acme', affiliates: ['IB-01', 'IB-02', 'IB-07'] })
  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
  await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id: 'IB-07', parent: 'IB-01' }])
})

const wordsOf = (text: string) =>
  text
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')

async function open() {
  const browser = await signedIn()
  const path = `${AT}/affiliate-upload`
  const send = async (fields: Record<string, string>) => {
    const response = await browser.post(path, { csrf: await browser.csrf(path), ...fields })
    return { status: response.status, text: await response.text() }
  }
  const preview = (csv: string) => send({ change: 'preview', csv })
  /** Sends the form of a preview. */
  const store = (text: string) => {
    const field = (name: string) =>
      new RegExp(`name="${name}" value="([^"]*)"`)
        .exec(text.slice(text.indexOf('id="change-store"')))?.[1]
        ?.replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&') ?? ''
    return send({ change: 'store', csv: field('csv') })
  }
  return { preview, store }
}

const FILE = `\ufeffaffiliate_id;parent;plan;from
IB-12;IB-01;standard-ib;2026-12-01
IB-07;IB-02;;
IB-01;;;
`

test('a file is shown as it is understood, and then stored', async () => {
  const { preview, store } = await open()
  const { status, text } = await preview(FILE)
  const words = wordsOf(text)

  expect(status).toBe(200)
  expect(words).toContain('The file would change 2 of 3 affiliates.')
  expect(words).toMatch(/IB-12 – – – IB-01 IB per lot 1 Dec 2026/)
  expect(words).toMatch(/IB-07 – – – IB-02 – –/)
  expect((await admin('affiliates')).data).toHaveLength(3)

  expect((await store(text)).status).toBe(303)
  expect((await admin('affiliates')).data).toHaveLength(4)
  const { data } = await admin('affiliates/parents?affiliate_id=IB-07')
  expect(data[0].parents.at(-1)).toMatchObject({ parent: 'IB-02' })
  expect((await admin('assignments')).data).toEqual([
    { affiliate_id: 'IB-12', plan: 'standard-ib', from: '2026-12-01', customers: 'all' },
  ])
  const again = FILE.replace(/standard-ib.*/, ';')
  expect(wordsOf((await preview(again)).text)).toContain('The file changes nothing.')
})

test('a plan in a file is assigned to its affiliate, also if it is that of all others', async () => {
  const all = { affiliate_id: '*', plan: 'standard-ib', from: '2026-01-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [all])
  const { preview, store } = await open()
  const file =
    'Affiliate,Plan,From\nIB-02,standard-ib,2026-12-01\nIB-12,IB per lot,2026-12-01\nIB-07,,\n'
  const { text } = await preview(file)
  const words = wordsOf(text)

  expect(words).toContain('The file would change 2 of 3 affiliates.')
  expect((await store(text)).status).toBe(303)
  const own = { plan: 'standard-ib', from: '2026-12-01', customers: 'all' }
  expect((await admin('assignments')).data).toEqual([
    all,
    { affiliate_id: 'IB-02', ...own },
    { affiliate_id: 'IB-12', ...own },
  ])
})

test.each([
  ['a row is not understood', ['\tIB-02\t\t', 'IB-23\t\t\tunclear']],
  ['the API refuses a row', ['IB-20\tIB-99\t\t', 'IB-01\tIB-07\t\t', '*\t\t\t']],
])('if %s, each is named with its number and reason, and none is stored', async (_, rows) => {
  const { preview } = await open()
  const file = ['Affiliate\tParent\tPlan\tStatus', 'IB-30\t\t\tActive', ...rows].join('\n')
  const { status, text } = await preview(file)
  const words = wordsOf(text)

  expect(status).toBe(422)
  for (const i of rows.keys()) expect(words).toContain(`record ${i + 2}`)
  expect(words).not.toContain('record 1')
  expect(text).not.toContain('id="change-store"')
  expect((await admin('affiliates')).data).toHaveLength(3)
})

test.each([
  ['a file without the column', 'Partner,Parent\nIB-30,IB-01\n', 'has no column “Affiliate”'],
  ['a file without rows', 'affiliate_id\n', 'has a header, but no rows'],
  ['a broken file', 'affiliate_id\n"IB-1\n', 'a quote that is not closed'],
  ['nothing', '', 'Choose a file'],
])('%s is refused, and the rows are kept', async (_, csv, words) => {
  const { preview } = await open()
  const { status, text } = await preview(csv)
  expect([status, wordsOf(text)]).toEqual([422, expect.stringContaining(words)])
})

test('a request with `dry_run` checks affiliates and stores none', async () => {
  const put = (parent: string) =>
    askAdmin('accounts/acme/affiliates?dry_run=true', 'PUT', [{ affiliate_id: 'new', parent }])
  expect(await json(put('IB-01'))).toEqual({ received: 1, changed: 1 })
  expect((await put('nobody')).status).toBe(422)
  expect((await admin('affiliates')).data).toHaveLength(3)
})

test('names and e-mail addresses are stored, whatever their columns are called', async () => {
  const { preview, store } = await open()
  const file = [
    'Affiliate ID,Affiliate name,E-Mail Address,Phone,Notes',
    'IB-12,Forex Friends,ada@friends.example,+49,x',
    'IB-07,Müller & Co,,,',
  ].join('\n')
  const { text } = await preview(file)
  const words = wordsOf(text)

  expect(words).toContain('IB-12 Forex Friends ada@friends.example')
  expect(words).toContain('Left out are the columns Phone, Notes')

  expect((await store(text)).status).toBe(303)
  const { data } = await admin('affiliates?affiliate_id=IB-12')
  expect(data).toContainEqual(
    expect.objectContaining({
      affiliate_id: 'IB-12',
      parent: null,
      display_name: 'Forex Friends',
      contact_email: 'ada@friends.example',
    }),
  )
  const again = wordsOf((await preview('Affiliate,Name\nIB-12,\nIB-07,Müller & Co\n')).text)
  expect(again).toContain('The file changes nothing.')
})

test('plans are found by their names, and begin on their first day if it is later', async () => {
  const later = { ...(perLot as PlanTerms), name: 'Next Year', effective_from: '2099-01-01' }
  await storePlan('acme', 'ib-2099', later)
  const { preview, store } = await open()
  const { text } = await preview('Affiliate,Plan\nIB-50,Next Year\nIB-52,ib-2099\n')
  expect(wordsOf(text)).toMatch(/IB-50 – – – – Next Year 1 Jan 2099 IB-52 – – – – Next Year/)
  expect((await preview('Affiliate,Plan\nIB-53,Nobody\n')).status).toBe(422)
  expect((await store(text)).status).toBe(303)
  expect((await admin('assignments')).data).toContainEqual({
    ...{ affiliate_id: 'IB-50', plan: 'ib-2099', from: '2099-01-01', customers: 'all' },
  })
})

test.each([
  ['a section line, as Post Affiliate Pro writes it', '[[AFFILIATES]]\n!USERID;!NAME\n'],
  ['`sep=` in quotes and capitals', '"SEP=;"\r\nuserid;Name\n'],
])('§18.1 a file of another system with %s keeps its names', async (_, begin) => {
  const { preview } = await open()
  const file = `${begin}"11";"Anna"\n"12";"Ben"\n\n[[PAYOUTOPTIONS]]\n!USERID;!NAME\n"11";"IBAN"\n`
  const words = wordsOf((await preview(file)).text)
  expect(words).toContain('would change 2 of 2 affiliates')
  expect(words).toMatch(/11 Anna .*12 Ben/)
})
