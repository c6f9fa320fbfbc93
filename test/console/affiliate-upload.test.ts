import { beforeEach, expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import { storePlan } from '../commission/stored.ts'
import { askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { signedIn } from './browser.ts'

// A file of affiliates.

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

/** Uploads a file, and returns the status, and the text of the page that then says what was done. */
async function upload(file: string) {
  const browser = await signedIn()
  const path = `${AT}/affiliates`
  const csrf = await browser.csrf(path)
  const response = await browser.post(path, { csrf, change: 'upload', file })
  const page = response.status === 303 ? await browser.get(path) : response
  return { status: response.status, words: wordsOf(await page.text()) }
}

const FILE = `\ufeffaffiliate_id;parent;plan;from
IB-12;IB-01;standard-ib;2026-12-01
IB-07;IB-02;;
IB-01;;;
`

test('a file is stored', async () => {
  const { status, words } = await upload(FILE)
  expect([status, words]).toEqual([303, expect.stringContaining('2 of 3 affiliates stored.')])
  expect((await admin('affiliates')).data).toHaveLength(4)
  const { data } = await admin('affiliates/parents?affiliate_id=IB-07')
  expect(data[0].parents.at(-1)).toMatchObject({ parent: 'IB-02' })
  expect((await admin('assignments')).data).toEqual([
    { affiliate_id: 'IB-12', plan: 'standard-ib', from: '2026-12-01', customers: 'all' },
  ])
  const again = FILE.replace(/standard-ib.*/, ';')
  expect((await upload(again)).words).toContain('0 of 3 affiliates stored.')
})

test('a plan in a file is assigned to its affiliate, also if it is that of all others', async () => {
  const all = { affiliate_id: '*', plan: 'standard-ib', from: '2026-01-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [all])
  const file =
    'Affiliate,Plan,From\nIB-02,standard-ib,2026-12-01\nIB-12,IB per lot,2026-12-01\nIB-07,,\n'
  expect((await upload(file)).status).toBe(303)
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
  const file = ['Affiliate\tParent\tPlan\tStatus', 'IB-30\t\t\tActive', ...rows].join('\n')
  const { status, words } = await upload(file)

  expect(status).toBe(422)
  for (const i of rows.keys()) expect(words).toContain(`record ${i + 2}`)
  expect(words).not.toContain('record 1')
  expect((await admin('affiliates')).data).toHaveLength(3)
})

test.each([
  ['a file without the column', 'Partner,Parent\nIB-30,IB-01\n', 'has no column “Affiliate”'],
  ['a file without rows', 'affiliate_id\n', 'has a header, but no rows'],
  ['a broken file', 'affiliate_id\n"IB-1\n', 'a quote that is not closed'],
  ['nothing', '', 'Choose a file'],
])('%s is refused', async (_, csv, why) => {
  const { status, words } = await upload(csv)
  expect([status, words]).toEqual([422, expect.stringContaining(why)])
})

test('a request with `dry_run` checks affiliates and stores none', async () => {
  const put = (parent: string) =>
    askAdmin('accounts/acme/affiliates?dry_run=true', 'PUT', [{ affiliate_id: 'new', parent }])
  expect(await json(put('IB-01'))).toEqual({ received: 1, changed: 1 })
  expect((await put('nobody')).status).toBe(422)
  expect((await admin('affiliates')).data).toHaveLength(3)
})

test('names and e-mail addresses are stored, whatever their columns are called', async () => {
  const file = [
    'Affiliate ID,Affiliate name,E-Mail Address,Phone,Notes',
    'IB-12,Forex Friends,ada@friends.example,+49,x',
    'IB-07,Müller & Co,,,',
  ].join('\n')
  const { words } = await upload(file)
  expect(words).toContain('Left out are the columns Phone, Notes')
  const { data } = await admin('affiliates?affiliate_id=IB-12')
  expect(data).toContainEqual(
    expect.objectContaining({
      affiliate_id: 'IB-12',
      parent: null,
      display_name: 'Forex Friends',
      contact_email: 'ada@friends.example',
    }),
  )
  const again = await upload('Affiliate,Name\nIB-12,\nIB-07,Müller & Co\n')
  expect(again.words).toContain('0 of 2 affiliates stored.')
})

test('plans are found by their names, and begin on their first day if it is later', async () => {
  const later = { ...(perLot as PlanTerms), name: 'Next Year', effective_from: '2099-01-01' }
  await storePlan('acme', 'ib-2099', later)
  expect((await upload('Affiliate,Plan\nIB-53,Nobody\n')).status).toBe(422)
  expect((await upload('Affiliate,Plan\nIB-50,Next Year\nIB-52,ib-2099\n')).status).toBe(303)
  expect((await admin('assignments')).data).toContainEqual({
    ...{ affiliate_id: 'IB-50', plan: 'ib-2099', from: '2099-01-01', customers: 'all' },
  })
})

test.each([
  ['a section line, as Post Affiliate Pro writes it', '[[AFFILIATES]]\n!USERID;!NAME\n'],
  ['`sep=` in quotes and capitals', '"SEP=;"\r\nuserid;Name\n'],
])('§18.1 a file of another system with %s keeps its names', async (_, begin) => {
  const file = `${begin}"11";"Anna"\n"12";"Ben"\n\n[[PAYOUTOPTIONS]]\n!USERID;!NAME\n"11";"IBAN"\n`
  expect((await upload(file)).words).toContain('2 of 2 affiliates stored')
  expect((await admin('affiliates?affiliate_id=11')).data[0].display_name).toBe('Anna')
})
