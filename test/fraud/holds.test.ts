import { beforeEach, describe, expect, test } from 'vitest'
import {
  approve,
  askAda,
  bookBack,
  bookPaid,
  digestOf,
  earning,
  idOf,
  rowsOf,
  type StatementRow,
  storeRows,
} from '../books/book-rows.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { askAdmin, json, register } from '../partner.ts'
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

interface Row {
  readonly affiliate_id: string
  readonly amount: string
  readonly reasons: readonly string[]
}

/** What is payable, and whether it is held. */
const payable = async () =>
  (await json(askAdmin(`${PATH}/payable`))).data.map(({ affiliate_id, amount, reasons }: Row) => [
    ...[affiliate_id, amount, reasons.includes('held')],
  ])

const [june = earning('a', '', ''), july = june] = months('a', '25.00', '5.50')
const [other = june] = months('b', '7.00')

describe('a case that holds', () => {
  test('holds all payouts of its affiliate, and no others', async () => {
    await approve(june, july, other)
    await storeCases({ id: 'case_1' })
    expect(await payable()).toEqual([
      ['a', '30.50', true],
      ['b', '7.00', false],
    ])
  })

  test.each([
    ['a customer', ['c-1']],
    ['a pair of customers', ['c-1', 'c-2']],
  ])('of %s holds the payouts of the affiliate that had them', async (_, customers) => {
    await approve(june, other)
    await storeCases({ id: 'case_1', customers })
    expect(await payable()).toEqual([
      ['a', '25.00', true],
      ['b', '7.00', false],
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
    expect(await payable()).toEqual([['a', '25.00', false]])
  })

  test.each(['hold', 'flag'] as const)(
    'goes on holding if it was confirmed so, whether its rule holds or flags: %s',
    async (action) => {
      await approve(june)
      await storeCases({ id: 'case_1', action, status: 'confirmed', keepHold: true })
      expect(await payable()).toEqual([['a', '25.00', true]])
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

  test('keeps the number of persons who must decide, until nothing is held', async () => {
    await askAdmin(PATH, 'PATCH', { approvals: 2 })
    await storeCases({ id: 'case_1', status: 'confirmed', keepHold: true })
    const lower = () => askAda(PATH, 'PATCH', { approvals: 1 })
    expect(await json(lower())).toMatchObject({ status: 409, code: 'conflict' })
    expect((await askAdmin(PATH, 'PATCH', { approvals: 2 })).status).toBe(200)
    await changeCase('case_1', 'keep_hold', 0)
    expect((await json(lower())).detail).toContain('Two persons lower `approvals`')
  })

  test('holds again what came back', async () => {
    await approve(june)
    await bookPaid([idOf(june)], 'R-1')
    await storeCases({ id: 'case_1' })
    await bookBack(idOf(june))
    expect(await payable()).toEqual([['a', '25.00', true]])
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

test('an open case that holds nothing is a doubt about the payouts of its affiliate', async () => {
  await approve(june, other)
  await storeRule()
  await storeCases(
    { id: 'case_1', action: 'flag' },
    { id: 'case_2', action: 'flag', customers: ['c-1'] },
    { id: 'case_3', action: 'flag', severity: 'medium', customers: ['c-2'] },
    { id: 'case_4', action: 'flag', status: 'dismissed', customers: ['c-3'] },
    { id: 'case_5', action: 'flag', severity: 'low', customers: ['c-4'] },
  )
  const { data } = await json(askAdmin(`${PATH}/payable`))
  const cases = data.map(({ doubts }: { doubts: { code: string; about: string }[] }) =>
    doubts.flatMap(({ code, about }) => (code === 'open_case' ? [about] : [])),
  )
  expect(cases).toEqual([['case_1', 'case_2', 'case_3'], []])
})
