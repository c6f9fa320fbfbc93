import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json, register } from '../partner.ts'
import {
  approve,
  bookBack,
  bookPaid,
  digestOf,
  earning,
  idOf,
  rowsOf,
  type StatementRow,
} from './book-rows.ts'

const PATH = 'accounts/acme-forex'

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await storePlan('acme-forex', 'ib', monthly([]))
  await assign('acme-forex', 'ib')
})

const september = earning('a', '2024-09', '25.00')
const october = { ...earning('a', '2024-10', '5.50'), previous: digestOf(september) }
const [id, later] = [idOf(september), idOf(october)]

const show = (row: StatementRow) => json(askAdmin(`${PATH}/statements/${idOf(row)}`))

const balanceOf = async (affiliate: string) =>
  (await json(askAdmin(`${PATH}/affiliates/figures?affiliate_id=${affiliate}`))).data[0].balances[0]

const ledgerOf = async (affiliate: string) =>
  (await json(askAdmin(`${PATH}/ledger?affiliate_id=${affiliate}`))).data.map(
    ({ kind, amount, reference }: Record<string, string>) => [kind, amount, reference],
  )

const due = async () =>
  (await json(askAdmin(`${PATH}/payable`))).data.map(
    ({ affiliate_id, amount, statements }: { statements: object[] } & Record<string, unknown>) => [
      ...[affiliate_id, amount, statements.length],
    ],
  )

const owed = async () => {
  const query = 'from=2024-09-01&to=2024-10-31&metrics=commission_owed&currency=EUR'
  return (await json(askAdmin(`${PATH}/reports?${query}`))).totals
}

test('a payment that came back makes its statement due at once, and it is paid again by another', async () => {
  const hook = { url: 'https://hooks.example/', events: ['statement.paid', 'statement.returned'] }
  expect((await askAdmin(`${PATH}/webhooks`, 'POST', hook)).status).toBe(201)
  await approve(september)
  const owedBefore = await owed()
  const { computed_at, approved_at, hash } = await show(september)
  await bookPaid([id], 'SEPA-1')
  expect(await due()).toEqual([])

  expect(await bookBack(id)).toBe(true)
  expect(await bookBack(id)).toBe(false)
  const returned = {
    ...{ payment: 'SEPA-1', returned_on: '2024-12-03', reason: 'Account closed' },
  }
  expect(await show(september)).toMatchObject({
    ...{ status: 'approved', paid: null, returned, computed_at, approved_at, hash },
  })
  expect(await ledgerOf('a')).toEqual([
    ['earned', '25.00', null],
    ['paid', '-25.00', 'SEPA-1'],
    ['returned', '25.00', 'SEPA-1'],
  ])
  expect(await balanceOf('a')).toEqual({ currency: 'EUR', balance: '25.00', due: '25.00' })
  expect(await due()).toEqual([['a', '25.00', 1]])
  expect(await owed()).toEqual(owedBefore)

  expect(await bookPaid([id], 'SEPA-1')).toBe(false)
  expect(await bookPaid([id], 'SEPA-2', '2024-12-10')).toBe(true)
  expect(await show(september)).toMatchObject({
    ...{ status: 'paid', paid: { reference: 'SEPA-2', paid_on: '2024-12-10' }, returned },
  })
  expect((await ledgerOf('a')).at(-1)).toEqual(['paid', '-25.00', 'SEPA-2'])
  expect(await balanceOf('a')).toEqual({ currency: 'EUR', balance: '0.00', due: '0.00' })
  expect(await due()).toEqual([])
  expect(await owed()).toEqual(owedBefore)
  const statement = { statement_id: id, amount: '25.00', currency: 'EUR' }
  const events = (await rowsOf('webhook_events')).map(({ type, data }) => [
    type,
    JSON.parse(String(data)),
  ])
  expect(events).toHaveLength(3)
  expect(events).toEqual(
    expect.arrayContaining([
      ['statement.paid', expect.objectContaining({ ...statement, reference: 'SEPA-1' })],
      [
        'statement.returned',
        {
          ...{ ...statement, affiliate_id: 'a', plan: 'ib', period: '2024-09' },
          ...{ payment: 'SEPA-1', returned_on: '2024-12-03' },
        },
      ],
      ['statement.paid', expect.objectContaining({ ...statement, reference: 'SEPA-2' })],
    ]),
  )
})

test('§16.33 what came back is due again, unticked and with its reason, and needs attention', async () => {
  await approve(september, earning('b', '2024-10', '9.00'))
  await bookPaid([id], 'R-1')
  await bookBack(id)
  await env.DB.prepare(
    `insert into transfers (account, id, batch, affiliate_id, payee_version, currency, amount, statements, state, reason, changed_at)
      values ('acme-forex', 'R-1', 'B', 'a', 0, 'EUR', '25.00', json_array(?), 'returned', 'Account closed', 1)`,
  )
    .bind(id)
    .run()
  const { data } = await json(askAdmin(`${PATH}/attention`))
  expect(data).toContainEqual({
    ...{ code: 'returned_payments', count: 1, names: ['a'] },
    detail:
      'Paid to `a`, but it came back, or the bank refused it: it is due again. Look at the bank details, then tick it in To pay.',
  })
  const browser = await signedIn()
  const page = await (await browser.get('/console/accounts/acme-forex/payouts')).text()
  const rows = page.split('<tr>').filter((row) => row.includes('name="tick'))
  expect(rows.map((row) => [/affiliates\/(\w)"/.exec(row)?.[1], / checked/.test(row)])).toEqual([
    ['a', false],
    ['b', false],
  ])
  expect(rows[0]).toMatch(/No bank details.*Came back<.*Account closed, on 3 Dec 2024/s)
})

test('a return brings back all statements that the payment paid', async () => {
  await approve(september, october)
  await bookPaid([id, later], 'R-1')
  await bookBack(later)
  for (const row of [september, october])
    expect(await show(row)).toMatchObject({ status: 'approved', returned: { payment: 'R-1' } })
  expect(await ledgerOf('a')).toHaveLength(6)
  expect(await due()).toEqual([['a', '30.50', 2]])
  await expect(
    env.DB.prepare(`update statements set status = 'draft' where payable <> '0'`).run(),
  ).rejects.toThrow(/never changes/)
})
