import { beforeEach, expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../../src/commission/engine/plan.ts'
import { storePlan } from '../commission/stored.ts'
import { askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { signedIn } from './browser.ts'

// A file of affiliates: what it would change is shown first, and then stored.

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

/** Returns words without the isolates around texts that are not ASCII. */
const plain = (words: string) => words.replaceAll(/[\u2068\u2069]/g, '')

async function open() {
  const browser = await signedIn()
  const path = `${AT}/affiliate-upload`
  const send = async (fields: Record<string, string>) => {
    const response = await browser.post(path, { csrf: await browser.csrf(path), ...fields })
    return { status: response.status, text: await response.text() }
  }
  const preview = (csv: string, fields = {}) => send({ change: 'preview', csv, ...fields })
  /** Sends the form of a preview. */
  const store = (text: string) => {
    const field = (name: string) =>
      new RegExp(`name="${name}" value="([^"]*)"`)
        .exec(text.slice(text.indexOf('id="change-store"')))?.[1]
        ?.replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&') ?? ''
    return send({
      change: 'store',
      csv: field('csv'),
      customers: field('customers'),
      seen: field('seen'),
    })
  }
  /** Sends a file as a browser does. */
  const sendFile = async (file: BodyInit, fields = {}) => {
    const form = new FormData()
    const all = { csrf: await browser.csrf(path), change: 'preview', ...fields }
    for (const [name, value] of Object.entries(all)) form.set(name, value)
    form.set('file', await new Response(file).blob(), 'affiliates.csv')
    const response = await browser.postForm(path, form)
    return { status: response.status, text: await response.text() }
  }
  return { preview, store, sendFile }
}

const FILE = `\ufeffaffiliate_id;parent;plan;from
IB-12;IB-01;standard-ib;2026-12-01
IB-07;IB-02;;1.12.2026
IB-01;;;
`

test('a file is shown as sentences, and then stored', async () => {
  const { preview, store } = await open()
  const { status, text } = await preview(FILE)
  const words = wordsOf(text)

  expect(status).toBe(200)
  expect(words).toContain(
    'Row 1 IB-12 is new, below IB-01 from 1 Dec 2026, with the plan IB per lot from 1 Dec 2026',
  )
  expect(words).toContain('Row 2 IB-07: parent IB-01 → IB-02 from 1 Dec 2026')
  expect(words).toContain('1 row would change nothing.')
  expect((await admin('affiliates')).data).toHaveLength(3)

  expect((await store(text)).status).toBe(303)
  expect((await admin('affiliates')).data).toHaveLength(4)
  const { data } = await admin('affiliates/parents?affiliate_id=IB-07')
  expect(data[0].parents.at(-1)).toEqual({ from: '2026-12-01', parent: 'IB-02' })
  expect((await admin('assignments')).data).toEqual([
    { affiliate_id: 'IB-12', plan: 'standard-ib', from: '2026-12-01', customers: 'all' },
  ])
  expect(wordsOf((await preview(FILE)).text)).toContain('The file changes nothing.')
})

test('a plan in a file is assigned to its affiliate, also if it is that of all others', async () => {
  const all = { affiliate_id: '*', plan: 'standard-ib', from: '2026-01-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [all])
  const { preview, store } = await open()
  const file =
    'Affiliate,Plan,From\nIB-02,standard-ib,2026-12-01\nIB-12,IB per lot,2026-12-01\nIB-07,,\n'
  const { text } = await preview(file)
  const words = wordsOf(text)

  expect(words).toContain('IB-02: plan IB per lot (for all) → IB per lot from 1 Dec 2026')
  expect(words).toContain('IB-12 is new, with the plan IB per lot from 1 Dec 2026')
  expect((await store(text)).status).toBe(303)
  const own = { plan: 'standard-ib', from: '2026-12-01', customers: 'all' }
  expect((await admin('assignments')).data).toEqual([
    all,
    { affiliate_id: 'IB-02', ...own },
    { affiliate_id: 'IB-12', ...own },
  ])
  expect(wordsOf((await preview(file)).text)).toContain('The file changes nothing.')
})

test('refused rows are named with their number and reason, and the others are stored', async () => {
  const { preview, store } = await open()
  const file = [
    'Affiliate\tParent\tPlan',
    'IB-20\tIB-99\t',
    'IB-21\tIB-20\t',
    'IB-22\tIB-02\tgone',
    'IB-01\tIB-07\t',
    'IB 23\tIB-02\t',
    '*\t\t',
    '\tIB-02\t',
  ].join('\n')
  const { text } = await preview(file)
  const words = wordsOf(text)

  for (const row of ['Row 1, IB-20', 'Row 2, IB-21', 'Row 3, IB-22', 'Row 4, IB-01', 'Row 6, *']) {
    expect(words).toContain(`${row} :`)
  }
  expect(words).toContain('There is no plan gone.')
  expect(words).toContain('Row 7: The id is missing.')
  expect(words).toContain('Row 5 IB 23 is new, below IB-02')
  expect(words).toContain('Store 1 row')
  expect((await store(text)).status).toBe(303)
  expect((await admin('affiliates')).data).toHaveLength(4)
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

test('a file that would change something else meanwhile is not stored', async () => {
  const { preview, store } = await open()
  const { text } = await preview(FILE)
  await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id: 'IB-07', parent: null }])

  const second = await store(text)
  expect(second.status).toBe(409)
  expect(wordsOf(second.text)).toContain('Meanwhile somebody has changed')
  expect((await admin('affiliates')).data).toHaveLength(3)
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
    'IB-02,,not an address,,',
  ].join('\n')
  const { text } = await preview(file)
  const words = wordsOf(text)

  expect(words).toContain(
    'IB-12 is new, with the name Forex Friends, with the e-mail ada@friends.example',
  )
  expect(plain(words)).toContain('IB-07: name none → Müller & Co')
  expect(words).toContain('Row 3, IB-02 : The value is not a valid e-mail address.')
  expect(words).toContain('These columns are not used: Phone , Notes .')
  expect(words).toContain('Column with the first day none Affiliate ID')

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

test('a column that the file calls otherwise is chosen in the preview', async () => {
  const { preview } = await open()
  const csv = 'Affiliate,Firma,Mail\nIB-30,Forex Friends,ada@friends.example\n'
  expect(wordsOf((await preview(csv)).text)).toContain('This column is not used: Firma .')
  const { text } = await preview(csv, { column_display_name: 'Firma' })
  expect(wordsOf(text)).toContain('IB-30 is new, with the name Forex Friends')
  expect(wordsOf(text)).not.toContain('not used')
})

test('plans are found by their names, and begin on their first day if it is later', async () => {
  const later = { ...(perLot as PlanTerms), name: 'Next Year', effective_from: '2099-01-01' }
  await storePlan('acme', 'ib-2099', later)
  await storePlan('acme', 'twin', { ...(perLot as PlanTerms), name: 'Twin' })
  await storePlan('acme', 'twin-2', { ...(perLot as PlanTerms), name: 'twin' })
  const { preview, store } = await open()
  const file = 'Affiliate,Plan\nIB-50,next year\nIB-51,Twin\nIB-52,IB-2099\nIB-53,Nobody\n'
  const { text } = await preview(file)
  const words = wordsOf(text)

  expect(words).toContain('IB-50 is new, with the plan Next Year from 1 Jan 2099')
  expect(words).toContain('2 plans have the name Twin. Write a short name: twin and twin-2.')
  expect(words).toContain('IB-52 is new, with the plan Next Year')
  expect(words).toContain('There is no plan Nobody.')
  expect((await store(text)).status).toBe(303)
  expect((await admin('assignments')).data).toContainEqual({
    affiliate_id: 'IB-50',
    plan: 'ib-2099',
    from: '2099-01-01',
    customers: 'all',
  })
})

test.each([
  ['a section line, as Post Affiliate Pro writes it', '[[AFFILIATES]]\n!USERID;!FIRSTNAME\n'],
  ['`sep=` in quotes and capitals', '"SEP=;"\r\nuserid;FirstName\n'],
])('§18.1 a file of another system with %s keeps its names', async (_, begin) => {
  const { preview } = await open()
  const file = `${begin}"11";"Anna"\n"12";"Ben"\n\n[[PAYOUTOPTIONS]]\n!USERID;!NAME\n"11";"IBAN"\n`
  const words = wordsOf((await preview(file)).text)
  expect(words).toContain('Row 1 11 is new, with the name Anna Row 2 12 is new')
  expect(words).not.toContain('Row 3')
})

test('§18.1 names in two columns, parents by e-mail and who was switched off come with a file', async () => {
  const { preview, store } = await open()
  const file = [
    'Email,First Name,Last Name,Affiliate,Custom Id,Parent Affiliate,Status',
    'anna@example.org,Anna,Kern,Kern Ltd,K-1,,Approved',
    'ben@example.org,Ben,Bo,,K-2,Anna@example.org,rejected',
    'cy@example.org,Cy,,,K-3,gone@example.org,inactive',
    'dee@example.org,Dee,,,K-4,,unclear',
    'two@example.org,Fay,,,K-5,,',
    'two@example.org,Gil,,,K-6,two@example.org,',
  ].join('\n')
  const { text } = await preview(file)
  const words = wordsOf(text)

  expect(words).toContain(
    'K-1 is new, with the name Kern Ltd, Anna Kern, with the e-mail anna@example.org',
  )
  expect(words).toContain('with the name Ben Bo')
  expect(words).toContain('below K-1')
  expect(words).toContain('with the status suspended')
  expect(words).toContain('Row 3, K-3 : Affiliate gone@example.org is not configured.')
  expect(words).toContain(
    'Row 4, K-4 : The status unclear is not known. Write active or suspended.',
  )
  expect(words).toContain('Row 6, K-6 : More than one affiliate has the e-mail')
  expect(text).toContain('<div class="notice warn">')

  expect((await store(text)).status).toBe(303)
  const { data } = await admin('affiliates?affiliate_id=K-2')
  expect(data).toMatchObject([{ display_name: 'Ben Bo', parent: 'K-1', status: 'suspended' }])
  const later = 'Email,Affiliate Code,Parent\neve@example.org,E-1,BEN@example.org\n'
  expect(wordsOf((await preview(later)).text)).toContain('below K-2')
})
