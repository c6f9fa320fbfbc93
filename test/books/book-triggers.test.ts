import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { askAdmin, register } from '../partner.ts'
import { builtOnce } from '../world.ts'
import { bookBack, bookPaid, digestOf, earning, idOf, rowsOf, storeRows } from './book-rows.ts'

const PATH = 'accounts/acme-forex'
const FROZEN = /never changes?|append-only/

const [paid, approved] = [earning('a', '2024-09', '2.00'), earning('b', '2024-09', '3.00')]

const build = async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await storePlan('acme-forex', 'ib', monthly([]))
  await assign('acme-forex', 'ib')
  await storeRows([paid, approved])
  for (const row of [paid, approved]) {
    await env.DB.prepare(`insert into statement_lines values ('acme-forex', ?, 2, '[]', '{}')`)
      .bind(idOf(row))
      .run()
    const body = { hash: digestOf(row) }
    await askAdmin(`${PATH}/statements/${idOf(row)}/approve`, 'POST', body)
  }
  await bookPaid([idOf(paid)], 'R-1')
  expect(await bookBack(idOf(paid))).toBe(true)
  await bookPaid([idOf(paid)], 'R-2', '2024-12-05')
  const entry = { affiliate_id: 'a', plan: 'ib', amount: '1', reason: 'x', reference: 'm' }
  expect((await askAdmin(`${PATH}/manual-entries`, 'POST', entry)).status).toBe(201)
  return PATH
}
beforeEach(() => builtOnce(PATH, build))

const TABLES = [
  ...['statements', 'statement_lines', 'ledger', 'payments', 'payment_returns', 'manual_entries'],
]

const run = (sql: string) => env.DB.prepare(sql).run()

describe.each(TABLES)('the database itself forbids to change %s', (table) => {
  test('by DELETE', async () => {
    const before = await rowsOf(table)
    expect(before.length).toBeGreaterThan(0)
    await expect(run(`delete from ${table}`)).rejects.toThrow(FROZEN)
    expect(await rowsOf(table)).toEqual(before)
  })

  test('by INSERT OR REPLACE', async () => {
    const before = await rowsOf(table)
    await expect(run(`insert or replace into ${table} select * from ${table}`)).rejects.toThrow(
      FROZEN,
    )
    await expect(run(`replace into ${table} select * from ${table}`)).rejects.toThrow(FROZEN)
    expect(await rowsOf(table)).toEqual(before)
  })

  test('by UPDATE of any column', async () => {
    const before = await rowsOf(table)
    for (const column of Object.keys(before[0]!)) {
      // An entry gets its statement once; the next test sets it.
      if (table === 'manual_entries' && column === 'statement') continue
      const isNumber = typeof before[0]![column] === 'number'
      const change = isNumber ? `${column} + 1` : `'[1]'`
      await expect(run(`update ${table} set ${column} = ${change}`)).rejects.toThrow(
        /never changes?|append-only|constraint|FOREIGN/i,
      )
      const same = `update or replace ${table} set ${column} = ${column}`
      await expect(run(same)).rejects.toThrow(FROZEN)
    }
    expect(await rowsOf(table)).toEqual(before)
  })
})

test('a paid statement is approved again only if its payment came back', async () => {
  const where = `where id = '${idOf(paid)}'`
  const back = (payment: string) =>
    run(`update statements set status = 'approved', payment = null, returned = ${payment} ${where}`)
  for (const payment of ['null', `'R-1'`, `'R-2'`])
    await expect(back(payment)).rejects.toThrow(FROZEN)
  await run(
    `insert into payment_returns values ('acme-forex', 'R-2', '2024-12-06', 'x', 'ada', 'now')`,
  )
  await expect(back(`'R-1'`)).rejects.toThrow(FROZEN)
  await back(`'R-2'`)
  await expect(run(`update statements set returned = null ${where}`)).rejects.toThrow(FROZEN)
})

test('an approved statement can be paid once, and nothing else of it changes', async () => {
  const where = `where id = '${idOf(approved)}'`
  await expect(run(`update statements set status = 'paid' ${where}`)).rejects.toThrow(FROZEN)
  await expect(
    run(`update statements set status = 'paid', payment = 'x', payable = '9' ${where}`),
  ).rejects.toThrow(FROZEN)
  await run(`update statements set status = 'paid', payment = 'x' ${where}`)
  await expect(run(`update statements set payment = 'y' ${where}`)).rejects.toThrow(FROZEN)
  await expect(run(`update statements set status = 'draft' ${where}`)).rejects.toThrow(FROZEN)
})

test('a manual entry gets its statement once', async () => {
  await run(`update manual_entries set statement = 'x'`)
  await expect(run(`update manual_entries set statement = 'y'`)).rejects.toThrow(FROZEN)
  await expect(run('update manual_entries set statement = null')).rejects.toThrow(FROZEN)
})

test('a draft in the place of an approved statement is refused', async () => {
  const other = { ...approved, id: 'stm_other' }
  await expect(storeRows([other])).rejects.toThrow(FROZEN)
})

test('the reset of a test account deletes its books, and only its own', async () => {
  await register('forex', { account: 'other' })
  const mine = { ...earning('a', '2024-09', '2.00'), account: 'other' }
  await storeRows([mine])
  const body = { hash: digestOf(mine) }
  await askAdmin(`accounts/other/statements/${idOf(mine)}/approve`, 'POST', body)
  expect((await askAdmin(`${PATH}/reset`, 'POST', {})).status).toBe(204)
  for (const table of [...TABLES, 'closed_periods', 'statement_approvals', 'book_resets']) {
    const left = (await rowsOf(table)).map(({ account }) => account)
    expect([table, left]).toEqual([table, left.filter((account) => account === 'other')])
  }
  expect(await rowsOf('ledger')).toMatchObject([{ account: 'other', amount: '2.00' }])
  await expect(run('delete from ledger')).rejects.toThrow(FROZEN)
})
