import { beforeEach, expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import { storePlan } from '../commission/stored.ts'
import { ada, askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { signedIn } from './browser.ts'

// The pages of affiliates: who is added, and what is changed of many at once.

const AT = '/console/accounts/acme'
const TODAY = new Date().toISOString().slice(0, 10)
const admin = (path: string) => json(askAdmin(`accounts/acme/${path}`))

type Sender = Awaited<ReturnType<typeof partner>>
let acme: Sender

beforeEach(async () => {
  acme = await partner('forex', { account: 'acme', affiliates: ['IB-01', 'IB-07'] })
  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
})

async function open() {
  const browser = await signedIn()
  const read = async (path: string) => (await browser.get(`${AT}${path}`)).text()
  const change = async (path: string, fields: Record<string, string>) =>
    browser.post(`${AT}${path}`, { csrf: await browser.csrf(`${AT}${path}`), ...fields })
  return { read, change }
}

const NEW = {
  change: 'add',
  affiliate_id: ' IB-12 ',
  contact_email: ' ib12@example.com ',
  parent: 'IB-01',
  plan: 'standard-ib',
  landing_page: 'https://acme.example/start',
}

test('an affiliate is added with its parent, plan and link by one form', async () => {
  const { read, change } = await open()
  const response = await change('/affiliates', NEW)

  const to = response.headers.get('Location') ?? ''
  expect([response.status, to.split('?')[0]]).toEqual([303, `${AT}/links`])
  const page = await read(to.slice(AT.length))
  expect(page).toContain(`/go/${to.split('=')[1]}<`)
  const [stored] = (await admin('affiliates?affiliate_id=IB-12')).data
  expect(stored).toMatchObject({ contact_email: 'ib12@example.com' })
  const { data } = await admin('affiliates/parents?affiliate_id=IB-12')
  expect(data[0].parents.at(-1).parent).toBe('IB-01')
  expect((await admin('assignments?affiliate_id=IB-12')).data).toEqual([
    {
      affiliate_id: 'IB-12',
      plan: 'standard-ib',
      from: TODAY > '2026-12-01' ? TODAY : '2026-12-01',
      customers: 'all',
    },
  ])
})

test.each([
  ['an unknown parent', { parent: 'IB-99' }, 'IB-99'],
  ['its own parent', { parent: 'IB-12' }, 'IB-12'],
  ['no id', { affiliate_id: '' }, 'Affiliate'],
  ['the id that stands for all', { affiliate_id: '*' }, 'stands for all others'],
])('%s is refused, and nothing is stored', async (_, values, words) => {
  const { change } = await open()
  const response = await change('/affiliates', { ...NEW, ...values })

  expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(words)])
  expect((await admin('affiliates')).data).toHaveLength(2)
  expect((await admin('assignments')).data).toEqual([])
})

test('an affiliate that exists is refused before anything is done', async () => {
  const { change } = await open()
  expect((await change('/affiliates', NEW)).status).toBe(303)
  await storePlan('acme', 'other-ib', perLot as PlanTerms)
  const third = await change('/affiliates', { ...NEW, plan: 'other-ib', display_name: 'Ada' })
  const text = await third.text()
  expect([third.status, text]).toEqual([409, expect.stringContaining('exists already.')])
  expect(text).toContain('value="Ada"')
  expect((await admin('assignments')).data).toMatchObject([{ plan: 'standard-ib' }])
})

test('an affiliate that customers name is added by a link', async () => {
  await acme.post('customers', { ...ada, affiliate_id: 'شريك 1' })
  const { read, change } = await open()
  const [, to = ''] = /href="[^"]*\/affiliates(\?add=[^"]*)"/.exec(await read('/affiliates')) ?? []
  expect(await read(`/affiliates${to}`)).toMatch(/<details open[^>]*>[\s\S]*value="شريك 1"/)

  await change('/affiliates', { change: 'add', affiliate_id: 'شريك 1' })
  expect((await admin('affiliates?per_page=10')).data).toHaveLength(3)
  expect(await read('/affiliates')).not.toContain('Not configured')
})

test('the page of an affiliate changes the parent', async () => {
  const { change } = await open()
  expect((await change('/affiliates/IB-07', { change: 'parent', parent: 'IB-01' })).status).toBe(
    303,
  )
  const ring = await change('/affiliates/IB-01', { change: 'parent', parent: 'IB-07' })
  expect(ring.status).toBe(422)
})

test('the plan in force stands on the page of an affiliate, and another is assigned', async () => {
  const { read, change } = await open()
  expect(await read('/affiliates/IB-07')).toContain('No plan')
  const sent = { change: 'assign', plan: 'standard-ib', from: TODAY, customers: 'new' }
  expect((await change('/affiliates/IB-07', sent)).status).toBe(303)
  const page = await read('/affiliates/IB-07')
  expect(page).not.toContain('No plan')
  expect(page).toContain('Customers who sign up from then on')

  const refused = await change('/affiliates/IB-07', { ...sent, plan: 'other' })
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringContaining('field wrong'),
  ])
})

test('a plan is assigned to several affiliates, and to no other', async () => {
  const { read, change } = await open()
  const sent = { change: 'assign', plan: 'standard-ib', from: TODAY, customers: 'new' }
  expect((await change('/plans', { ...sent, affiliate_id: 'IB-07' })).status).toBe(303)
  expect(await read('/plans')).toMatch(
    /IB per lot is assigned to 1 affiliate from \d+ \w+ \d{4} on\./,
  )
  const both = { ...sent, affiliate_id: 'IB-01\r\nIB-07\r\n' }
  expect((await change('/plans', both)).status).toBe(303)
  expect(await read('/plans')).toContain('1 affiliate had this assignment before.')
  expect((await admin('assignments')).data).toMatchObject([
    { affiliate_id: 'IB-01', customers: 'new' },
    { affiliate_id: 'IB-07', customers: 'new' },
  ])
})
