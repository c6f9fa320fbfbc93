import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ada, askAdmin, json } from '../partner.ts'
import { bookFirm, LAST_MONTH, MONTHS, payment } from './book-firm.ts'
import { checkBooks, frozenOf } from './check-books.ts'

const BOOKS = [
  ...['statements', 'statement_lines', 'statement_approvals', 'closed_periods', 'open_affiliates'],
  ...['manual_entries', 'payments', 'payment_returns', 'ledger'],
]

const textOf = async (tables: readonly string[]) =>
  JSON.stringify(
    await env.DB.batch(tables.map((table) => env.DB.prepare(`select * from ${table}`))).then(
      (all) => all.map(({ results }) => results),
    ),
  )

test('an erasure leaves the books byte for byte, and they never hold a name or an e-mail address', async () => {
  const firm = await bookFirm()
  const eve = {
    ...{ ...ada, customer_id: 'c-0', affiliate_id: 'a-0', signup_date: '2030-05-20T08:00:00Z' },
    ...{
      email: 'eve@person.example',
      first_name: 'Evelyn',
      last_name: 'Quist',
      country_code: 'DE',
    },
  }
  expect((await firm.post('customers', [eve])).status).toBe(200)
  const [june, july] = [MONTHS[0]!, MONTHS[1]!]
  await firm.post('transactions', [payment(1, 0, june, 100), payment(2, 1, june, 50)])
  await firm.run(LAST_MONTH)
  await firm.enter('a-0', 'ib', '5', 'm-1')
  await firm.run(LAST_MONTH)
  await firm.approvePeriod('2030-05')
  expect(await json(firm.approvePeriod(june))).toMatchObject({ closed: true, refused: [] })
  expect(await firm.payDue()).toBe(0)
  // The adjustment of July names the record of the customer as its cause.
  await firm.post('transactions', [payment(1, 0, june, 300)])
  await firm.run(LAST_MONTH)
  expect(await json(firm.approvePeriod(july))).toMatchObject({ closed: true, refused: [] })
  const before = frozenOf(await checkBooks(firm.account))
  const text = await textOf(BOOKS)
  expect(text).toContain('c-0')

  const erased = await askAdmin(`${firm.path}/customers/c-0/personal-data`, 'DELETE')
  expect(erased.status).toBe(200)
  await firm.run(LAST_MONTH)
  const statements = await checkBooks(firm.account)
  expect(frozenOf(statements)).toEqual(before)
  // Nothing of it is corrected: the customer's records count as before, by their ids.
  const drafts = statements.filter(({ status }) => status === 'draft')
  expect(drafts.flatMap(({ adjustments }) => adjustments)).toEqual([])
  expect(await textOf(BOOKS)).toBe(text)
  for (const personal of [eve.email, eve.first_name, eve.last_name, ada.tracking_data]) {
    expect(text).not.toContain(personal)
  }
})
