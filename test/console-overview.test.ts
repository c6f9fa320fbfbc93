import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { statementRows } from './commission/statement-rows.ts'
import { assign, monthly, storePlan } from './commission/stored.ts'
import { KEY_WORLD, signedIn } from './console/browser.ts'
import { ada, deposit, issuedPartner as partner } from './partner.ts'

// The overview of an account: what it owes, and its new customers.

const AT = '/console/accounts/acme'
const MONTH = new Date().toISOString().slice(0, 7)
const BEFORE = new Date(Date.parse(`${MONTH}-01`) - 86_400_000).toISOString().slice(0, 7)

const textOf = (html: string) =>
  html
    .slice(html.indexOf('<main'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')

const readAs = async (browser: Awaited<ReturnType<typeof signedIn>>, path: string) =>
  textOf(await (await browser.get(`${AT}${path}`)).text())

test('the funnel of new customers ends with those who qualified', async () => {
  const acme = await partner('forex', { account: 'acme', affiliates: ['aff-7'] })
  const cpa = {
    ...{ id: 'cpa', kind: 'once' as const, amount: '200' },
    trigger: { transactions: ['deposit'], min: '100' },
  }
  await storePlan('acme', 'ib', monthly([cpa]))
  await assign('acme', 'ib', '*')
  const now = new Date().toISOString()
  for (const [n, amount_currency] of [150, 99].entries()) {
    const customer_id = `c-${n}`
    const customer = { ...ada, customer_id, signup_date: now, affiliate_id: 'aff-7' }
    const own = { transaction_id: `t-${n}`, customer_id, amount_currency, transaction_date: now }
    expect([
      (await acme.post('customers', customer)).status,
      (await acme.post('transactions', { ...deposit, ...own })).status,
    ]).toEqual([201, 201])
  }

  expect(await readAs(await signedIn(), '')).toMatch(
    /Signups 2 0 before With an affiliate 2 0 before First deposits 2 0 before Qualified 1 0 before/,
  )
})

test('what an open period owes so far stands beside the whole period before, without a share', async () => {
  await partner('forex', { account: 'acme' })
  const store = (period: string, total: string) => [
    ...statementRows(env.DB, 'acme', period).slice(0, 1),
    env.DB.prepare(
      `update statements set period = ?1, id = 'stm_' || ?1,
         statement = json_set(statement, '$.total', ?2) where affiliate_id = ?1`,
    ).bind(period, total),
  ]
  await env.DB.batch([...store(BEFORE, '200.00'), ...store(MONTH, '50.00')])

  expect(await readAs(await signedIn(), '')).toMatch(
    /50\.00 EUR \w+ \d{4} as a whole: 200\.00 EUR So far, \d+ of \d+ days/,
  )
})

test('a viewer is told that a manager can compute drafts', async () => {
  await partner('forex', { account: 'acme' })
  await env.DB.batch(statementRows(env.DB, 'acme').slice(0, 1))
  const key = 'v'.repeat(40)
  const world = { ...KEY_WORLD, ADMIN_KEYS: JSON.stringify({ vi: { key, role: 'viewer' } }) } as Env
  const text = await readAs(await signedIn(world, undefined, key), '/statements?period=2026-10')
  expect(text).toContain(
    'A manager can compute the drafts of October 2026 again, such as after a correction.',
  )
  expect(text).not.toContain('Compute the drafts')
})
