import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { importPayments, parsePayments, payStatement } from '../../src/books/payments.ts'
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
} from '../books/book-rows.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { randomSource } from '../commission/worlds.ts'
import { overriding } from '../overriding.ts'
import { ask, askAdmin, json, register } from '../partner.ts'
import { addFinding, changeCase, storeCases, storeRule } from './stored-cases.ts'

const PATH = 'accounts/acme-forex'

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await storePlan('acme-forex', 'ib', monthly([]))
  await assign('acme-forex', 'ib')
})

/** Statements of an affiliate, one for each month of 2024 from June on. */
const months = (affiliate: string, ...amounts: string[]): StatementRow[] => {
  const rows = amounts.map((amount, i) =>
    earning(affiliate, `2024-${String(i + 6).padStart(2, '0')}`, amount),
  )
  return rows.map((row, i) => {
    const before = rows[i - 1]
    return before ? { ...row, previous: digestOf(before) } : row
  })
}

const ACME = { id: 'acme-forex', vertical: 'forex', time_zone: 'UTC', book_zone: 'UTC' } as const

const importRows = (...rows: (readonly [affiliate: string, amount: string, reference: string])[]) =>
  askAdmin(
    `${PATH}/payouts`,
    'POST',
    rows.map(([affiliate_id, amount, reference]) => ({
      ...{ affiliate_id, currency: 'EUR', amount, reference, paid_on: PAID_ON },
    })),
  )

interface Payout {
  affiliate_id: string
  amount: string
  statements: number
  amount_held: string
  statements_held: number
  held_by: string[]
  reference: string | null
}

const payouts = async () => (await json(askAdmin(`${PATH}/payouts`))).data as Payout[]

const heldOf = (rows: readonly Payout[]) =>
  rows.map((row) => [
    ...[row.affiliate_id, row.amount, row.statements],
    ...[row.amount_held, row.statements_held, row.held_by],
  ])

const csv = () =>
  ask(`/admin/v1/${PATH}/payouts`, {
    headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, Accept: 'text/csv' },
  })

const [june = earning('a', '', ''), july = june, august = june] = months(
  'a',
  '25.00',
  '5.50',
  '8.00',
)
const [other = june] = months('b', '7.00')

describe('a case that holds', () => {
  test('holds all payouts of its affiliate, and no others', async () => {
    await approve(june, july, other)
    await storeCases({ id: 'case_1' })
    const listed = await payouts()
    expect(heldOf(listed)).toEqual([
      ['a', '0.00', 0, '30.50', 2, ['case_1']],
      ['b', '7.00', 1, '0.00', 0, []],
    ])
    expect(listed[0]?.reference).toBeNull()
    for (const row of [june, july]) {
      expect(await json(pay(row, 'R-1'))).toMatchObject({
        ...{ status: 409, code: 'held_by_case', held_by: ['case_1'] },
        detail:
          'The payout is held by the case `case_1` of the fraud review. Decide what holds it.',
      })
    }
    expect((await pay(other, 'R-2')).status).toBe(200)
  })

  test.each([
    ['a customer', ['c-1']],
    ['a pair of customers', ['c-1', 'c-2']],
  ])('of %s holds the payouts of the affiliate that had them', async (_, customers) => {
    await approve(june, other)
    await storeCases({ id: 'case_1', customers })
    expect(heldOf(await payouts())).toEqual([
      ['a', '0.00', 0, '25.00', 1, ['case_1']],
      ['b', '7.00', 1, '0.00', 0, []],
    ])
  })

  test.each([
    ['was opened by a rule that flags', { action: 'flag', severity: 'medium' }],
    ['was dismissed', { status: 'dismissed' }],
    ['expired', { status: 'expired' }],
    ['was confirmed without keeping its hold', { status: 'confirmed' }],
    ['is of another account', { account: 'other' }],
  ] as const)('holds nothing if it %s', async (_, more) => {
    await approve(june)
    await storeRule()
    await storeCases({ id: 'case_1', ...more })
    expect(heldOf(await payouts())).toEqual([['a', '25.00', 1, '0.00', 0, []]])
    expect((await pay(june, 'R-1')).status).toBe(200)
  })

  test.each(['hold', 'flag'] as const)(
    'goes on holding if it was confirmed so, whether its rule holds or flags: %s',
    async (action) => {
      await approve(june)
      await storeCases({ id: 'case_1', action, status: 'confirmed', keepHold: true })
      expect(heldOf(await payouts())).toEqual([['a', '0.00', 0, '25.00', 1, ['case_1']]])
      expect((await pay(june, 'R-1')).status).toBe(409)
    },
  )

  test('never holds an approval, and changes no entry of the ledger', async () => {
    await storeCases({ id: 'case_1' })
    await approve(june)
    expect((await rowsOf('ledger')).map(({ kind, amount }) => [kind, amount])).toEqual([
      ['earned', '25.00'],
    ])
    const { data } = await json(askAdmin(`${PATH}/affiliates/figures?affiliate_id=a`))
    expect(data[0].balances).toEqual([{ currency: 'EUR', balance: '25.00', due: '25.00' }])
  })

  test('is left out of the CSV', async () => {
    await approve(june, july, other)
    await storeCases({ id: 'case_1' })
    const lines = (await (await csv()).text()).trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/^b,EUR,7\.00,1,2024-11-14,pay_/)
  })

  test('holds what a file pays: nothing of it is booked', async () => {
    await approve(june, july, other)
    await storeCases({ id: 'case_1' })
    const refused = await json(importRows(['b', '7.00', 'R-2'], ['a', '25.00', 'R-1']))
    expect(refused).toMatchObject({
      ...{ status: 409, code: 'held_by_case', errors_total: 1 },
      errors: [
        {
          pointer: '/1',
          message: 'Cases of the fraud review hold payouts of affiliate `a`: the case `case_1`.',
        },
      ],
    })
    expect(await rowsOf('payments')).toEqual([])
    expect((await importRows(['b', '7.00', 'R-2'])).status).toBe(200)
  })

  test('keeps the number of persons who must decide, until nothing is held', async () => {
    await askAdmin(PATH, 'PATCH', { approvals: 2 })
    await storeCases({ id: 'case_1', status: 'confirmed', keepHold: true })
    const lower = () => askAdmin(PATH, 'PATCH', { approvals: 1 })
    expect(await json(lower())).toMatchObject({ status: 409, code: 'conflict' })
    expect((await askAdmin(PATH, 'PATCH', { approvals: 2 })).status).toBe(200)
    await changeCase('case_1', 'keep_hold', 0)
    expect((await json(lower())).detail).toContain('Two persons lower `approvals`')
  })

  test('holds again what came back', async () => {
    await approve(june)
    await pay(june, 'R-1')
    await storeCases({ id: 'case_1' })
    await askAdmin(`${PATH}/statements/${idOf(june)}/return`, 'POST', {
      ...{ reference: 'B-1', returned_on: '2024-12-02', reason: 'Account closed' },
    })
    expect(heldOf(await payouts())).toEqual([['a', '0.00', 0, '25.00', 1, ['case_1']]])
    expect((await pay(june, 'R-2')).status).toBe(409)
  })
})

test('the amounts that are held are those of the statements that cannot be paid', async () => {
  const from = randomSource(7)
  const affiliates = Array.from({ length: 5 }, (_, i) => `x-${i}`)
  const rows = affiliates.flatMap((one) => {
    const amounts = Array.from({ length: from.between(1, 4) }, () => `${from.between(1, 90)}.50`)
    return months(one, ...amounts)
  })
  await approve(...rows)
  const cases = affiliates.flatMap((affiliate) =>
    Array.from({ length: from.between(0, 3) }, (_, i) => ({
      ...{ id: `case_${affiliate}_${i}`, affiliate, rule: `rule-${i}` },
      status: from.pick(['open', 'open', 'dismissed'] as const),
    })),
  )
  await storeCases(...cases)
  const listed = await payouts()
  let refused = 0
  for (const row of from.shuffle(rows)) {
    const { code } = await json(pay(row, `R-${idOf(row)}`))
    if (code === 'held_by_case') refused += Number(row.head?.payable)
    else expect(code).toBeUndefined()
  }
  const sumOf = (all: readonly Payout[]) =>
    all.reduce((sum, { amount_held }) => sum + Number(amount_held), 0)
  expect(refused).toBeGreaterThan(0)
  expect(sumOf(listed)).toBe(refused)
  const left = await payouts()
  expect(sumOf(left)).toBe(refused)
  expect(left.every(({ amount }) => amount === '0.00')).toBe(true)
})

describe('a case that is opened, or a statement that is approved, between the reading and the payment', () => {
  /** A database that calls a function before the batch that pays. */
  const before = (call: () => Promise<unknown>) => {
    let isCalled = false
    return overriding(env.DB, {
      async batch(statements: D1PreparedStatement[]) {
        // The batch that reads the holds has two statements.
        if (statements.length > 2 && !isCalled) {
          isCalled = true
          await call()
        }
        return env.DB.batch(statements)
      },
    })
  }

  const request = {
    ...{ reference: 'R-1', paid_on: PAID_ON },
    ...{ actor: 'ada', now: Date.now() },
  }

  test('holds the payment of a statement', async () => {
    await approve(june)
    const db = before(() => storeCases({ id: 'case_1' }))
    await expect(payStatement(db, ACME, { id: idOf(june), ...request })).rejects.toMatchObject({
      code: 'held_by_case',
    })
    expect(await rowsOf('payments')).toEqual([])
  })

  const payJune = (call: () => Promise<unknown>) => {
    const payments = parsePayments([
      { affiliate_id: 'a', currency: 'EUR', amount: '25.00', reference: 'R-1', paid_on: PAID_ON },
      { affiliate_id: 'b', currency: 'EUR', amount: '7.00', reference: 'R-2', paid_on: PAID_ON },
    ])
    return importPayments(before(call), ACME, payments, request)
  }

  test('holds the payments of a file', async () => {
    await approve(june, july, other)
    const call = () => storeCases({ id: 'case_1' })
    await expect(payJune(call)).rejects.toMatchObject({ code: 'held_by_case' })
    expect(await rowsOf('payments')).toEqual([])
  })

  test('is paid all the same if it is no part of the payment', async () => {
    await approve(june, july, other)
    expect(await payJune(() => approve(august))).toMatchObject({ paid: 2 })
  })
})

test('cases and decisions change no byte of a statement, at every moment', async () => {
  await approve(june)
  await storeRows([july])
  const before = await rowsOf('statements')
  const unchanged = async () => expect(await rowsOf('statements')).toEqual(before)
  await storeRule()
  await storeCases({ id: 'case_1' })
  await addFinding(20_000, [['t-1', 'c-1']])
  await unchanged()
  const path = `${PATH}/cases/case_1`
  const decision = { decision: 'confirmed', reason: 'One device', keep_hold: true }
  expect((await askAdmin(`${path}/decide`, 'POST', decision)).status).toBe(200)
  await unchanged()
  expect((await rowsOf('ledger')).map(({ kind }) => kind)).toEqual(['earned'])
})

describe('an open case that holds nothing', () => {
  test('is named by the payouts of its affiliate, in the list and in the CSV', async () => {
    await approve(june, other)
    await storeRule()
    await storeCases(
      { id: 'case_1', action: 'flag', openedFor: 19990 },
      { id: 'case_2', action: 'flag', openedFor: 19991, customers: ['c-1'] },
      { id: 'case_3', action: 'flag', severity: 'medium', customers: ['c-2'] },
      { id: 'case_4', action: 'flag', status: 'dismissed', customers: ['c-3'] },
      { id: 'case_5', action: 'flag', severity: 'low', openedFor: 19999, customers: ['c-4'] },
    )
    const { data } = await json(askAdmin(`${PATH}/payouts`))
    const sentence = '12 of 15 customers who qualified deposited the minimum.'
    expect(data).toMatchObject([
      {
        affiliate_id: 'a',
        open_cases: [
          { case_id: 'case_2', severity: 'high', sentence },
          { case_id: 'case_1', severity: 'high', sentence },
          { case_id: 'case_3', severity: 'medium', sentence },
        ],
      },
      { affiliate_id: 'b', open_cases: [] },
    ])
    expect(await (await csv()).text()).toMatch(/^a,EUR,25\.00,.*,case_2 case_1 case_3,\r$/m)
  })
})
