import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import perLot from '../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../src/commission/engine/plan.ts'
import { DAY_MS } from '../src/durations.ts'
import { statementRows } from './commission/statement-rows.ts'
import { storePlan } from './commission/stored.ts'
import { signedIn } from './console/browser.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner } from './partner.ts'

// What single pages of the console show, and where they lead.

const AT = '/console/accounts/acme'
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const refused = (days: number) =>
  `${AT}/deliveries?status=refused&amp;from=${dayBefore(days)}&amp;to=${dayBefore(days)}`

async function open() {
  const acme = await partner('forex', { account: 'acme', affiliates: ['aff-7'] })
  await acme.post('customers', ada)
  const browser = await signedIn()
  const read = async (path: string) => (await browser.get(`${AT}${path}`)).text()
  const change = async (path: string, fields: Record<string, string>) => {
    const at = `${AT}${path}`
    return browser.post(at, { csrf: await browser.csrf(at), ...fields })
  }
  return { acme, read, change }
}

test('the overview counts what was refused today and yesterday, and leads to it', async () => {
  const { acme, read } = await open()
  await acme.post('transactions', [deposit, { ...deposit, transaction_type: 'gift' }])
  const text = await read('')

  expect(text).toContain(`<a href="${refused(0)}">Refused today: 2</a>`)
  expect(text).toContain(`<a href="${refused(1)}">Refused yesterday: 0</a>`)
  const all = await (await signedIn()).get('/console')
  const both = `status=refused&amp;from=${dayBefore(1)}&amp;to=${dayBefore(0)}`
  expect(await all.text()).toContain(`<a href="${AT}/deliveries?${both}">2</a>`)
})

test('what needs attention leads to the page that shows it', async () => {
  const { acme, read } = await open()
  await acme.post('customers', { ...ada, customer_id: 'c-9', affiliate_id: 'nobody' })
  await acme.post('transactions', { ...deposit, status: 'odd' })
  await acme.post('transactions', {})
  await env.DB.batch(statementRows(env.DB, 'acme'))
  await env.DB.prepare(`update statements set period = '2026-03'`).run()
  const text = await read('')

  const items = [...text.matchAll(/<li><a href="([^"]+)">([^<(]+) \(/g)]
    .map(([, href = '', name]) => [name, href.replace(AT, '').split('&')[0]])
    .filter(([name]) => name !== 'Feed late')
  expect(items).toEqual([
    ['Refused records', '/deliveries?status=refused'],
    ['Unmapped statuses', '/mappings'],
    ['Unconfigured affiliates', '/affiliates'],
    ['Unapproved drafts', '/statements?status=draft'],
  ])
})

test('the overview and the list of statements know the periods that have statements', async () => {
  const { read } = await open()
  expect(await read('')).toContain('There are no statements yet.')

  await env.DB.batch(statementRows(env.DB, 'acme'))
  expect(await read('')).toMatch(/statements\?period=2026-10&amp;status=draft">\d+<\/a>/)
  const list = await read('/statements?status=draft')
  expect(list).toContain(`<a href="${AT}/statements?status=draft&amp;period=2026-10">2026-10</a>`)
})

test('an accepted delivery says where its records are, and a refused one where its values are', async () => {
  const { acme, read } = await open()
  const accepted = await json(acme.post('transactions', deposit))
  const next = { ...deposit, transaction_id: 't-2' }
  const rejected = await json(acme.post('transactions', [next, { ...next, currency: 'EURO' }]))

  const stored = await read(`/deliveries/${accepted.delivery_id}`)
  expect(stored).toMatch(/Find a stored one by its id above/)
  const text = await read(`/deliveries/${rejected.delivery_id}`)
  expect(text).not.toContain('Find a stored one')
  expect(text).toContain('The log keeps no values')
})

test('the resources of the filter are those that the API accepts', async () => {
  const { read } = await open()
  const text = await read('/deliveries')
  const offered = [...text.matchAll(/<option value="([a-z-]+)"/g)].map(([, name]) => name)

  expect(offered).toEqual([
    ...['customers', 'transactions', 'trading-activity'],
    ...['refused', 'stored'],
  ])
})

test('the span of a replay is in UTC', async () => {
  const { read, change } = await open()
  const body = { url: 'https://hooks.example/' }
  const { id } = await json(askAdmin('accounts/acme/webhooks', 'POST', body))
  const path = `/webhooks/${id}`
  expect(await read(path)).toMatch(/<input[^>]*name="from"[^>]*type="datetime-local"/)

  const sent = { change: 'replaySpan', from: '2026-10-01T08:30', to: '', only_dead: 'yes' }
  expect((await change(path, sent)).status).toBe(303)
  const { data } = await json(askAdmin('audit-log?account=acme'))
  expect(data[0]).toMatchObject({
    action: 'webhook.replay',
    details: { from: Date.parse('2026-10-01T08:30:00Z'), onlyDead: true },
  })
  const wrong = await change(path, { ...sent, from: 'yesterday' })
  expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('/from')])
})

test.each(['/plans', '/affiliates/..'])('an assignment is deleted on %s', async (page) => {
  const { change } = await open()
  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
  const one = { affiliate_id: '..', plan: 'standard-ib', from: '2026-11-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [one])
  const path = page.replace('/..', '/by-id?id=..')
  const sent = { change: 'unassign', assignment: '2026-11-01 ..' }
  expect((await change(path, { ...sent, confirm: 'other' })).status).toBe(422)

  const response = await change(path, { ...sent, confirm: 'acme' })
  expect([response.status, response.headers.get('Location')]).toEqual([303, AT + path])
  expect((await json(askAdmin('accounts/acme/assignments'))).data).toEqual([])
})

test.each(['.', '..'])('the customer %s has a page, which a link leads to', async (id) => {
  const { acme, read, change } = await open()
  await acme.post('customers', { ...ada, customer_id: id })
  const path = `/customers/by-id?id=${id}`
  expect(await read('/customers')).toContain(`<a href="${AT}${path}"><bdi>${id}</bdi></a>`)

  expect(await read(path)).toContain(`<h1>Customer ${id}</h1>`)
  const refusal = { change: 'refuse', reason: 'self-referral' }
  expect((await change(path, refusal)).status).toBe(303)
  expect(await read(path)).toContain('from the beginning: self-referral')
  const history = await json(askAdmin(`accounts/acme/customers/affiliations?customer_id=${id}`))
  expect(history.refusal).toMatchObject({ reason: 'self-referral' })
})

test('the filters of a page whose id is in the query keep the id', async () => {
  const { read } = await open()
  const filters = await read('/affiliates/by-id?id=..&period=2026-10')
  expect(filters).toContain('<input type="hidden" name="id" value=".."/>')
  expect(filters).toContain('<h1>..</h1>')
})

test('a customer whose id is by-id has a page', async () => {
  const { acme, read } = await open()
  await acme.post('customers', { ...ada, customer_id: 'by-id' })
  expect(await read('/customers/by-id')).toContain('<h1>Customer by-id</h1>')
})

test('an id in a right-to-left script does not reverse the text beside it', async () => {
  const { read } = await open()
  await env.DB.batch(statementRows(env.DB, 'acme', 'شريك-1'))
  expect(await read('/statements')).toMatch(/<bdi>شريك-1<\/bdi>, 2026-10/)
})

test('a simulation of a plan that is assigned to nobody says so', async () => {
  const { read } = await open()
  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
  const query = new URLSearchParams({ period: '2026-10', terms: JSON.stringify(perLot) })
  const path = `/plans/standard-ib/simulate?${query}`
  expect(await read(path)).toContain('Nobody here has this plan, so nothing was compared.')

  const assignment = {
    affiliate_id: '*',
    plan: 'standard-ib',
    from: '2026-10-01',
    customers: 'all',
  }
  await askAdmin('accounts/acme/assignments', 'PUT', [assignment])
  expect(await read(path)).toContain('No commission changes.')
})

test('a link is disabled and enabled again by its form, which shows no name where there is none', async () => {
  const { acme, read, change } = await open()
  const path = `accounts/${acme.account}/links`
  const page = { affiliate_id: 'aff-7', landing_page: 'https://acme.example/' }
  const { link_id } = await json(askAdmin(path, 'POST', page))
  const at = `/links?link=${link_id}`
  const isDisabled = async () => (await json(askAdmin(path))).data[0].disabled

  expect(await read(at)).toMatch(/<input type="hidden" name="was:name" value=""/)
  await change(at, { change: 'save', 'was:disabled': 'false', disabled: 'true' })
  expect(await isDisabled()).toBe(true)
  await change(at, { change: 'save', 'was:disabled': 'true', disabled: 'false' })
  expect(await isDisabled()).toBe(false)
})
