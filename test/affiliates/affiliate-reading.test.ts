import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { app } from '../../src/app.ts'
import { storeClicks } from '../../src/attribution/db/clicks.ts'
import { REQUEST_LIMITS } from '../../src/commission/limits.ts'
import { adjustmentId, lineId } from '../../src/commission/run/ids.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { readCsv } from '../../src/platform/money/csv.ts'
import { REPORT_LIMITS } from '../../src/reports/limits.ts'
import { bookRuns } from '../books/book-firm.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { emptyObject } from '../objects.ts'
import { ada, ask, askAdmin, deposit, json, partner, traded } from '../partner.ts'
import { signedInFor } from '../portal/join.ts'
import { AFFILIATES, affiliateWorld, askWith, MARK, type Who } from './affiliate-world.ts'

type World = Awaited<ReturnType<typeof affiliateWorld>>

const DAYS = 'from=2026-10-01&to=2026-10-31'

/** All addresses that an affiliate reads of a world: of lines, one of each rule. */
async function addressesOf(world: World, who: Who, key: string) {
  const lines = await world.shownLinesOf(key, who)
  return [
    ...['me', 'statements', `statements/${world.statementOf(who).id}`, 'customers?period=2026-10'],
    ...['unearned?period=2026-10', 'unearned/facts?period=2026-10', 'links'],
    ...[`reports?${DAYS}`, `reports?${DAYS}&group_by=link,month`, 'ledger', 'payouts'],
    ...[`sub-affiliates?${DAYS}`, `overview?${DAYS}`],
    ...[...Map.groupBy(lines, ({ rule }) => rule).values()].flatMap(([line]) => [
      `lines/${line?.id}/explain`,
      `lines/${line?.id}/parts`,
    ]),
  ]
}

/** Returns the parameters that a list requires. */
const queryOf = (path: string): string => {
  if (/unearned|customers/.test(path)) return 'period=2026-10'
  return /sub-/.test(path) ? DAYS : ''
}

const FORMATS = ['application/json', 'text/csv', 'text/plain', 'text/html']

/** Whether an address has an answer of its own in a format. */
const hasFormat = (address: string, accept: string) =>
  accept === 'application/json' || (accept === 'text/csv') !== address.endsWith('/explain')

/** Returns a new key of an affiliate whose requests of the last minute are forgotten: all keys share one limit. */
async function freshKey(world: World, who: Who): Promise<string> {
  const key = await world.makeKey(who)
  await env.DB.prepare('delete from affiliate_keys').run()
  const rate = env.TOKEN_GATE.getByName(
    `affiliate ${JSON.stringify([world.path.slice('accounts/'.length), who])}`,
  )
  await runInDurableObject(rate, (_, state) => emptyObject(state))
  await scheduler.wait(10)
  return key
}

/** What an account may show; the first is read in all formats, the others as JSON. */
const VIEWS = [
  {},
  { customer_ids: 'none', amounts: false, countries: false, sub_affiliates: 'none', held: 'none' },
]

/** Returns the status and the bytes of a refusal, without what differs in each response. */
async function refusal(response: Response) {
  const text = await response.text()
  return [response.status, text.replace(/"request_id":"[^"]+"/, '')]
}

test('an affiliate sees customers by pseudonyms that stay the same, and those of nobody else', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const customers = async (of: string) => {
    const { data } = await json(askWith(of, 'customers?period=2026-10'))
    return data.map(({ customer }: { customer: string }) => customer).sort()
  }
  const own = await customers(key)
  expect(own).toEqual([expect.stringMatching(/^c_[\da-f]{24}$/), expect.any(String)])
  expect(await customers(await world.makeKey('own'))).toEqual(own)
  await world.show({ customer_ids: 'plain' })
  expect(await customers(key)).toEqual(['c-own', 'c-own-waits'])
  await world.show({ customer_ids: 'none' })
  expect(await customers(key)).toEqual(['hidden', 'hidden'])
  // Two affiliates cannot find out that they see the same customer.
  const top = await world.makeKey('top')
  await world.post('customers', [{ ...ada, customer_id: 'c-own', affiliate_id: 'top' }])
  await world.show({ customer_ids: 'plain' })
  expect(await customers(top)).toEqual(['c-own', 'c-top', 'c-top-waits'])
  await world.show({ customer_ids: 'pseudonym' })
  expect(new Set([...own, ...(await customers(top))]).size).toBe(5)
})

/** Corrects October in November: approves a statement, and sends another deposit of its days. */
async function correctOctober(world: World) {
  const { id, hash } = world.statementOf('own')
  await askAdmin(`${world.path}/statements/${id}/approve`, 'POST', { hash, leave_out_holds: true })
  await world.post('transactions', [
    { ...deposit, customer_id: 'c-own', transaction_id: 'late', amount_currency: 900 },
  ])
  await bookRuns(world.account).run('2026-11')
  const { data } = await json(askAdmin(`${world.path}/statements?affiliate_id=own&period=2026-11`))
  return data[0].id as string
}

/** What only the firm reads: customers have pseudonyms, or are hidden. */
const NEVER = /dlv_|"actor"|root-key|c-(?:own|below|top|other)/

test('no value that an affiliate reads, in any format or under any view, is personal, or a digest by which a guessed customer can be confirmed', async () => {
  const world = await affiliateWorld()
  const november = await correctOctober(world)
  const { id: october } = world.statementOf('own')
  const writer = await world.makeKey('own', { scope: 'read links' })
  const shown = await world.shownLinesOf(writer, 'own')
  const { adjustments } = await json(askWith(writer, `statements/${november}`))
  expect(adjustments.length).toBeGreaterThan(0)
  for (const subject of [{ line: shown[0]?.id }, { line: adjustments[0].id }]) {
    const body = JSON.stringify({ ...subject, text: 'Why?' })
    const headers = { Authorization: `Bearer ${writer}`, 'Content-Type': 'application/json' }
    const made = await ask('/affiliate/v1/questions', { method: 'POST', headers, body })
    expect(made.status).toBe(201)
  }
  // What the firm reads without a key of the affiliate, and what anybody can compute of a guessed customer.
  const digests = new Set<string>()
  for (const id of [october, november]) {
    const text = await (await askAdmin(`${world.path}/statements/${id}`)).text()
    for (const [, digits = ''] of text.matchAll(/(?:lin|adj)_[\da-f]{24}([\da-f]{16})/g)) {
      digests.add(digits)
    }
    digests.add(JSON.parse(text).hash)
  }
  expect(digests.size).toBeGreaterThan(8)
  for (const of of AFFILIATES.flatMap((who) => [`c-${who}`, `c-${who}-waits`])) {
    for (const rule of ['cpa', 'share']) {
      const line = await lineId(october, { version: 1, rule, scope: `customer:${of}` }, 0)
      digests.add(line.slice(-16)).add((await adjustmentId(november, line)).slice(-16))
      digests.add(await digest(of))
    }
  }
  for (const view of VIEWS) {
    await world.show(view)
    for (const accept of view === VIEWS[0] ? FORMATS : FORMATS.slice(0, 1)) {
      const key = await freshKey(world, 'own')
      const more = [
        ...[`statements/${november}`, 'questions', 'statements?per_page=1', 'postbacks'],
        ...adjustments.flatMap(({ id, of }: { id: string; of: { line: string } }) => [
          `lines/${id}/explain`,
          `lines/${of.line}/explain`,
        ]),
      ]
      const addresses = [...(await addressesOf(world, 'own', key)), ...more]
      for (const address of addresses.filter((one) => hasFormat(one, accept))) {
        const response = await askWith(key, address, accept)
        const text = JSON.stringify([...response.headers]) + (await response.text())
        expect([address, accept, response.status]).toEqual([address, accept, 200])
        const found = [MARK, ...digests].filter((one) => text.includes(one))
        expect([address, accept, found, NEVER.exec(text)]).toEqual([address, accept, [], null])
      }
    }
  }
})

test('the id of a line that is computed for a guessed customer is the 404 of a missing one', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const { id } = world.statementOf('own')
  const missing = await refusal(await askWith(key, `lines/lin_${'0'.repeat(40)}/explain`))
  const lineOf = (customer: string) =>
    lineId(id, { version: 1, rule: 'cpa', scope: `customer:${customer}` }, 0)
  expect((await world.linesOf('own')).map((one) => one.id)).toContain(await lineOf('c-own'))
  for (const customer of ['c-own', 'c-nobody']) {
    const line = await lineOf(customer)
    const found = await refusal(await askWith(key, `lines/${line}/explain`))
    expect([customer, found]).toEqual([customer, missing])
  }
  const shown = await world.shownLinesOf(key, 'own')
  for (const [i, line] of (await world.linesOf('own')).entries()) {
    expect(shown[i]?.id).toMatch(/^lin_[\da-f]{56}$/)
    expect(shown[i]?.id.slice(0, 28)).toBe(line.id.slice(0, 28))
    const changed = shown[i]?.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    expect(await refusal(await askWith(key, `lines/${changed}/explain`))).toEqual(missing)
  }
})

test('§18.2 the customers of a line are the largest first, under their names, and never those of affiliates below', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const top = await world.makeKey('top')
  const partsOf = async (of: string, who: Who, rule: string) => {
    const line = (await world.shownLinesOf(of, who)).find((one) => one.rule === rule)
    return (await json(askWith(of, `lines/${line?.id}/parts`))).data
  }
  expect(await partsOf(key, 'own', 'lots')).toEqual([
    { customer_id: expect.stringMatching(/^c_/), records: 1, base: null, units: '1.07' },
  ])
  expect(await partsOf(top, 'top', 'up')).toEqual([])
  const { lines } = await json(askAdmin(`${world.path}/statements/${world.statementOf('top').id}`))
  const { id } = lines.find(({ rule }: { rule: string }) => rule === 'up')
  expect((await json(askAdmin(`${world.path}/lines/${id}/parts`))).data).toMatchObject([
    { customer_id: 'c-own-waits', base: '103' },
    { customer_id: 'c-own', base: '102' },
  ])
})

test('customers are filtered by the name under which they are seen, and by no other', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const facts = (id: string) =>
    json(askWith(key, `unearned/facts?period=2026-10&customer_id=${id}`))
  const { data } = await json(askWith(key, 'customers?period=2026-10'))
  for (const { customer } of data) {
    const own = await facts(customer)
    expect(own.meta.total).toBeGreaterThan(0)
    expect(own.data[0].customer_id).toBe(customer)
    const grouped = await json(askWith(key, `unearned?period=2026-10&customer_id=${customer}`))
    expect(grouped.data.length).toBeGreaterThan(0)
  }
  // An id is the name of nobody: it would confirm a guess.
  for (const id of ['c-own', 'c-other', 'c_000000000000000000000000']) {
    expect([id, (await facts(id)).meta.total]).toEqual([id, 0])
  }
  await world.show({ customer_ids: 'none' })
  expect(await facts('hidden')).toMatchObject({ status: 400, code: 'invalid_query' })
  await world.show({ customer_ids: 'plain' })
  expect((await facts('c-own')).meta.total).toBeGreaterThan(0)
  expect((await facts('c-other')).meta.total).toBe(0)
})

test('a refused group or scope names what the affiliate can use instead, and nothing else', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  await world.show({ countries: false })
  const groups = async (names: string) =>
    (await json(askWith(key, `reports?${DAYS}&group_by=${names}`))).detail
  const unknown = await groups('x')
  expect(unknown).toContain('`sub1`')
  expect(unknown).not.toMatch(/affiliate_id|kyc_status_id|sales_status_id|country_code/)
  expect(await groups('day,link,sub1,sub2')).toContain('at most 3')
  await world.show({ countries: true })
  expect(await groups('x')).toContain('`country_code`')
  const refused = await ask('/affiliate/v1/questions', {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
  })
  expect(refused.headers.get('WWW-Authenticate')).toContain('scope="read links"')
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('`read links`') })
})

test('hidden amounts leave what is earned', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  await world.show({ amounts: false, countries: false, customer_ids: 'plain' })
  const { lines } = await json(askWith(key, `statements/${world.statementOf('own').id}`))
  const [line] = lines.filter(({ scope }: { scope: string }) => scope === 'customer:c-own')
  expect(line).toMatchObject({ amount: expect.stringMatching(/^\d+\.\d\d$/) })
  expect(line).not.toHaveProperty('base')
  const { steps } = await json(askWith(key, `lines/${line.id}/explain`))
  expect(steps).toEqual([])
  const text = await (await askWith(key, `lines/${line.id}/explain`, 'text/plain')).text()
  expect(text).toContain(line.amount.replace(/\.?0+$/, ''))
  const { data } = await json(askWith(key, 'customers?period=2026-10'))
  expect(data[0]).not.toHaveProperty('country_code')
  expect(await json(askWith(key, `reports?${DAYS}&metrics=deposit_amount`))).toMatchObject({
    code: 'invalid_query',
  })
  const { columns } = await json(askWith(key, `reports?${DAYS}`))
  expect(columns.map(({ name }: { name: string }) => name)).not.toContain('deposit_amount')
  expect((await askWith(key, `reports?${DAYS}&group_by=country_code`)).status).toBe(400)
})

test('affiliates below are totals or nothing, as the account shows them', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const lines = await world.shownLinesOf(key, 'own')
  const up = lines.find(({ rule }) => rule === 'up')
  const below = async () => (await json(askWith(key, `sub-affiliates?${DAYS}`))).data
  expect(await below()).toEqual([
    {
      ...{ affiliate_id: 'below', level: 1, signups: 2, active_customers: 2 },
    },
  ])
  await world.show({ sub_affiliates: 'none' })
  expect(await below()).toEqual([])
  expect(up?.scope).toBe('affiliate:below')
  const { lines: seen } = await json(askWith(key, `statements/${world.statementOf('own').id}`))
  expect(JSON.stringify(seen)).not.toContain('below')
})

test('an affiliate who moved in the tree has no counts of days on which they stood elsewhere', async () => {
  const world = await affiliateWorld()
  const [own, other] = [await world.makeKey('own'), await world.makeKey('other')]
  const below = async (key: string, from: string, to = '2026-10-31') =>
    (await json(askWith(key, `sub-affiliates?from=${from}&to=${to}`))).data
  const moved = { affiliate_id: 'below', parent: 'other', from: '2026-10-20' }
  await askAdmin(`${world.path}/affiliates`, 'PUT', [moved])
  const row = { affiliate_id: 'below', level: 1 }
  expect(await below(own, '2026-10-01')).toEqual([])
  expect(await below(other, '2026-10-01')).toEqual([
    { ...row, signups: null, active_customers: null },
  ])
  expect(await below(other, '2026-10-20')).toEqual([
    { ...row, signups: expect.any(Number), active_customers: expect.any(Number) },
  ])
  expect(await below(own, '2026-10-01', '2026-10-19')).toMatchObject([
    { ...row, signups: expect.any(Number) },
  ])
})

test('of any number of statements, the latest say what waits for its day or is below the minimum', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const { id } = world.statementOf('own')
  const columns = (
    await env.DB.prepare('select * from pragma_table_info(?)').bind('statements').all()
  ).results.map(({ name }) => String(name))
  const values = columns.map(
    (name) =>
      ({
        id: `'st_old' || i`,
        period: `printf('%d-%02d', 2000 + i / 12, 1 + i % 12)`,
        statement: `json_set(statement, '$.id', 'st_old' || i, '$.closing', '7.00')`,
        closing: `'7.00'`,
      })[name] ?? name,
  )
  await env.DB.prepare(
    `insert into statements (${columns.join()})
     with n(i) as (select 0 union all select i + 1 from n where i < 150)
     select ${values.join()} from statements, n where id = ?`,
  )
    .bind(id)
    .run()
  const pending = async () => (await json(askWith(key, `overview?${DAYS}`))).pending
  expect(await pending()).toMatchObject({ money: [], below_minimum: [] })
  const change = (name: string, value: string) =>
    env.DB.prepare(`update statements set statement = json_set(statement, '$.${name}', ?1),
      closing = iif('${name}' = 'closing', ?1, closing) where id = ?2`)
      .bind(value, id)
      .run()
  await change('closing', '3.00')
  expect(await pending()).toMatchObject({
    below_minimum: [{ statement: id, period: '2026-10', amount: '3.00' }],
  })
  await change('closing', '-3.00')
  await change('payable_on', '2999-01-01')
  expect((await pending()).money, 'a draft').toEqual([])
  await env.DB.prepare(`update statements set status = 'approved', approved_at = 1 where id = ?`)
    .bind(id)
    .run()
  expect(await pending()).toMatchObject({
    money: [{ statement: id, state: 'no_details' }],
    below_minimum: [],
  })
  const { data } = await json(askWith(key, 'statements?order=latest&per_page=100'))
  expect(data).toHaveLength(100)
  expect(data.map(({ id: one }: { id: string }) => one).slice(0, 2)).toEqual([id, 'st_old150'])
})

test('what a month earned that has ended waits for approval, if the account shows drafts', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const browser = await signedInFor('acme-forex', 'own')
  const { id } = world.statementOf('own')
  const unapproved = async (period: string) => {
    await env.DB.prepare('update statements set period = ? where id = ?').bind(period, id).run()
    const page = await (await browser.get('/portal/acme-forex')).text()
    const { pending } = await json(askWith(key, `overview?${DAYS}`))
    expect(page.includes('waits for approval')).toBe(pending.unapproved.length > 0)
    return pending.unapproved
  }
  expect(await unapproved('2999-01')).toEqual([])
  expect(await unapproved('2999-W01')).toEqual([])
  const waiting = { statement: id, amount: expect.stringMatching(/^\d+\.\d\d$/) }
  expect(await unapproved('2026-W01')).toMatchObject([{ ...waiting, period: '2026-W01' }])
  expect(await unapproved('2026-01')).toMatchObject([{ ...waiting, period: '2026-01' }])
  await world.show({ drafts: false })
  expect(await unapproved('2026-01')).toEqual([])
})

test('§16.7 an affiliate reads the plan for all until their own begins, and the versions to come', async () => {
  await partner('forex', { account: 'acme', affiliates: ['own'] })
  const named = (name: string, effective_from: string, terms: 'signup' | 'current' = 'current') =>
    monthly([{ ...{ id: 'lots', kind: 'unit' }, unit: { activity: 'lots_traded' }, amount: '2' }], {
      ...{ name, effective_from, terms },
    })
  await storePlan('acme', 'ib', named('Before', '2026-01-01'))
  await storePlan('acme', 'ib', named('For all', '2026-02-01'), 2)
  await storePlan('acme', 'ib', named('Better for all', '2999-06-01'), 3)
  await storePlan('acme', 'own', named('Own', '2026-01-01', 'signup'))
  await storePlan('acme', 'own', named('Better', '2999-12-05', 'signup'), 2)
  await assign('acme', 'ib')
  await assign('acme', 'own', 'own', '2999-12-01', 'all')

  const made = await json(askAdmin('accounts/acme/affiliates/own/keys', 'POST', { name: 'Key' }))
  const { plans } = await json(askWith(made.affiliate_key, 'me'))
  const shown = plans.map((one: Record<string, unknown>) => [
    ...[one.name, one.version, one.from, one.customers],
  ])
  expect(shown).toEqual([
    ['For all', 2, '2026-01-01', 'all'],
    ['Better for all', 3, '2999-06-01', 'all'],
    ['Own', 1, '2999-12-01', 'all'],
    ['Better', 2, '2999-12-05', 'new'],
  ])
  const browser = await signedInFor('acme', 'own')
  const page = await (await browser.get('/portal/acme')).text()
  expect(page).toMatch(/Your terms change on [^<]*Jun 2999/)
  expect(page).toMatch(/From [^<]*Jun 2999: Better for all/)
})

test('an affiliate reads plans, explanations and letters in their language', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const [line] = await world.shownLinesOf(key, 'own')
  const read = async (path: string, accept: string, language?: string) => {
    const headers = { ...(language && { 'Accept-Language': language }), Accept: accept }
    return (
      await ask(`/affiliate/v1/${path}`, {
        headers: { ...headers, Authorization: `Bearer ${key}` },
      })
    ).text()
  }
  const explain = `lines/${line?.id}/explain`
  expect(await read(explain, 'text/plain')).toContain('The line pays')
  expect(await read(explain, 'text/plain', 'fr, de;q=0.5')).toContain('La ligne paie')
  expect(await read('me', 'application/json', 'de')).toContain('Jede Abrechnung gilt')
  await askAdmin(`${world.path}/affiliates`, 'PUT', [{ affiliate_id: 'own', language: 'es' }])
  const text = await read(explain, 'text/plain', 'de')
  expect(text).toContain('La línea paga')
  expect(text).not.toMatch(/\bt-\d/)
  expect(await read('me', 'application/json')).toMatch(/liquidaci/)
})

test('what is of another affiliate is the 404 of what does not exist, to the byte', async () => {
  const world = await affiliateWorld()
  const foreign = await affiliateWorld('other-firm')
  const key = await world.makeKey('own')
  const missing = {
    statement: await refusal(await askWith(key, `statements/st_${'0'.repeat(40)}`)),
    line: await refusal(await askWith(key, `lines/lin_${'0'.repeat(40)}/explain`)),
  }
  expect(missing.statement[0]).toBe(404)
  expect(missing.line[0]).toBe(404)
  for (const [i, [firm, who]] of [
    ...(['top', 'below', 'other'] as const).map((one) => [world, one] as const),
    [foreign, 'other'] as const,
  ].entries()) {
    const statement = `statements/${firm.statementOf(who).id}`
    expect(await refusal(await askWith(key, statement, FORMATS[i]))).toEqual(missing.statement)
    const fresh = await freshKey(world, 'own')
    const theirs = await firm.shownLinesOf(await firm.makeKey(who), who)
    for (const { id } of [...(await firm.linesOf(who)).slice(0, 2), ...theirs.slice(0, 2)]) {
      expect(await refusal(await askWith(fresh, `lines/${id}/explain`))).toEqual(missing.line)
    }
  }
  expect((await askWith(key, 'lines/x/explain?affiliate_id=other')).status).toBe(400)
})

test('lists are CSV with the rows and values of JSON', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const read = async (path: string) => {
    const response = await askWith(key, path, 'text/csv')
    const [columns = [], ...rows] = readCsv(await response.text()).rows ?? []
    const named = rows.map((row) => Object.fromEntries(row.map((cell, i) => [columns[i], cell])))
    return { columns, rows: named, headers: response.headers }
  }
  const names = 'links customers ledger payouts unearned unearned/facts sub-affiliates'
  for (const path of names.split(' ')) {
    const { columns, headers } = await read(`${path}?${queryOf(path)}`)
    expect(headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
    const { data } = await json(askWith(key, `${path}?${queryOf(path)}`))
    // An item has members that CSV leaves out, but no column is of a member that does not exist.
    const [first] = data
    if (first && path !== 'customers')
      expect(Object.keys(first)).toEqual(expect.arrayContaining([...columns]))
  }
  const page = await read('customers?period=2026-10&per_page=1')
  expect(page.rows).toMatchObject([
    {
      signup_day: '2026-10-01',
      rule: 'cpa',
      status: 'qualified',
      amount: '20.00',
      currency: 'EUR',
    },
  ])
  expect(page.headers.get('Link')).toContain('rel="next"')
  await world.show({ countries: false })
  expect((await read('customers?period=2026-10')).rows[0]?.country_code).toBe('')
})

test('a qualification has the amount of its line, if the statement may be seen', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const statesOf = async (query = '') => {
    const { data } = await json(askWith(key, `customers?period=2026-10${query}`))
    return data.flatMap(({ states }: { states: object[] }) => states)
  }
  const [line] = (await world.linesOf('own')).filter(({ rule }) => rule === 'cpa')
  expect(line).toMatchObject({ amount: '20.00' })
  const qualified = { status: 'qualified', rule: 'cpa', amount: '20.00', currency: 'EUR' }
  const waiting = { status: 'waiting', amount: null, currency: null }
  expect(await statesOf()).toMatchObject([qualified, waiting])
  await world.show({ drafts: false })
  expect(await statesOf('&status=qualified')).toMatchObject([{ amount: null }])
})

test('a customer who can no longer qualify has failed, with the reason and the day; others wait until theirs', async () => {
  const world = await affiliateWorld()
  await world.show({ customer_ids: 'plain' })
  const signups = { 'c-silent': '2026-07-01', 'c-trades': '2026-07-01', 'c-new': '2026-10-05' }
  await world.post(
    'customers',
    Object.entries(signups).map(([customer_id, day]) => ({
      ...{ ...ada, customer_id, affiliate_id: 'own', signup_date: `${day}T09:00:00.000Z` },
    })),
  )
  await world.post('trading-activity', [
    { ...traded, customer_id: 'c-trades', date: '2026-10-02' },
    { ...traded, customer_id: 'c-new', date: '2026-10-06' },
  ])
  const key = await world.makeKey('own')
  const statesOf = async (period: string) => {
    const { data } = await json(askWith(key, `customers?period=${period}`))
    return Object.fromEntries(
      data.map((one: { customer: string; states: object[] }) => [one.customer, one.states[0]]),
    )
  }
  // Each must trade within 60 days, and deposit; the windows are those of the rule `cpa`.
  const failed = {
    ...{ rule: 'cpa', status: 'failed', missing: [], until: null },
    closed: { window: 'qualify/0', until: '2026-08-30' },
  }
  const waits = { status: 'waiting', missing: ['trigger'], closed: null }
  expect(await statesOf('2026-10')).toMatchObject({
    'c-silent': failed,
    'c-trades': failed,
    // It has traded: nothing has a time limit any more.
    'c-new': { ...waits, until: null },
    'c-own-waits': { status: 'waiting', missing: ['qualify/0'], until: '2026-11-30' },
  })
  expect(await statesOf('2026-07')).toMatchObject({
    'c-silent': { ...waits, until: '2026-08-30' },
    'c-trades': { ...waits, until: '2026-08-30' },
  })
  const { data } = await json(
    askWith(key, 'unearned/facts?period=2026-10&reason=not_qualified&customer_id=c-trades'),
  )
  const [record] = data
  expect(record.rules).toContainEqual({
    ...{ reason: 'not_qualified', plan: 'ib', version: 1, rule: 'cpa', condition: 'qualify/0' },
    ...{ reached: '0', min: '1', until: '2026-08-30' },
  })
  const { pending } = await json(askWith(key, `overview?${DAYS}`))
  expect(pending.waiting).toBe(2)
  const firm = await json(askAdmin(`${world.path}/qualifications?period=2026-10`))
  const ofSilent = firm.data.filter(
    (one: { customer_id: string }) => one.customer_id === 'c-silent',
  )
  expect(ofSilent).toMatchObject([failed])
})

test('a customer whom a rule paid for under another affiliate was counted already', async () => {
  const world = await affiliateWorld()
  await world.show({ customer_ids: 'plain' })
  const moved = await askAdmin(`${world.path}/customers/c-own/affiliations`, 'PUT', {
    reason: 'Agreed',
    affiliations: [
      { affiliate_id: 'own', from: null },
      { affiliate_id: 'other', from: '2026-10-20' },
    ],
  })
  expect(moved.status).toBeLessThan(300)
  const read = async (who: Who, query: string) => {
    const { data } = await json(askWith(await world.makeKey(who), `customers?${query}`))
    return data.filter(({ customer }: { customer: string }) => customer === 'c-own')
  }
  expect(await read('own', 'period=2026-10')).toMatchObject([
    { states: [{ status: 'qualified', rule: 'cpa' }] },
  ])
  const [{ states }] = await read('other', 'period=2026-10&status=already_counted')
  expect(states).toEqual([
    {
      ...{ plan: 'ib', version: 1, rule: 'cpa', status: 'already_counted', qualified_on: null },
      ...{ trigger: null, missing: [], closed: null, until: null, refused_by: null },
      conditions: [],
      ...{ waits_for: [], before_signup: [], amount: null, currency: null },
    },
  ])
})

test('reports group the own clicks by link and sub-parameter, as those of the firm do', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const { data: links } = await json(askAdmin(`${world.path}/links`))
  const now = Date.now()
  const click = (link_id: string, name: string, sub1: string) => ({
    ...{
      account: 'acme-forex',
      link_id,
      click_id: `click-${name}`,
      clicked_at: now,
      subs: { sub1 },
    },
  })
  await storeClicks(
    env.DB,
    links.flatMap(({ link_id, affiliate_id }: Record<string, string>) => [
      click(link_id ?? '', `1-${affiliate_id}`, 'tg'),
      click(link_id ?? '', `2-${affiliate_id}`, `of-${affiliate_id}`),
    ]),
  )
  const day = new Date(now).toISOString().slice(0, 10)
  const query = `from=${day}&to=${day}&metrics=clicks&group_by=`
  const { data } = await json(askWith(key, `reports?${query}link,sub1`))
  const own = links.find((one: { affiliate_id: string }) => one.affiliate_id === 'own').link_id
  expect(
    data.map(({ groups, metrics }: Record<string, object>) => ({ ...groups, ...metrics })),
  ).toEqual([
    { link: own, sub1: 'of-own', clicks: 1 },
    { link: own, sub1: 'tg', clicks: 1 },
  ])
  const firm = await json(askAdmin(`${world.path}/reports?${query}affiliate_id,link,sub1`))
  type Row = { groups: { affiliate_id?: string } }
  const rows = firm.data.filter(({ groups }: Row) => groups.affiliate_id === 'own')
  expect(data).toEqual(
    rows.map(({ groups: { affiliate_id: _, ...groups }, ...row }: Row) => ({ groups, ...row })),
  )
})

test('a report is in the currency in which the affiliate is paid, unless another is named', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const report = async (query = '') => json(askWith(key, `reports?${DAYS}${query}`))
  const owed = await report('&metrics=commission_owed,deposit_amount')
  expect(owed).toMatchObject({ currency: 'EUR' })
  expect(owed).toEqual(await report('&metrics=commission_owed,deposit_amount&currency=EUR'))
  expect(await report('&currency=USD')).toMatchObject({ currency: 'USD' })
  expect(await report()).toMatchObject({ currency: 'EUR' })
  expect((await report('&metrics=clicks')).totals).toEqual(
    (await report('&metrics=clicks&currency=EUR')).totals,
  )
  await env.DB.exec("delete from statements where affiliate_id = 'own'")
  expect(await report()).toMatchObject({ currency: 'USD' })
})

test('drafts are seen only if the account shows them', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const id = `statements/${world.statementOf('own').id}`
  const [line] = await world.shownLinesOf(key, 'own')
  await world.show({ drafts: false })
  const missing = await refusal(await askWith(key, `statements/st_${'0'.repeat(40)}`))
  expect((await json(askWith(key, 'statements'))).data).toEqual([])
  expect((await json(askWith(key, `overview?${DAYS}`))).earned).toEqual([])
  const owed = async (of = key) =>
    (await json(askWith(of, `reports?${DAYS}&currency=EUR&metrics=commission_owed`))).totals.metrics
  expect(await owed()).toEqual({ commission_owed: null })
  expect(await refusal(await askWith(key, id))).toEqual(missing)
  const explain = `lines/${line?.id}/explain`
  expect((await askWith(key, explain)).status).toBe(404)
  expect((await askWith(key, explain.replace('explain', 'parts'))).status).toBe(404)
  const { hash } = world.statementOf('own')
  const approved = await askAdmin(`${world.path}/${id}/approve`, 'POST', {
    ...{ hash, leave_out_holds: true },
  })
  expect(approved.status).toBe(200)
  expect((await json(askWith(key, 'statements'))).data).toHaveLength(1)
  expect((await askWith(key, explain)).status).toBe(200)
  expect(Number((await owed()).commission_owed)).toBeGreaterThan(0)
  // What is approved of this affiliate says nothing of the drafts of another one.
  expect(await owed(await world.makeKey('other'))).toEqual({ commission_owed: null })
  const { pending, balances } = await json(askWith(key, `overview?${DAYS}`))
  expect(balances[0]).toMatchObject({ currency: 'EUR' })
  expect(pending).toMatchObject({ waiting: 1 })
})

test('§18.1 without drafts, the explanation of an approved line says nothing of what a draft corrects', async () => {
  const world = await affiliateWorld()
  await correctOctober(world)
  const key = await world.makeKey('own')
  const lines = await world.shownLinesOf(key, 'own')
  const share = lines
    .filter(({ rule }) => rule === 'share')
    .find(({ amount }) => amount !== '10.30')
  const explain = `lines/${share?.id}/explain`
  const drafted = await json(askWith(key, explain))
  expect(drafted.corrections).toMatchObject([{ status: 'draft', amount: '90.00' }])
  expect(drafted.line.amount).toBe(share?.amount)
  await world.show({ drafts: false })
  expect(await json(askWith(key, explain))).toEqual({ ...drafted, corrections: [] })
  const text = await (await askWith(key, explain, 'text/plain')).text()
  expect(text).not.toContain('90.00')
})

describe('the figures of an affiliate', () => {
  /** What the firm reads by the filter, and the affiliate without it. */
  const SAME = [
    ['statements', 'statements?affiliate_id=own'],
    ['unearned?period=2026-10', 'unearned?period=2026-10&affiliate_id=own'],
    ['unearned/facts?period=2026-10', 'unearned/facts?period=2026-10&affiliate_id=own'],
    ['links', 'links?affiliate_id=own'],
  ] as const

  test('are those of the firm for the same filter, to the byte', async () => {
    const world = await affiliateWorld()
    await world.show({ customer_ids: 'plain' })
    const key = await world.makeKey('own')
    const lines = await world.linesOf('own')
    const shown = await world.shownLinesOf(key, 'own')
    const statement = `statements/${world.statementOf('own').id}`
    const pairs = [
      ...SAME,
      [statement, statement] as const,
      ...lines.map(
        ({ id }, i) => [`lines/${shown[i]?.id}/explain`, `lines/${id}/explain`] as const,
      ),
      ...lines.flatMap(({ id, scope }, i) =>
        scope.startsWith('affiliate:')
          ? []
          : [[`lines/${shown[i]?.id}/parts`, `lines/${id}/parts`] as const],
      ),
    ]
    // What is a digest of ids of customers has a key of the affiliate's own.
    const textOf = async (response: Response) =>
      (await response.text())
        .replaceAll(/\b(lin|adj)_([\da-f]{24})[\da-f]+/g, '$1_$2')
        .replaceAll(/\b[\da-f]{64}\b/g, 'hash')
        // Of what is not approved, there is no money.
        .replaceAll(',"money":null', '')
    for (const [own, firm] of pairs) {
      const [mine, theirs] = [await askWith(key, own), await askAdmin(`${world.path}/${firm}`)]
      expect([own, await textOf(mine)]).toEqual([own, await textOf(theirs)])
    }
    const address = `statements/${world.statementOf('own').id}`
    const theirs = await askAdmin(`${world.path}/${address}`, 'GET', undefined, {
      Accept: 'text/csv',
    })
    expect(await textOf(await askWith(key, address, 'text/csv'))).toBe(await textOf(theirs))
  })

  test('in reports are the rows that the firm has of them', async () => {
    const world = await affiliateWorld()
    const key = await world.makeKey('own')
    const read = (query: string) => json(askWith(key, `reports?${DAYS}${query}`))
    const firm = (query: string) =>
      json(askAdmin(`${world.path}/reports?${DAYS}&currency=EUR${query}`))
    const own = await read('&group_by=month')
    const all = await firm('&group_by=affiliate_id,month')
    type Row = { groups: { affiliate_id?: string } }
    const expected = all.data
      .filter(({ groups }: Row) => groups.affiliate_id === 'own')
      .map(({ groups: { affiliate_id: _, ...groups }, ...row }: Row) => ({ groups, ...row }))
    expect(own.data).toEqual(expected)
    const [totals] = (await firm('&group_by=affiliate_id')).data.filter(
      ({ groups }: Row) => groups.affiliate_id === 'own',
    )
    expect(own.totals).toEqual({ metrics: totals.metrics, unconverted: totals.unconverted })
    expect((await read('')).totals).toEqual(own.totals)
  })

  test('of all affiliates together are what the firm has', async () => {
    const world = await affiliateWorld()
    await world.show({ customer_ids: 'plain' })
    const seen: string[] = []
    for (const who of AFFILIATES) {
      const { data } = await json(askWith(await world.makeKey(who), 'customers?period=2026-10'))
      seen.push(...data.map(({ customer }: { customer: string }) => customer))
    }
    const { data } = await json(askAdmin(`${world.path}/customers`))
    const all = data.map(({ customer_id }: { customer_id: string }) => customer_id)
    expect(seen.sort()).toEqual(all.sort())
  })
})

test('a customer who moved is seen by each affiliate with their own days only', async () => {
  const world = await affiliateWorld()
  await world.show({ customer_ids: 'plain' })
  const [own, other] = [await world.makeKey('own'), await world.makeKey('other')]
  const moved = await askAdmin(`${world.path}/customers/c-own-waits/affiliations`, 'PUT', {
    reason: 'Agreed',
    affiliations: [
      { affiliate_id: 'own', from: null },
      { affiliate_id: 'other', from: '2026-10-03' },
    ],
  })
  expect(moved.status).toBeLessThan(300)
  const daysOf = async (key: string) => {
    const { data } = await json(
      askWith(key, 'unearned/facts?period=2026-10&customer_id=c-own-waits'),
    )
    return data.map(({ day }: { day: string }) => day)
  }
  expect(await daysOf(own)).not.toContain('2026-10-03')
  expect(await daysOf(other)).toContain('2026-10-03')
})

describe('every route of the service', () => {
  const routes = app.routes.filter(({ method }) => method !== 'ALL')

  /** What a key of an affiliate gets at each group of routes; null: as without credentials. */
  const EXPECTED: readonly (readonly [beginning: string, status: number | null])[] = [
    ['/api/v1/', 401],
    ['/tracking/events/', 401],
    ['/admin/v1/', 401],
    ['/affiliate/v1/', 200],
    ['', null],
  ]

  test('answers the key of an affiliate as the table says', async () => {
    const world = await affiliateWorld()
    const key = await world.makeKey('own')
    const [line] = await world.shownLinesOf(key, 'own')
    const writer = await world.makeKey('own', { scope: 'read links' })
    const make = (path: string, body: object) => {
      const headers = { Authorization: `Bearer ${writer}`, 'Content-Type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return json(ask(`/affiliate/v1/${path}`, init))
    }
    const url = 'https://tracker.example/'
    const postback = await make('postbacks', { url, events: ['signup'] })
    const question = await make('questions', {
      ...{ statement: world.statementOf('own').id, text: 'Why?' },
    })
    const [link] = (await json(askWith(key, 'links'))).data
    const addressOf = (path: string) =>
      path
        .replace(':statement_id', world.statementOf('own').id)
        .replace(':line_id', line?.id ?? '')
        .replace(':link_id', link?.link_id ?? '')
        .replace(':postback_id', postback.id)
        .replace(':question_id', question.id)
        .replace(/\/(reports|overview|sub-affiliates)$/, `$&?${DAYS}`)
        .replace(/\/unearned(\/facts)?$/, '$&?period=2026-10')
    for (const { method, path } of routes) {
      const [, status] = EXPECTED.find(([beginning]) => path.startsWith(beginning)) ?? []
      if (status === undefined || status === null) continue
      const headers = { Authorization: `Bearer ${key}` }
      const response = await ask(addressOf(path), { method, headers })
      await response.text()
      // A key that only reads changes nothing.
      const expected = status === 200 && method !== 'GET' ? 403 : status
      expect([method, path, response.status]).toEqual([method, path, expected])
    }
  })

  test('of affiliates refuses one who is suspended, ended, or of a disabled account', async () => {
    const world = await affiliateWorld()
    const key = await world.makeKey('own', { scope: 'read links' })
    const statusOf = async () =>
      Promise.all(
        routes
          .filter(({ path }) => path.startsWith('/affiliate/v1/'))
          .map(async ({ path, method }) => {
            const headers = { Authorization: `Bearer ${key}` }
            return (await json(ask(path, { method, headers }))).code
          }),
      )
    const put = (status: string) =>
      askAdmin(`${world.path}/affiliates`, 'PUT', [{ affiliate_id: 'own', status }])
    await put('suspended')
    expect(new Set(await statusOf())).toEqual(new Set(['affiliate_suspended']))
    await put('active')
    expect((await askWith(key, 'me')).status).toBe(200)
    await askAdmin(world.path, 'PATCH', { disabled: true })
    expect(new Set(await statusOf())).toEqual(new Set(['invalid_affiliate_key']))
    await askAdmin(world.path, 'PATCH', { disabled: false })
    await env.DB.prepare("delete from affiliates where affiliate_id = 'own'").run()
    expect(new Set(await statusOf())).toEqual(new Set(['invalid_affiliate_key']))
  })
})

test('a reading that depends on too many records is refused', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const limits = [{ ...REQUEST_LIMITS }, { ...REPORT_LIMITS }]
  REQUEST_LIMITS.facts = 1
  REPORT_LIMITS.figures = 1
  try {
    const addresses = ['customers?period=2026-10', `overview?${DAYS}`, `sub-affiliates?${DAYS}`]
    for (const address of addresses) {
      expect([address, await json(askWith(key, address))]).toMatchObject([
        address,
        { status: 422, code: 'validation_failed' },
      ])
    }
  } finally {
    Object.assign(REQUEST_LIMITS, limits[0])
    Object.assign(REPORT_LIMITS, limits[1])
  }
})
