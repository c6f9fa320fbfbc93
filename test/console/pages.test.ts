import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { BOOK_PERIOD, bookRows, statementRows } from '../commission/statement-rows.ts'
import { monthly, storePlan } from '../commission/stored.ts'
import { keyOfRole } from '../members.ts'
import { ada, askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { KEY_WORLD, signedIn } from './browser.ts'

// What single pages of the console show, and where they lead.

const AT = '/console/accounts/acme'
async function open() {
  const acme = await partner('forex', { account: 'acme', affiliates: ['aff-7'] })
  await acme.post('customers', ada)
  const browser = await signedIn(KEY_WORLD, undefined, await keyOfRole('approver'))
  const read = async (path: string) => (await browser.get(`${AT}${path}`)).text()
  const change = async (path: string, fields: Record<string, string>) => {
    const at = `${AT}${path}`
    return browser.post(at, { csrf: await browser.csrf(at), ...fields })
  }
  return { acme, read, change }
}

test('a form is sent to the address of its page without a fragment', async () => {
  const { read } = await open()
  const form = /<form method="post" action="([^"]*)" class="change" id="change-refuse"/
  const page = await read(`/customers/${ada.customer_id}?resource=transactions`)
  expect(form.exec(page)?.[1]).toBe(`${AT}/customers/${ada.customer_id}?resource=transactions`)
})

test('a customer is refused, from the beginning, which changes what is closed', async () => {
  const { read, change } = await open()
  await storePlan('acme', 'ib', monthly([]))
  await env.DB.exec("insert into closed_periods values ('acme', 'ib', '2030-01', 1)")
  const path = `/customers/${ada.customer_id}`
  const refusal = { change: 'refuse', reason: 'self-referral' }
  expect((await change(path, refusal)).status).toBe(303)
  const page = await read(path)
  expect(page).toContain('from the beginning: <bdi>self-referral</bdi>')
  expect(page).toContain('The change governs closed periods of 1 customer.')
})

test('drafts that pay nothing are nothing to do', async () => {
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
  const all = async () => (await (await signedIn()).get('/console')).text()
  expect(await all()).not.toMatch(/statements? to approve/)
  expect(await read('')).not.toContain('Not approved, although')

  await env.DB.batch(move('2026-09', '5.00'))
  expect(await read('/statements')).toContain('<h1>Statements of September 2026</h1>')
  // The list of accounts and the overview count the same.
  expect(await all()).toMatch(/period=2026-09&amp;status=draft">1 statement to approve/)
  expect(await read('')).toMatch(/>1<\/span> Not approved, although the period has ended/)
})

test('a link is disabled and enabled again by its form, which shows no name where there is none', async () => {
  const { acme, read, change } = await open()
  const path = `accounts/${acme.account}/links`
  const page = { affiliate_id: 'aff-7', landing_page: 'https://acme.example/' }
  const { link_id } = await json(askAdmin(path, 'POST', page))
  const at = `/links?link_id=${link_id}`
  const isDisabled = async () => (await json(askAdmin(path))).data[0].disabled

  expect(await read(at)).toMatch(/<input type="hidden" name="was:name" value=""/)
  await change(at, { change: 'save', 'was:disabled': 'false', disabled: 'true' })
  expect(await isDisabled()).toBe(true)
  await change(at, { change: 'save', 'was:disabled': 'true', disabled: 'false' })
  expect(await isDisabled()).toBe(false)
})

test('a statement without held records says nothing of them', async () => {
  const { read } = await open()
  await env.DB.batch(bookRows(env.DB, 'acme'))
  const page = await read(`/statements?period=${BOOK_PERIOD}`)
  expect(page).toContain('aff-7')
  expect(page).not.toContain('on hold')
})

test('an approval that approves nothing does not lead to the payouts', async () => {
  const { read, change } = await open()
  await storePlan('acme', 'lined', monthly([]))
  await env.DB.batch([
    ...bookRows(env.DB, 'acme'),
    env.DB.prepare(
      `insert into statement_runs (account, id, period, status, affiliates, steps, started_at, ended_at, position)
       values ('acme', 'run_' || ?1, ?1, 'done', 1, 1, ?2, ?2, 1e15)`,
    ).bind(BOOK_PERIOD, '2026-11-01T00:00:00.000Z'),
  ])
  await askAdmin('accounts/acme', 'PATCH', { approvals: 2 })
  const page = `/statements?period=${BOOK_PERIOD}&status=draft&approve=yes`
  await read(page)
  const done = await (
    await change(page, { change: 'approve', period: BOOK_PERIOD, earlier: '' })
  ).text()
  expect(done).toContain('No statement was')
  expect(done).toContain('approved by another person')
  expect(done).not.toContain('Pay what is due')
})
