import { expect, test } from 'vitest'
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

test('the figures of this month are compared with the same days of the month before', async () => {
  const acme = await partner('forex', { account: 'acme', affiliates: ['aff-7'] })
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
    /This month Signups 2 none before Attributed signups 2 none before First deposits 2 none before Compared with 1 \w+ \d{4}.*, the same days of the month before\./,
  )
})
