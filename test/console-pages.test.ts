import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import perLot from '../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../src/commission/engine/plan.ts'
import { DAY_MS } from '../src/durations.ts'
import { brand, eve } from './brand.ts'
import {
  BOOK_APPROVED_ID,
  BOOK_HASH,
  BOOK_PERIOD,
  bookRows,
  statementRows,
} from './commission/statement-rows.ts'
import { monthly, storePlan } from './commission/stored.ts'
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
  expect(await all.text()).toContain(`<a href="${AT}/deliveries?${both}">2 records refused</a>`)
})

test('what needs attention leads to the page that shows it', async () => {
  const { acme, read } = await open()
  await acme.post('customers', { ...ada, customer_id: 'c-9', affiliate_id: 'nobody' })
  await acme.post('transactions', { ...deposit, status: 'odd' })
  await acme.post('transactions', {})
  await env.DB.batch(statementRows(env.DB, 'acme'))
  await env.DB.prepare(`update statements set period = '2026-03', payable = '5.00'`).run()
  const text = await read('')

  const items = [...text.matchAll(/<li><p>(.*?)<\/p><a class="button" href="([^"]+)">/g)]
    .map(([, sentence = '', href = '']) => [
      sentence.replaceAll(/<[^>]+>/g, ''),
      href.replace(AT, '').split('&')[0],
    ])
    .filter(([sentence]) => !sentence?.includes('did not arrive in time'))
  expect(items).toEqual([
    ['1 statement waits for approval, for March 2026.', '/statements?period=2026-03'],
    [
      '1 affiliate has customers but is not set up, so it earns nothing: nobody.',
      '/affiliates?add=nobody',
    ],
    [
      '1 record was refused in the last 24 hours and has not been stored since: transactions.',
      '/deliveries?status=refused',
    ],
    ['1 status has no meaning, so records with it earn nothing: odd.', '/mappings'],
  ])
})

test('the overview and the list of statements know the periods that have statements', async () => {
  const { read } = await open()
  expect(await read('')).toContain('There are no statements yet.')

  await env.DB.batch(statementRows(env.DB, 'acme'))
  expect(await read('')).toMatch(/statements\?period=2026-10&amp;status=draft">\d+<\/a>/)
  const list = await read('/statements?status=draft')
  expect(list).toContain('<option value="2026-10">October 2026 · 1 to approve</option>')
})

test('a period that has not begun is not called open, and cannot be computed', async () => {
  const { read } = await open()
  const list = await read('/statements?period=2031-05')
  expect(list).toContain('<option value="2031-05" selected="">May 2031 · not begun</option>')
  expect(list).toContain('May 2031 has not begun: there is nothing to compute yet.')
  expect(list).toContain('May 2031 has not begun. Choose an earlier period.')
  expect(list).not.toContain('Compute the drafts of May 2031')
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
  const [text = ''] = (await read('/deliveries')).split('id="filter-code"')
  const offered = [...text.matchAll(/<option value="([a-z-]+)"/g)].map(([, name]) => name)

  expect(offered).toEqual([
    ...['customers', 'transactions', 'trading-activity'],
    ...['refused', 'stored'],
  ])
})

test('a refused record is explained without the names of fields and codes', async () => {
  const { acme, read } = await open()
  const { transaction_type: _, ...untyped } = deposit
  const wrong = { ...deposit, transaction_type: 'gift', transaction_date: 'yesterday' }
  const { delivery_id } = await json(acme.post('transactions', [untyped, wrong]))

  const [text = ''] = (await read(`/deliveries/${delivery_id}`)).split('As the sender saw it')
  expect(text).toContain('“Type” is required.')
  expect(text).toContain('record 1 › Type · A field is missing')
  expect(text).toContain('“IB rebate”')
  expect(text).toMatch(/not written in the way that the API reads.*record 2 › Time/)
  expect(text.replaceAll(/<[^>]+>/g, ' ')).not.toMatch(/\b(?!dlv_)[a-z]+_[a-z]+|\d-\d\dT\d/)
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
    expect.stringMatching(
      /<strong>From \(UTC\):<\/strong> <code>yesterday:00Z<\/code> is not a time of the calendar\./,
    ),
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

test('the beginning of an id finds customers, and the whole id only its own', async () => {
  const { acme, read } = await open()
  for (const customer_id of ['d-12', 'd-13']) {
    await acme.post('customers', { ...ada, customer_id })
  }
  const link = (id: string) => `<a href="${AT}/customers/${id}"><bdi>${id}</bdi></a>`
  const beginning = await read('/customers?customer_id=%20d-1%20')
  expect([beginning.includes(link('d-12')), beginning.includes(link('d-13'))]).toEqual([true, true])
  const whole = await read('/customers?customer_id=d-12')
  expect([whole.includes(link('d-12')), whole.includes(link('d-13'))]).toEqual([true, false])
  expect(await read('/customers?customer_id=D-1')).toContain('No customer has an id that is or')
})

test('a form is sent to the address of its page without a fragment', async () => {
  const { read } = await open()
  const form = /<form method="post" action="([^"]*)" class="change" id="change-refuse"/
  const page = await read(`/customers/${ada.customer_id}?period=2026-10`)
  expect(form.exec(page)?.[1]).toBe(`${AT}/customers/${ada.customer_id}?period=2026-10`)
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
  expect(await read('/statements?period=all')).toMatch(/<bdi>شريك-1<\/bdi>, October 2026/)
})

test('an assignment by * is listed where an affiliate has none of its own', async () => {
  const { read } = await open()
  expect(await read('/affiliates/aff-7')).toContain('No plan applies to the affiliate today')

  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
  const all = { affiliate_id: '*', plan: 'standard-ib', from: '2026-10-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [all])
  const own = await read('/affiliates/aff-7')
  expect(own).toContain('as to all affiliates without a plan of their own')
  const plans = await read('/plans?affiliate_id=aff-7')
  expect(plans).toContain('>All others</th>')
  expect(plans).toContain('those of all others apply')
  // Only the page of all assignments deletes one that governs others, too.
  for (const text of [own, plans]) expect(text).not.toContain('Delete an assignment')

  await askAdmin('accounts/acme/assignments', 'PUT', [{ ...all, affiliate_id: 'aff-7' }])
  expect(await read('/affiliates/aff-7')).not.toContain('as to all affiliates')
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

test('balances that are carried on are added up over affiliates of one period, never over periods', async () => {
  const { read } = await open()
  await env.DB.batch([
    ...statementRows(env.DB, 'acme'),
    env.DB.prepare(
      `update statements set closing = '6.00',
         statement = json_set(statement, '$.closing', '6.00', '$.total', '6.00')`,
    ),
  ])
  const carried = async (query: string) =>
    /data-title="Carried on"><div><data[^>]*>([^<]+)/.exec(await read(`/statements${query}`))?.[1]
  expect(await carried('?period=all')).toBeUndefined()
  expect(await carried('?period=2026-10')).toBe('6.00 EUR')
})

test('the list of statements begins with the last period to approve, and names earlier ones', async () => {
  const { read } = await open()
  const move = (from: string, to: string) =>
    env.DB.prepare(
      `update statements set period = ?2, affiliate_id = ?2, id = 'stm_' || ?2, payable = '1000.50',
         statement = json_set(statement, '$.period', ?2, '$.payable', '1000.50', '$.total', '1000.50')
       where period = ?1`,
    ).bind(from, to)
  for (const period of ['2026-08', '2026-09', '2099-01']) {
    await env.DB.batch([statementRows(env.DB, 'acme')[0]!, move('2026-10', period)])
  }
  const text = await read('/statements')

  expect(text).toContain('<h1>Statements of September 2026</h1>')
  expect(text).toMatch(/<option value="2026-09" selected="">September 2026 · 1 to approve</)
  expect(text).toMatch(/data-title="Earned"><div><data[^>]*>1,000\.50 EUR</)
  expect(text).toMatch(/data-title="To approve"><div><data[^>]*>1,000\.50 EUR</)
  expect(text).toMatch(/approved first:[\s\S]*period=2026-08">August 2026, 1 draft</)
  expect(text).not.toContain('January 2099, 1 draft')
  expect(await read('/statements?affiliate_id=2026-08')).toContain('<h1>Statements</h1>')
})

test('the statements of a month stand beside what the affiliates earned in the month before, and name their plan', async () => {
  const { read } = await open()
  const [october] = statementRows(env.DB, 'acme')
  await storePlan('acme', 'ib-eu', monthly([], { name: 'IB of Europe' }))
  await env.DB.batch([
    october!,
    env.DB.prepare(
      `update statements set period = '2026-09', id = 'stm_9', statement =
         json_set(statement, '$.period', '2026-09', '$.total', '777.50', '$.id', 'stm_9')`,
    ),
    statementRows(env.DB, 'acme')[0]!,
    env.DB.prepare(
      `update statements set plan = 'ib-eu', statement =
         json_set(statement, '$.plan', 'ib-eu', '$.opening', '-12.25')`,
    ),
  ])
  const text = (await read('/statements?period=2026-10')).replaceAll(/<[^>]+>/g, ' ')

  expect(text).toMatch(/Earned\s+In September\s+aff-7/)
  expect(text).toContain('777.50 EUR')
  expect(text).toMatch(/-12\.25 EUR\s+carried in/)
  expect(text).toContain('IB of Europe')
  expect(text).not.toContain('ib-eu')
  expect(await read('/statements?period=2026-09')).not.toContain('>In August<')
})

test('drafts that pay nothing are counted, and approved with the next period that pays something', async () => {
  const { read } = await open()
  const move = (period: string, payable: string) => [
    statementRows(env.DB, 'acme', `aff-${period}`)[0]!,
    env.DB.prepare(
      `update statements set period = ?1, id = 'stm_' || ?1, payable = ?2,
         statement = json_set(statement, '$.period', ?1, '$.payable', ?2)
       where affiliate_id = ?3`,
    ).bind(period, payable, `aff-${period}`),
  ]
  await env.DB.batch([...move('2026-07', '0.00'), ...move('2026-08', '0.00')])
  const before = await read('/statements')
  expect(before).toContain('<h1>Statements of August 2026</h1>')
  const review = (period: string) => read(`/statements?period=${period}&status=draft&approve=yes`)
  expect(await review('2026-08')).toContain('The draft pays nothing.')
  const all = async () => (await (await signedIn()).get('/console')).text()
  expect(await all()).not.toMatch(/statements? to approve/)
  expect(await read('')).not.toContain('for approval')

  await env.DB.batch(move('2026-09', '5.00'))
  expect(await read('/statements')).toContain('<h1>Statements of September 2026</h1>')
  const text = await review('2026-09')
  expect(text).toContain(
    'Earlier drafts that pay nothing are approved, too: August 2026, 1 draft; July 2026, 1 draft.',
  )
  expect(text).toContain('name="earlier" value="2026-08 2026-07"')
  expect(text).not.toContain('approved first:')
  // The list of accounts and the overview count the same.
  expect(await all()).toMatch(/period=2026-09&amp;status=draft">1 statement to approve/)
  expect(await read('')).toMatch(/<strong>1 statement<\/strong> waits for approval/)
})

test('a second person who approves a period sees how many drafts another has approved meanwhile', async () => {
  const { read, change } = await open()
  await storePlan('acme', 'lined', monthly([]))
  await env.DB.batch([
    ...bookRows(env.DB, 'acme'),
    env.DB.prepare(
      `insert into statement_runs (account, id, period, status, affiliates, steps, changed, started_at, ended_at)
       values ('acme', 'run_1', ?1, 'done', 1, 1, 1, ?2, ?2)`,
    ).bind(BOOK_PERIOD, '2026-11-01T00:00:00.000Z'),
  ])
  const page = `/statements?period=${BOOK_PERIOD}&status=draft&approve=yes`
  expect(await read(page)).toContain('name="seen" value="1"')
  const approve = () =>
    change(page, { change: 'approve', period: BOOK_PERIOD, seen: '1', earlier: '' })

  expect(await (await approve()).text()).toContain('1 statement of September 2024 is')
  const second = (await (await approve()).text()).replaceAll(/<[^>]+>/g, '')
  expect(second).toContain('No statement was approved.')
  expect(second).toContain(
    'Of the 1 draft that you saw, another person has approved 1 since you opened the page.',
  )
})

test('earlier periods are approved in the same form, the oldest first; what was refused is said of each', async () => {
  const { read, change } = await open()
  await storePlan('acme', 'lined', monthly([]))
  const run = (period: string) =>
    env.DB.prepare(
      `insert into statement_runs (account, id, period, status, affiliates, steps, changed, started_at, ended_at)
       values ('acme', 'run_' || ?1, ?1, 'done', 1, 1, 1, ?2, ?2)`,
    ).bind(period, '2026-11-01T00:00:00.000Z')
  const october = (id: string, affiliate: string, previous: string) =>
    env.DB.prepare(
      `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest, payable, closing,
         statement, lines, parts, state, read_at, computed_at, previous)
       select account, '2024-10', ?2, plan, ?1, 'draft', ?4, ?4, payable, closing,
         json_set(statement, '$.id', ?1, '$.period', '2024-10', '$.affiliate_id', ?2), lines, parts, state,
         read_at, computed_at, ?3 from statements where period = ?5`,
    ).bind(id, affiliate, previous, id.at(-1)?.repeat(64), BOOK_PERIOD)
  await env.DB.batch([
    ...bookRows(env.DB, 'acme'),
    october('stm_c', 'aff-7', BOOK_HASH),
    ...[run(BOOK_PERIOD), run('2024-10')],
  ])
  const page = '/statements?period=2024-10&status=draft&approve=yes'
  const form = await read(page)
  expect(form).toContain(
    '<option value="2024-09">Approve them first, the oldest first: September 2024, 1 draft</option>',
  )
  const approve = async (also: string) =>
    (
      await (
        await change(page, { change: 'approve', period: '2024-10', seen: '1', earlier: '', also })
      ).text()
    )
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s+/g, ' ')
  // Without the earlier period the later one waits for it.
  expect(await approve('')).toContain('1 statement was not approved.')
  const both = await approve('2024-09')
  expect(both).toContain(
    '1 statement of October 2024 is approved. So is 1 statement of September 2024.',
  )
  expect(both).not.toContain('without a payment')
  // A period that cannot be approved is named with why.
  expect(await approve('2199-01')).toMatch(/January 2199 was not approved\. \S/)
})

test('a period is chosen from a list with its state, the latest first', async () => {
  const { read } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const text = await read('/statements')
  const options = [...text.matchAll(/<option value="(\d{4}-\d\d)"[^>]*>([^<]+)</g)]
    .map(([, id = '', label = '']) => ({ id, label }))
    .slice(0, 15)
  const now = new Date().toISOString().slice(0, 7)

  expect(options[0]).toEqual({ id: now, label: expect.stringMatching(/^\w+ \d{4} · open$/) })
  expect(options.map(({ id }) => id)).toEqual(
    options
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
  )
  expect(options.slice(-2).map(({ label }) => label)).toEqual([
    'September 2024 · 1 to approve',
    'August 2024 · 1 to pay',
  ])
  const refused = await read('/statements?period=2026-13')
  expect(refused).toContain('is not a month or a week of the calendar')
  expect(refused).toContain('<option value="2024-09"')
})

test('an approved statement that pays nothing is not to pay', async () => {
  const { read } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  await env.DB.prepare(
    `update statements set payable = '0.00', statement = json_set(statement, '$.payable', '0.00'),
       status = 'approved', approval = 'approval', approved_at = 1
     where period = '2024-09'`,
  ).run()
  const text = await read('/statements?period=2024-09')

  expect(text).toContain('September 2024 · nothing to pay<')
  expect(text).toMatch(/data-title="Nothing to pay"><div><small><a [^>]*>1 statement</)
  expect(text).not.toContain('data-title="To pay"')
  expect(text).toMatch(/<span class="badge[^>]*>Nothing to pay</)
})

/** Returns the values of the tick boxes on a page. */
const ticksOn = (text: string) =>
  [...text.matchAll(/<input type="checkbox" name="(tick\d+)" value="([^"]+)"/g)].map(
    ([, name = '', value = '']) => ({ [name]: value.replaceAll('&quot;', '"') }),
  )

test('the file of the ticked payouts is uploaded with days, and recorded as payments', async () => {
  const { read, change } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  expect((await change('/payouts', { change: 'download' })).status).toBe(422)
  const [tick] = ticksOn(await read('/payouts'))
  const file = await change('/payouts', { change: 'download', ...tick })
  expect(file.headers.get('Content-Disposition')).toContain('payouts-acme.csv')
  const csv = await file.text()
  expect(csv).toMatch(
    /^affiliate_id,[^\r]*,reference,status,returned,open_cases,paid_on\r\naff-7,EUR,1\.00,1,/,
  )

  const empty = await change('/payouts', { change: 'upload', csv })
  const text = await empty.text()
  expect(empty.status).toBe(422)
  expect(text).toContain('Choose the day: no row of the file has one.')
  // What was sent is kept.
  expect(text).toContain(`${csv.split('\r\n')[1]}`)

  // As a spreadsheet in Germany writes it.
  const german = csv
    .replaceAll(',', ';')
    .replace(';1.00;', ';1,00;')
    .replace(/;\r\n$/, ';20.11.2026\r\n')
  const done = await change('/payouts', { change: 'upload', csv: german })
  expect(done.status).toBe(303)
  expect(await read('/payouts')).toContain('1 payment recorded. 1 statement paid.')
  expect(await read('/payouts?status=paid')).toContain('datetime="2026-11-20"')
})

test('a file without a column is refused with the choice of another, which is kept', async () => {
  const { read, change } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const csv = (await read('/payouts?format=csv')).replace('reference', 'Bank ref')
  const missing = await change('/payouts', { change: 'upload', csv })
  const text = await missing.text()
  expect([missing.status, text]).toEqual([422, expect.stringContaining('no column “Reference”')])
  expect(text).toMatch(/<option value="5">Bank ref</)

  const chosen = { change: 'upload', csv, column_reference: '5' }
  const again = await (await change('/payouts', chosen)).text()
  expect(again).toMatch(/<option value="5" selected="">Bank ref</)
  expect((await change('/payouts', { ...chosen, day: '2026-11-20' })).status).toBe(303)
})

test('a second person who pays or downloads what is paid already sees what changed', async () => {
  const { read, change } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const [tick] = ticksOn(await read('/payouts'))
  const pay = (reference: string) =>
    change('/payouts', { change: 'pay', ...tick, reference, paid_on: '2026-11-20' })
  expect((await pay('SEPA-1')).status).toBe(303)

  const second = await pay('SEPA-2')
  expect([second.status, await second.text()]).toEqual([
    409,
    expect.stringMatching(/Row 1,[\s\S]*aff-7[\s\S]*Nothing is due to/),
  ])
  const file = await change('/payouts', { change: 'download', ...tick })
  expect([file.status, await file.text()]).toEqual([
    409,
    expect.stringContaining('It was paid meanwhile'),
  ])
  // The same payment again is no second payment.
  expect((await pay('SEPA-1')).status).toBe(303)
  expect(await read('/payouts')).toContain(
    '1 row had been recorded before, by you or somebody else',
  )
})

test('a payment that came back is payable again at once', async () => {
  const { read, change } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const [due] = ticksOn(await read('/payouts'))
  await change('/payouts', { change: 'pay', ...due, reference: 'SEPA-1', paid_on: '2026-11-20' })
  expect(await read('/payouts')).toContain('Nothing to pay.')

  const page = '/payouts?status=paid'
  const paid = ticksOn(await read(page)).find((one) => JSON.stringify(one).includes('SEPA-1'))!
  const back = { change: 'return', ...paid, returned_on: '2026-11-21', reason: 'Account closed' }
  const early = await change(page, { ...back, returned_on: '2026-11-19' })
  expect(early.status).toBe(422)
  expect(await early.text()).toContain('20 Nov 2026, the day of the payment')
  const empty = await change(page, { ...back, returned_on: '', reason: ' ' })
  const answer = await empty.text()
  expect(answer).toContain('Choose the day of the return.')
  expect(answer).toContain('Write the reason of the return, such as')
  expect(await read(page)).toMatch(/name="returned_on"[^>]*value="\d{4}-\d\d-\d\d"/)
  expect((await change(page, back)).status).toBe(303)
  const text = await read(page)
  expect(text).toContain('1 return recorded. 1 statement payable again.')
  expect(text).toContain('Account closed')
  expect(ticksOn(await read('/payouts'))).toHaveLength(1)
})

test('the paid tab has filters by affiliate and day, and a payment needs its day', async () => {
  const { read, change } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const [due] = ticksOn(await read('/payouts'))
  const empty = await change('/payouts', { change: 'pay', ...due, reference: 'A-1', paid_on: '' })
  expect(await empty.text()).toContain('Choose the day of the payment.')
  const late = { change: 'pay', ...due, reference: 'A-1', paid_on: '2199-01-01' }
  expect(await (await change('/payouts', late)).text()).toContain('later than tomorrow.')
  await change('/payouts', { change: 'pay', ...due, reference: 'A-1', paid_on: '2026-11-20' })
  const paid = (query: string) => read(`/payouts?status=paid&${query}`)
  expect(await paid('affiliate_id=aff-7&from=2026-11-20&to=2026-11-20')).toContain('A-1')
  for (const query of ['affiliate_id=nobody', 'to=2000-01-01', 'from=2026-11-21']) {
    const none = await paid(query)
    expect(none).toContain('No payment matches.')
    // The form and its way back stay on the tab.
    expect(none).toMatch(/<input type="hidden" name="status" value="paid"/)
    expect(none).toMatch(/payouts\?status=paid">Clear</)
  }
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
  expect(due).toMatch(/The payment PAY-1 came back on 20 Nov 2026: Account closed\./)
  expect(due).toContain('Record the payment of 1.00 EUR')
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
  expect(await read(path)).toContain('No affiliate earned anything in October 2026')
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

test('customers without an affiliate are listed with the days since their signup', async () => {
  const casino = await brand({ account: 'acme' })
  await casino.post('customers', { ...eve, regtime: dayBefore(3) })
  const browser = await signedIn()
  const response = await browser.get(`${AT}/customers?unattributed=true`)
  const text = (await response.text()).replaceAll(/<[^>]+>/g, ' ')
  expect(text).toMatch(
    /Customers who signed up from \d+ \w+ \d{4} to \d+ \w+ \d{4} and have no affiliate/,
  )
  expect(text).toMatch(/p-1 .*3 days ago/)
})

test('the list of accounts names the databases that are full soon', async () => {
  const browser = await signedIn()
  const notices = async () =>
    [
      ...(await (await browser.get('/console')).text()).matchAll(
        /<p class="notice warn">(.*?)<\/p>/gs,
      ),
    ].map(([, text = '']) => text.replaceAll(/<[^>]+>/g, ''))
  expect(await notices()).toEqual([])
  const today = Math.floor(Date.now() / 86_400_000)
  await env.DB.batch(
    [
      [today - 30, 1e9],
      [today, 4e9],
    ].map(([day, bytes]) =>
      env.DB.prepare(`insert into database_sizes values ('DB_2', ?, ?)`).bind(day, bytes),
    ),
  )
  expect(await notices()).toEqual([
    expect.stringMatching(
      /^The last database for new accounts will be full on .+\. Ask the engineers to add a database before that day\.$/,
    ),
  ])
})
