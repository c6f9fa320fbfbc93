import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { bindStatement, compileStatement } from '../../src/db/statement.ts'
import { ulid } from '../../src/db/ulid.ts'
import { DAY_MS } from '../../src/durations.ts'
import { statementRows } from '../commission/statement-rows.ts'
import { storeCases, storeEndedHold, storeRule } from '../fraud/stored-cases.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner } from '../partner.ts'
import { KEY_WORLD, signedIn } from './browser.ts'

// What has changed since yesterday: the API, and the sentences of the overview.

const AT = '/console/accounts/acme'
const dayOf = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
const noon = (ago: number) => Date.parse(`${dayOf(ago)}T12:00:00Z`)

const NO_DAYS = { day_before: 0, yesterday: 0, today: 0 }

const changesOf = (account = 'acme') => json(askAdmin(`accounts/${account}/changes`))

/** Returns the sentences of the section, and its HTML. */
async function readSection(world = KEY_WORLD, key?: string) {
  const browser = await signedIn(world, undefined, key)
  const html = await (await browser.get(AT)).text()
  const [section = ''] = /<section id="since-yesterday">.*?<\/section>/s.exec(html) ?? []
  const sentences = [...section.matchAll(/<li>(.*?)<\/li>/gs)].map(([, text = '']) =>
    text
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
  const links = [...section.matchAll(/href="([^"]+)"/g)].map(([, to = '']) =>
    to.replaceAll('&amp;', '&'),
  )
  return { browser, section, sentences, links }
}

/** Stores a statement that was approved so many days ago. */
const approved = (id: string, total: string, ago: number) => [
  ...statementRows(env.DB, 'acme', id).slice(0, 1),
  env.DB.prepare(
    `update statements set id = 'stm_' || ?1, status = 'approved', approval = ?2,
       statement = json_set(statement, '$.total', ?3) where affiliate_id = ?1`,
  ).bind(id, ulid(noon(ago)), total),
]

/** Stores a payment that was recorded so many days ago, and made then or earlier. */
const payment = (reference: string, ago: number, paidAgo = ago) =>
  bindStatement(
    env.DB,
    compileStatement(`insert into payments (account, reference, affiliate_id, currency, amount, paid_on,
      statements, actor, at, folded_reference)
      values ('acme', :reference, 'aff-7', 'EUR', '12.50', :day, '[]', 'ada', :at, :reference)`),
    { reference, day: dayOf(paidAgo), at: new Date(noon(ago)).toISOString() },
  )

const question = (affiliate: string, ago: number) =>
  bindStatement(
    env.DB,
    compileStatement(`insert into affiliate_questions (account, id, affiliate_id, about, subject, statement,
      period, customer_id, status, asked_at)
      values ('acme', :id, :affiliate, 'customer', 'c-1', null, null, 'c-1', 'open', :at)`),
    { id: `qst_${ulid(noon(ago))}`, affiliate, at: new Date(noon(ago)).toISOString() },
  )

const arrived = (ago: number, received: number, refused: number) =>
  env.DB.prepare(
    `insert into arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday, today)
     values ('acme', ?, 'trading-activity', 1, ?, ?, ?, 0, 0)`,
  ).bind(Math.floor(noon(ago) / 3_600_000), received, refused, noon(ago))

/** Stores something of yesterday, of the day before, and of earlier days that is not told. */
async function createAccount() {
  const acme = await partner('forex', { account: 'acme', affiliates: [] })
  await askAdmin('accounts/acme/affiliates', 'PUT', [
    { affiliate_id: 'aff-7', display_name: 'Alpha' },
    { affiliate_id: 'aff-8' },
  ])
  const signedUp = [1, 1, 2, 9].map((ago, n) => ({
    ...{ ...ada, customer_id: `c-${n}`, affiliate_id: 'aff-7' },
    signup_date: new Date(noon(ago)).toISOString(),
  }))
  await acme.post('customers', signedUp)
  // The last customer has deposited before; a withdrawal and a deposit that is not approved do not count.
  const paid = (n: number, ago: number, more: object = {}) => ({
    ...{ ...deposit, transaction_id: `t-${n}-${ago}`, customer_id: `c-${n}`, ...more },
    transaction_date: new Date(noon(ago)).toISOString(),
  })
  await acme.post('transactions', [
    ...[paid(0, 1), paid(2, 2), paid(2, 1), paid(3, 8), paid(3, 1)],
    paid(1, 1, { status: 'pending' }),
  ])
  await env.DB.prepare(`delete from arrivals`).run()
  await env.DB.batch([
    ...[arrived(1, 1204, 3), arrived(2, 1180, 0), arrived(3, 7, 7)],
    ...[...approved('aff-7', '100.00', 1), ...approved('aff-8', '0.25', 1)],
    ...[...approved('aff-9', '1000.00', 3), payment('BANK-1', 1), payment('BANK-2', 5)],
    ...[question('aff-8', 1), question('aff-7', 4)],
  ])
  await storeRule('acme')
  const own = { account: 'acme', openedFor: 20_000, action: 'flag' } as const
  await storeCases(
    { ...own, id: 'case_1', affiliate: 'aff-7', openedAt: noon(1), action: 'hold' },
    { ...own, id: 'case_2', affiliate: 'aff-8', openedAt: noon(1) },
    { ...own, id: 'case_3', affiliate: 'aff-8', rule: 'other', openedAt: noon(3) },
  )
  await storeEndedHold('case_3', { holds: 0, account: 'acme' })
  await env.DB.prepare('update fraud_ended_holds set ended_at = ?').bind(noon(1)).run()
  return acme
}

test('the API says what has changed since the start of yesterday', async () => {
  await createAccount()

  expect(await changesOf()).toEqual({
    since: `${dayOf(1)}T00:00:00.000Z`,
    yesterday: dayOf(1),
    signups: { day_before: 1, yesterday: 2, today: 0 },
    first_deposits: { day_before: 1, yesterday: 1, today: 0 },
    records: { day_before: 1180, yesterday: 1204, today: 0 },
    refused_records: { day_before: 0, yesterday: 3, today: 0 },
    approved_statements: {
      ...{ count: 2, amounts: [{ currency: 'EUR', amount: '100.25' }], periods: ['2026-10'] },
    },
    payments: {
      ...{ count: 1, amounts: [{ currency: 'EUR', amount: '12.50' }] },
    },
    returned_payments: 0,
    cases_opened: { count: 2, holding: 1, affiliates: ['aff-7', 'aff-8'] },
    holds_ended: 1,
  })
})

test('an account in which nothing has happened has no changes and no section', async () => {
  await partner('forex', { account: 'acme', affiliates: [] })

  expect(await changesOf()).toMatchObject({
    ...{ signups: NO_DAYS, records: NO_DAYS, refused_records: NO_DAYS, returned_payments: 0 },
    ...{ approved_statements: { count: 0 }, payments: { count: 0 } },
    ...{ cases_opened: { count: 0 }, holds_ended: 0 },
  })
  expect((await readSection()).section).toBe('')
})

test('yesterday is that of the time zone of the records', async () => {
  const book_zone = 'Pacific/Kiritimati'
  await partner('forex', { account: 'acme', book_zone })
  // The zone is 14 hours ahead of UTC.
  const today = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10)
  const since = new Date(Date.parse(`${today}T00:00:00+14:00`) - DAY_MS)

  expect(await changesOf()).toMatchObject({
    since: since.toISOString(),
    yesterday: new Date(Date.parse(today) - DAY_MS).toISOString().slice(0, 10),
  })
})

test('payments that came back count by the audit log', async () => {
  await createAccount()
  const log = (action: string, details: object) =>
    env.DB.prepare('insert into audit_log values (?, ?, ?, ?, ?, ?)').bind(
      ...[ulid(Date.now()), new Date().toISOString(), 'ada', action, 'acme'],
      JSON.stringify(details),
    )
  await env.DB.batch([
    log('statement.return', { payment: 'BANK-1' }),
    log('payouts.book', { paid: 3, returned: 2, statements: 5 }),
  ])

  expect(await changesOf()).toMatchObject({
    returned_payments: 3,
  })
})

test.each([
  ['statements?approved_since=yesterday', '`approved_since` must be an RFC 3339 date-time'],
  ['statements?fresh=true&affiliate_id=a&approved_since=2026-10-01T00:00:00Z', '`fresh` computes'],
  ['payouts?status=paid&recorded_since=1', '`recorded_since` must be an RFC 3339 date-time'],
  ['payouts?returned_since=2026-10-01T00:00:00Z', '`returned_since` narrows `status=paid` only.'],
])('%s is refused', async (path, detail) => {
  await partner('forex', { account: 'acme', affiliates: [] })
  const response = await askAdmin(`accounts/acme/${path}`)
  expect(response.status).toBe(400)
  expect((await response.json<{ detail: string }>()).detail).toContain(detail)
})

test('each number with a link leads to a list of as many', async () => {
  await createAccount()
  await env.DB.prepare(
    `insert into payment_returns (account, payment, reference, returned_on, reason, actor, at, folded_reference)
     values ('acme', 'BANK-2', 'R-2', ?, 'Closed', 'ada', ?, 'r-2')`,
  )
    .bind(dayOf(1), new Date(noon(1)).toISOString())
    .run()
  await env.DB.prepare('insert into audit_log values (?, ?, ?, ?, ?, ?)')
    .bind(
      ...[ulid(noon(1)), new Date(noon(1)).toISOString(), 'ada', 'statement.return', 'acme'],
      JSON.stringify({ payment: 'BANK-2' }),
    )
    .run()
  const { browser, section } = await readSection()
  const counted = [...section.matchAll(/<a href="([^"]+)">([\d,]+) \w+<\/a>/g)]
  const lengths = await Promise.all(
    counted.map(async ([, to = '', number = '']) => {
      const page = await (await browser.get(to.replaceAll('&amp;', '&'))).text()
      const text = page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
      const [, name = ''] = /acme\/([a-z-]+)/.exec(to) ?? []
      // A report has a row for each affiliate, and its total.
      const [, total] = /(\d+) in total/.exec(text) ?? /Total ([\d,]+)/.exec(text) ?? []
      return [name, number, total]
    }),
  )
  expect(lengths).toEqual([
    ['customers', '2', '2'],
    ['reports', '1', '1'],
    ['statements', '2', '2'],
    ['payouts', '1', '1'],
    ['payouts', '1', '1'],
    ['cases', '2', '2'],
  ])
})
