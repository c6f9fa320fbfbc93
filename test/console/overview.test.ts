import { expect, test } from 'vitest'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { ada, deposit, issuedPartner as partner } from '../partner.ts'
import { signedIn } from './browser.ts'

// The overview of an account: what it owes, and its new customers.

const AT = '/console/accounts/acme'

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
