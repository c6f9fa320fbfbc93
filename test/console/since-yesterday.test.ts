import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ulid } from '../../src/platform/db/ulid.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { statementRows } from '../commission/statement-rows.ts'
import { storeCases, storeRule } from '../fraud/stored-cases.ts'
import { ada, askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { KEY_WORLD, signedIn } from './browser.ts'

// What has changed since yesterday: the API, and the counts of the overview.

const AT = '/console/accounts/acme'
const dayOf = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
const noon = (ago: number) => Date.parse(`${dayOf(ago)}T12:00:00Z`)

const changesOf = (account = 'acme') => json(askAdmin(`accounts/${account}/changes`))

/** Returns the HTML of the section. */
async function readSection() {
  const browser = await signedIn(KEY_WORLD)
  const html = await (await browser.get(AT)).text()
  const [section = ''] = /<section id="since-yesterday">.*?<\/section>/s.exec(html) ?? []
  return { browser, section }
}

/** Stores a statement that was approved so many days ago. */
const approved = (id: string, total: string, ago: number) => [
  ...statementRows(env.DB, 'acme', id).slice(0, 1),
  env.DB.prepare(
    `update statements set id = 'stm_' || ?1, status = 'approved', approval = ?2,
       statement = json_set(statement, '$.total', ?3) where affiliate_id = ?1`,
  ).bind(id, ulid(noon(ago)), total),
]

const arrived = (ago: number, received: number, rejected: number) =>
  env.DB.prepare(
    `insert into arrivals (account, hour, resource, received, rejected, last_at)
     values ('acme', ?, 'trading-activity', ?, ?, ?)`,
  ).bind(Math.floor(noon(ago) / 3_600_000), received, rejected, noon(ago))

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
  await env.DB.prepare(`delete from arrivals`).run()
  await env.DB.batch([
    ...[arrived(1, 1204, 3), arrived(2, 1180, 0), arrived(3, 7, 7)],
    ...[...approved('aff-7', '100.00', 1), ...approved('aff-8', '0.25', 1)],
    ...approved('aff-9', '1000.00', 3),
  ])
  await storeRule('acme')
  const own = { account: 'acme', action: 'flag', openedAt: noon(0) } as const
  const day = (ago: number) => Math.floor(noon(ago) / DAY_MS)
  await storeCases(
    { ...own, id: 'case_1', affiliate: 'aff-7', openedFor: day(1), action: 'hold' },
    { ...own, id: 'case_2', affiliate: 'aff-8', openedFor: day(1) },
    { ...own, id: 'case_3', affiliate: 'aff-8', rule: 'other', openedFor: day(3) },
  )
  return acme
}

test('the API says what has changed since the start of yesterday', async () => {
  await createAccount()

  expect(await changesOf()).toEqual({
    since: `${dayOf(1)}T00:00:00.000Z`,
    yesterday: dayOf(1),
    ...{ signups: 2, records: 1204, approved_statements: 2, cases_opened: 2 },
  })
})

test('an account in which nothing has happened has no changes and no section', async () => {
  await partner('forex', { account: 'acme', affiliates: [] })

  const none = { signups: 0, records: 0, approved_statements: 0, cases_opened: 0 }
  expect(await changesOf()).toMatchObject(none)
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

test('each number with a link leads to a list of as many', async () => {
  await createAccount()
  const { browser, section } = await readSection()
  const counted = [...section.matchAll(/<a href="([^"]+)">([\d,]+) \w+<\/a>/g)]
  const lengths = await Promise.all(
    counted.map(async ([, to = '', number = '']) => {
      const page = await (await browser.get(to.replaceAll('&amp;', '&'))).text()
      const text = page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
      const [, name = ''] = /acme\/([a-z-]+)/.exec(to) ?? []
      const [, total] = /(\d+) in total/.exec(text) ?? []
      return [name, number, total]
    }),
  )
  expect(lengths).toEqual([['customers', '2', '2']])
})
