import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json, register } from '../partner.ts'
import {
  approve,
  digestOf,
  earning,
  idOf,
  PAID_ON,
  pay,
  rowsOf,
  type StatementRow,
  storeRows,
} from './book-rows.ts'

const PATH = 'accounts/acme-forex'
const RETURNED_ON = '2024-12-03'

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await storePlan('acme-forex', 'ib', monthly([]))
  await assign('acme-forex', 'ib')
})

const september = earning('a', '2024-09', '25.00')
const october = { ...earning('a', '2024-10', '5.50'), previous: digestOf(september) }
const other = earning('b', '2024-10', '7.00')

const giveBack = (row: StatementRow, reference: string, more: object = {}) =>
  askAdmin(`${PATH}/statements/${idOf(row)}/return`, 'POST', {
    ...{ reference, returned_on: RETURNED_ON, reason: 'Account closed' },
    ...more,
  })

const show = (row: StatementRow) => json(askAdmin(`${PATH}/statements/${idOf(row)}`))

const balanceOf = async (affiliate: string) =>
  (await json(askAdmin(`${PATH}/affiliates/figures?affiliate_id=${affiliate}`))).data[0].balances[0]

const ledgerOf = async (affiliate: string) =>
  (await json(askAdmin(`${PATH}/ledger?affiliate_id=${affiliate}`))).data.map(
    ({ kind, amount, reference }: Record<string, string>) => [kind, amount, reference],
  )

const codeOf = async (response: Response | Promise<Response>) => {
  const { status, code, detail } = await json(response)
  return [status, code, detail]
}

const due = async () =>
  (await json(askAdmin(`${PATH}/payouts`))).data.map(
    ({ affiliate_id, amount, statements }: Record<string, unknown>) => [
      ...[affiliate_id, amount, statements],
    ],
  )

const book = (...rows: [affiliate_id: string, amount: string, reference: string][]) =>
  askAdmin(
    `${PATH}/payouts`,
    'POST',
    rows.map(([affiliate_id, amount, reference]) => ({
      ...{ affiliate_id, currency: 'EUR', amount, reference, paid_on: PAID_ON },
    })),
  )

const owed = async () => {
  const query = 'from=2024-09-01&to=2024-10-31&metrics=commission_owed&currency=EUR'
  return (await json(askAdmin(`${PATH}/reports?${query}`))).totals
}

const actions = async () =>
  (await json(askAdmin('audit-log'))).data.map(({ action }: { action: string }) => action)

describe('a payment that the bank returned', () => {
  test('makes its statement due at once, and is paid again with another reference', async () => {
    await approve(september)
    const owedBefore = await owed()
    await pay(september, 'SEPA-1')
    expect(await due()).toEqual([])

    const answer = await giveBack(september, 'RET-1')
    expect(answer.status).toBe(200)
    const returned = {
      payment: 'SEPA-1',
      reference: 'RET-1',
      returned_on: RETURNED_ON,
      reason: 'Account closed',
    }
    const { lines: _, adjustments: __, part: ___, parts: ____, ...shown } = await show(september)
    expect(await json(answer)).toEqual(shown)
    expect(shown).toMatchObject({ status: 'approved', paid: null, returned })
    expect(await ledgerOf('a')).toEqual([
      ['earned', '25.00', null],
      ['paid', '-25.00', 'SEPA-1'],
      ['returned', '25.00', 'RET-1'],
    ])
    expect(await balanceOf('a')).toEqual({ currency: 'EUR', balance: '25.00', due: '25.00' })
    expect(await due()).toEqual([['a', '25.00', 1]])
    expect(await owed()).toEqual(owedBefore)

    expect(await codeOf(pay(september, 'SEPA-1'))).toEqual([
      409,
      'reference_used',
      'The reference `SEPA-1` was used for the payment of 25.00 EUR to affiliate `a` on 2024-12-01, which came back on 2024-12-03. What is booked cannot be changed: give every payment and return a reference of its own.',
    ])
    expect(await codeOf(pay(september, 'ret-1'))).toEqual([
      409,
      'reference_used',
      'The reference `ret-1` was used for the return of the payment `SEPA-1` on 2024-12-03. What is booked cannot be changed: give every payment and return a reference of its own.',
    ])
    const paid = await json(pay(september, 'SEPA-2', '2024-12-10'))
    expect(paid).toMatchObject({
      status: 'paid',
      paid: { reference: 'SEPA-2', paid_on: '2024-12-10' },
      returned,
    })
    expect((await ledgerOf('a')).at(-1)).toEqual(['paid', '-25.00', 'SEPA-2'])
    expect(await balanceOf('a')).toEqual({ currency: 'EUR', balance: '0.00', due: '0.00' })
    expect(await due()).toEqual([])
    expect(await owed()).toEqual(owedBefore)
    expect(await actions()).toEqual([
      ...['statement.pay', 'statement.return', 'statement.pay', 'statement.approve'],
    ])
  })

  test('may come back on the day on which it was paid, and not before', async () => {
    await approve(september)
    await pay(september, 'SEPA-1')
    const early = await json(giveBack(september, 'RET-1', { returned_on: '2024-11-30' }))
    expect(early).toMatchObject({ status: 422, errors: [{ pointer: '/returned_on' }] })
    expect((await giveBack(september, 'RET-1', { returned_on: PAID_ON })).status).toBe(200)
    expect(await balanceOf('a')).toEqual({ currency: 'EUR', balance: '25.00', due: '25.00' })
  })

  test('comes back once by the reference of the return, and again under a new payment', async () => {
    await approve(september)
    await pay(september, 'R-1')
    const first = await json(giveBack(september, 'R-1'))
    expect(await json(giveBack(september, ' r-1 '))).toEqual(first)
    expect(await codeOf(giveBack(september, 'R-1', { reason: 'Refused' }))).toEqual([
      409,
      'reference_used',
      'The reference `R-1` was used for the payment of 25.00 EUR to affiliate `a` on 2024-12-01, which came back on 2024-12-03. What is booked cannot be changed: give every payment and return a reference of its own.',
    ])
    await pay(september, 'R-2', '2024-12-10')
    // The first return again leaves the second payment as it is.
    expect(await json(giveBack(september, 'R-1'))).toMatchObject({ status: 'paid' })
    expect((await giveBack(september, 'R-2', { returned_on: '2024-12-12' })).status).toBe(200)
    expect((await ledgerOf('a')).map(([kind]: string[]) => kind)).toEqual([
      ...['earned', 'paid', 'returned', 'paid', 'returned'],
    ])
    expect(await balanceOf('a')).toMatchObject({ balance: '25.00', due: '25.00' })
  })

  test('§16.33 is due again, unticked and with its reason, and needs attention', async () => {
    await approve(september, earning('0', '2024-10', '9.00'))
    await pay(september, 'R-1')
    await giveBack(september, 'RET-1')
    const returned = [
      {
        ...{ payment: 'R-1', reference: 'RET-1' },
        ...{ returned_on: RETURNED_ON, reason: 'Account closed' },
      },
    ]
    const list = async (query = '') => (await json(askAdmin(`${PATH}/payouts${query}`))).data
    expect((await list())[1]).toMatchObject({ affiliate_id: 'a', returned })
    const csv = await askAdmin(`${PATH}/payouts`, 'GET', undefined, { Accept: 'text/csv' })
    expect(csv.headers.get('Content-Disposition')).toMatch(/^attachment; filename="payouts-/)
    expect((await csv.text()).split('\r\n').map((line) => line.split(',')[7])).toEqual([
      ...['returned', '', '2024-12-03 Account closed', undefined],
    ])
    const { data } = await json(askAdmin(`${PATH}/attention`))
    expect(data).toContainEqual({
      ...{ code: 'returned_payments', count: 1, names: ['a'] },
      detail:
        'Paid to `a`, but it came back, or the bank refused it: it is due again. Correct the bank details, and pay it again.',
    })

    const browser = await signedIn()
    const read = async (path: string) =>
      (await browser.get(`/console/accounts/acme-forex${path}`)).text()
    const rows = (await read('/payouts')).split('<tr>').filter((row) => row.includes('name="tick'))
    expect(rows.map((row) => [/affiliates\/(\w)"/.exec(row)?.[1], / checked/.test(row)])).toEqual([
      ['0', true],
      ['a', false],
    ])
    expect(rows[1]).toMatch(/Came back<.*3 Dec 2024.*Account closed/)
  })

  test('§18.1 a suspended affiliate is marked in the list of payouts, its file and its page', async () => {
    await askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id: 'b', status: 'suspended' }])
    await approve(september, other)
    const { data } = await json(askAdmin(`${PATH}/payouts`))
    expect(data).toMatchObject([{ status: 'active' }, { affiliate_id: 'b', status: 'suspended' }])
    const csv = await askAdmin(`${PATH}/payouts`, 'GET', undefined, { Accept: 'text/csv' })
    expect((await csv.text()).split('\r\n').map((line) => line.split(',')[6])).toEqual([
      ...['status', 'active', 'suspended', undefined],
    ])
    const browser = await signedIn()
    const page = await (await browser.get('/console/accounts/acme-forex/payouts')).text()
    const rows = page.split('<tr>').filter((row) => row.includes('name="tick'))
    expect(rows.map((row) => [row.includes('Suspended'), / checked/.test(row)])).toEqual([
      [false, true],
      [true, false],
    ])
  })

  test('brings back all statements that it paid', async () => {
    await approve(september, october)
    await book(['a', '30.50', 'R-1'])
    await giveBack(october, 'RET-1')
    for (const row of [september, october]) {
      expect(await show(row)).toMatchObject({ status: 'approved', returned: { payment: 'R-1' } })
    }
    expect(await json(giveBack(september, 'RET-1'))).toMatchObject({ status: 'approved' })
    expect(await ledgerOf('a')).toHaveLength(6)
    expect(await due()).toEqual([['a', '30.50', 2]])
  })

  test('is refused with the code that says why', async () => {
    await approve(september, other)
    await storeRows([october])
    expect(await codeOf(giveBack(october, 'x'))).toEqual([
      409,
      'not_paid',
      'It is a draft: nothing was paid.',
    ])
    expect(await codeOf(giveBack(september, 'x'))).toEqual([
      409,
      'not_paid',
      'It is approved and due: no payment of it is booked that has not come back.',
    ])
    expect((await giveBack(earning('b', '2024-09', '1.00'), 'x')).status).toBe(404)
    await pay(september, 'R-1')
    await pay(other, 'R-2')
    expect(await codeOf(giveBack(september, 'r-2'))).toEqual([
      409,
      'reference_used',
      'The reference `r-2` was used for the payment of 7.00 EUR to affiliate `b` on 2024-12-01. What is booked cannot be changed: give every payment and return a reference of its own.',
    ])
    await giveBack(september, 'RET-1')
    expect((await codeOf(giveBack(other, 'RET-1'))).slice(0, 2)).toEqual([409, 'reference_used'])
    expect((await codeOf(giveBack(september, 'RET-2'))).slice(0, 2)).toEqual([409, 'not_paid'])
    expect(await rowsOf('payment_returns')).toHaveLength(1)
  })

  test('came back on a day from that of the payment to today', async () => {
    await approve(september)
    await pay(september, 'R-1')
    const ahead = new Date(Date.now() + 38 * HOUR_MS).toISOString().slice(0, 10)
    for (const [more, pointer, code] of [
      [{ returned_on: '2024-11-30' }, '/returned_on', 'minimum'],
      [{ returned_on: ahead }, '/returned_on', 'maximum'],
      [{ returned_on: '2024-02-30' }, '/returned_on', 'date'],
      [{ reason: '' }, '/reason', 'length'],
      [{ reference: '  ' }, '/reference', 'length'],
    ] as const) {
      const refused = await giveBack(september, 'x', more)
      expect(refused.status).toBe(422)
      expect((await json(refused)).errors).toMatchObject([{ pointer, code }])
    }
    expect((await giveBack(september, 'x', { returned_on: PAID_ON })).status).toBe(200)
  })

  test('leaves closed periods closed', async () => {
    await approve(september)
    const { computed_at, approved_at, hash } = await show(september)
    await pay(september, 'R-1')
    await giveBack(september, 'R-1')
    expect(await show(september)).toMatchObject({ computed_at, approved_at, hash })
    await expect(
      env.DB.prepare(`update statements set status = 'draft' where payable <> '0'`).run(),
    ).rejects.toThrow(/never changes/)
  })

  test('is proposed another reference when it is due again', async () => {
    await approve(september)
    const proposed = async () => (await json(askAdmin(`${PATH}/payouts`))).data[0].reference
    const first = await proposed()
    await pay(september, first)
    await giveBack(september, first)
    expect(await proposed()).not.toBe(first)
    expect((await pay(september, await proposed())).status).toBe(200)
  })

  test('is an event, and the second payment another one', async () => {
    const hook = { url: 'https://hooks.example/', events: ['statement.paid', 'statement.returned'] }
    expect((await askAdmin(`${PATH}/webhooks`, 'POST', hook)).status).toBe(201)
    await approve(september)
    await pay(september, 'R-1')
    await giveBack(september, 'RET-1')
    await pay(september, 'R-2', '2024-12-10')
    const events = (await rowsOf('webhook_events')).map(({ type, data }) => [
      type,
      JSON.parse(String(data)),
    ])
    const statement = { statement_id: idOf(september), amount: '25.00', currency: 'EUR' }
    expect(events).toHaveLength(3)
    expect(events).toEqual(
      expect.arrayContaining([
        ['statement.paid', expect.objectContaining({ ...statement, reference: 'R-1' })],
        [
          'statement.returned',
          {
            ...{ ...statement, affiliate_id: 'a', plan: 'ib', period: '2024-09' },
            ...{ payment: 'R-1', reference: 'RET-1', returned_on: RETURNED_ON },
          },
        ],
        ['statement.paid', expect.objectContaining({ ...statement, reference: 'R-2' })],
      ]),
    )
  })
})

describe('a reference', () => {
  test('is stored without the white space around it, and compared without the case of letters', async () => {
    await approve(september, october, other)
    expect(await json(pay(september, '  Sepa-1 '))).toMatchObject({ paid: { reference: 'Sepa-1' } })
    expect((await pay(september, 'SEPA-1')).status).toBe(200)
    expect((await codeOf(pay(october, 'sepa-1'))).slice(0, 2)).toEqual([409, 'reference_used'])
    expect(await json(book(['a', '25.00', ' SEPA-1']))).toMatchObject({ paid: 0, unchanged: 1 })
    const used = await json(book(['b', '7.00', 'sepa-1']))
    expect(used.errors).toMatchObject([{ code: 'reference_used' }])
    expect(await rowsOf('payments')).toHaveLength(1)
  })

  test.each([
    ['Müller-Ü1', 'MÜLLER-ü1'],
    ['Straße 7', 'STRASSE 7'],
    ['ΠΛΗΡΩΜΉΣ', 'πληρωμής'],
    ['cafe\u0301', 'CAF\u00c9'],
  ])('%s is the same as %s', async (first, second) => {
    await approve(september, october)
    expect((await pay(september, first)).status).toBe(200)
    expect((await codeOf(pay(october, second))).slice(0, 2)).toEqual([409, 'reference_used'])
    expect(await rowsOf('payments')).toHaveLength(1)
    expect((await pay(september, second)).status).toBe(200)
  })
})
