import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import perLot from '../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../src/commission/engine/plan.ts'
import { DAY_MS } from '../src/durations.ts'
import { BOOK_APPROVED_ID, bookRows, statementRows } from './commission/statement-rows.ts'
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
  expect([wrong.status, await wrong.text()]).toEqual([
    422,
    expect.stringContaining('<code>from</code>'),
  ])
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
  expect(await read(path)).toContain('from the beginning: <bdi>self-referral</bdi>')
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
  expect(await read('/statements')).toMatch(/<bdi>شريك-1<\/bdi>, October 2026/)
})

test('an assignment by * is listed where an affiliate has none of its own', async () => {
  const { read } = await open()
  expect(await read('/affiliates/aff-7')).toContain('No plan is assigned.')

  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
  const all = { affiliate_id: '*', plan: 'standard-ib', from: '2026-10-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [all])
  for (const page of ['/affiliates/aff-7', '/plans?affiliate_id=aff-7']) {
    const text = await read(page)
    expect(text).not.toContain('No plan is assigned.')
    expect(text).toContain('<bdi>*</bdi></th>')
    expect(text).toContain('those by * apply')
    // Only the page of all assignments deletes one that governs others, too.
    expect(text).not.toContain('Delete an assignment')
  }
  await askAdmin('accounts/acme/assignments', 'PUT', [{ ...all, affiliate_id: 'aff-7' }])
  expect(await read('/affiliates/aff-7')).not.toContain('those by * apply')
})

test('a version that begins later is not in force', async () => {
  const { read } = await open()
  const terms = { ...perLot, effective_from: '2099-01-01' }
  await askAdmin('accounts/acme/plans/standard-ib', 'PUT', terms)
  expect(await json(askAdmin('accounts/acme/plans/standard-ib'))).toMatchObject({ in_force: null })
  const future = await read('/plans/standard-ib')
  expect(future).toContain('begins later')
  expect(future).not.toContain('>in force<')

  await askAdmin('accounts/acme/plans/other', 'PUT', {
    ...perLot,
    effective_from: '2020-01-01',
  })
  await askAdmin('accounts/acme/plans/other', 'PUT', terms)
  const text = await read('/plans/other')
  expect(text.match(/>in force<|begins later/g)).toEqual(['begins later', '>in force<'])
})

test('the search finds an affiliate, and records with the same id', async () => {
  const { acme, read } = await open()
  const link = `<a href="${AT}/affiliates/aff-7"><bdi>aff-7</bdi></a>`
  const found = await read('/deliveries?record_id=aff-7')
  expect(found).toContain(`The affiliate ${link} has this id.`)
  expect(found).not.toContain('No record with the id')

  await acme.post('customers', { ...ada, customer_id: 'aff-7' })
  const both = await read('/deliveries?record_id=aff-7')
  expect(both).toContain(link)
  expect(both).toContain('A record of customers with this id is stored')
  expect(await read('/deliveries?record_id=aff-8')).toContain('No record with the id')
})

test('closings are added up over affiliates of one period, never over periods', async () => {
  const { read } = await open()
  await env.DB.batch(statementRows(env.DB, 'acme'))
  const totals = async (query: string) =>
    /<caption>Totals<\/caption>[\s\S]*?<\/thead>/.exec(await read(`/statements${query}`))?.[0]
  expect(await totals('')).toContain('Payable')
  expect(await totals('')).not.toContain('Closing')
  expect(await totals('?period=2026-10')).toContain('Closing')
})

test('an export of payouts whose days are filled in is recorded as payments', async () => {
  const { read, change } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const csv = await read('/payouts?format=csv')
  expect(csv).toMatch(/^affiliate_id,[^\r]*,reference,paid_on\r\n/)

  const empty = await change('/payouts', { change: 'pay', csv })
  const text = await empty.text()
  expect(empty.status).toBe(422)
  expect(text).toContain('rows › 1 › paid_on')
  // What was pasted is kept, and the errors are at the field.
  expect(text).toContain(`${csv.split('\r\n')[1]}`)
  expect(text).toMatch(/<div class="field wrong"><label for="pay-csv">/)

  const filled = csv.replace(/,\r\n$/, ',2026-11-20\r\n')
  expect((await change('/payouts', { change: 'pay', csv: filled })).status).toBe(303)
  expect(await read('/payouts?status=paid')).toContain('2026-11-20')
})

test('the return of a payment is recorded on the page of its statement', async () => {
  const { read, change } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const page = `/statements/${BOOK_APPROVED_ID}`
  expect(await read(page)).not.toContain('The bank returned')
  const payment = { change: 'pay', reference: 'PAY-1', paid_on: '2026-11-20' }
  expect((await change(page, payment)).status).toBe(303)
  const form = await read(page)
  expect(form).toContain('Record that the bank returned the payment')
  expect(form).toMatch(/<input[^>]*name="reference"[^>]*value="PAY-1"/)

  const back = { change: 'return', reference: 'PAY-1', reason: 'Account closed' }
  const early = await change(page, { ...back, returned_on: '2026-11-19' })
  expect([early.status, await early.text()]).toEqual([
    422,
    expect.stringContaining('the day of the payment'),
  ])
  expect((await change(page, { ...back, returned_on: '2026-11-20' })).status).toBe(303)
  const due = await read(page)
  expect(due).toMatch(
    /Payment returned<\/dt><dd>[^<]*PAY-1[^<]* on 2026-11-20: [^<]*Account closed/,
  )
  expect(due).toContain('Record payment of 1.00 EUR')
  expect(await read('/payouts?status=paid')).toContain('Account closed')
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
