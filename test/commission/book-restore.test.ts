import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { json } from '../partner.ts'
import { type BookFirm, bookFirm, MONTHS, payment } from './book-firm.ts'
import { checkBooks } from './check-books.ts'

// D1 returns to an earlier time. What was paid since is paid once all the same.

const TABLES = [
  ...['statements', 'statement_lines', 'statement_approvals', 'closed_periods', 'open_affiliates'],
  ...[
    'manual_entries',
    'payments',
    'payment_returns',
    'ledger',
    'statement_runs',
    'statement_run_steps',
  ],
  ...['transactions', 'audit_log'],
]

/** Returns a function that brings the tables of the books back to what they are now. */
async function remember(): Promise<() => Promise<unknown>> {
  const saved = await env.DB.batch<Record<string, unknown>>(
    TABLES.map((table) => env.DB.prepare(`select * from ${table}`)),
  )
  const rows = saved.flatMap(({ results }, i) =>
    results.map((row) => {
      const names = Object.keys(row)
      const text = `insert into ${TABLES[i]} (${names}) values (${names.map(() => '?')})`
      return env.DB.prepare(text).bind(...Object.values(row))
    }),
  )
  const trigger = await env.DB.prepare(
    `select sql from sqlite_schema where name = 'audit_log_no_delete'`,
  ).first<string>('sql')
  return () =>
    env.DB.batch([
      env.DB.prepare('drop trigger audit_log_no_delete'),
      env.DB.prepare('insert into book_resets select id from accounts'),
      ...TABLES.map((table) => env.DB.prepare(`delete from ${table}`)),
      ...rows,
      env.DB.prepare(trigger ?? ''),
      env.DB.prepare('delete from book_resets'),
    ])
}

async function firm() {
  const acme = await bookFirm()
  await acme.post(
    'transactions',
    MONTHS.flatMap((month, i) => [0, 1, 3, 4].map((c) => payment(`${c}-${i}`, c, month, 90 + i))),
  )
  await acme.run(MONTHS[1]!)
  return acme
}

const approveAll = async (acme: BookFirm, ...months: string[]) => {
  for (const month of months) {
    expect(await json(acme.approvePeriod(month))).toMatchObject({ closed: true, refused: [] })
  }
}

const paidIn = async (acme: BookFirm) =>
  (await checkBooks(acme.account)).filter(({ status }) => status === 'paid').length

const [JUNE, JULY] = [MONTHS[0]!, MONTHS[1]!]

test('payments that a restore lost are booked again by the same file, once', async () => {
  const acme = await firm()
  await approveAll(acme, JUNE, JULY)
  const restore = await remember()
  const lines = await acme.payouts()
  expect(await json(acme.importPayouts(lines))).toMatchObject({ paid: 4, unchanged: 0 })
  const paid = await paidIn(acme)
  await restore()
  expect(await paidIn(acme)).toBe(0)

  // The same statements have the same references: a bank knows them, and so does the import.
  expect(await acme.payouts()).toEqual(lines)
  expect(await json(acme.importPayouts(lines))).toMatchObject({ paid: 4, unchanged: 0 })
  expect(await json(acme.importPayouts(lines))).toMatchObject({ paid: 0, unchanged: 4 })
  expect(await acme.payouts()).toEqual([])
  expect(await paidIn(acme)).toBe(paid)
})

test('after a restore that lost approvals, no payment is booked until they are repeated', async () => {
  const acme = await firm()
  const restore = await remember()
  await approveAll(acme, JUNE, JULY)
  const lines = await acme.payouts()
  const approved = (await checkBooks(acme.account)).map(({ id, hash }) => [id, hash])
  await acme.importPayouts(lines)
  await restore()
  expect(await json(acme.importPayouts(lines))).toMatchObject({ code: 'nothing_due' })
  expect(await paidIn(acme)).toBe(0)

  await acme.run(JULY)
  await approveAll(acme, JUNE, JULY)
  expect((await checkBooks(acme.account)).map(({ id, hash }) => [id, hash])).toEqual(approved)
  expect(await acme.payouts()).toEqual(lines)
  expect(await json(acme.importPayouts(lines))).toMatchObject({ paid: 4 })
  expect(await json(acme.importPayouts(lines))).toMatchObject({ paid: 0, unchanged: 4 })
})

test('after a restore that lost records, a payment is refused until they are sent again', async () => {
  const acme = await firm()
  const restore = await remember()
  const lost = payment('lost', 0, JUNE, 200)
  await acme.post('transactions', [lost])
  await acme.run(JULY)
  await approveAll(acme, JUNE, JULY)
  const lines = await acme.payouts()
  await restore()

  await acme.run(JULY)
  await approveAll(acme, JUNE)
  const refused = await acme.importPayouts(lines)
  expect([refused.status, (await json(refused)).code]).toEqual([409, 'amount_differs'])
  expect(await paidIn(acme)).toBe(0)
  // What the record adds is an adjustment of the next period now; the sum is the same.
  await acme.post('transactions', [lost])
  await acme.run(JULY)
  await approveAll(acme, JULY)
  expect(await acme.payouts()).toEqual(lines)
  expect(await json(acme.importPayouts(lines))).toMatchObject({ paid: 4 })
  expect(await acme.payouts()).toEqual([])
})

test('after a restore, lost payments are booked first, and a new payment covers the remaining amount', async () => {
  const acme = await firm()
  await approveAll(acme, JUNE)
  const restore = await remember()
  const lines = await acme.payouts()
  await acme.importPayouts(lines)
  await restore()
  await acme.run(JULY)
  await approveAll(acme, JULY)
  const before = await acme.payouts()
  expect(before.filter((line) => lines.includes(line))).toEqual([])
  expect(await json(acme.importPayouts(lines))).toMatchObject({ paid: 4, statements: 4 })
  const rest = await acme.payouts()
  expect(rest.filter((line) => [...lines, ...before].includes(line))).toEqual([])
  expect(await json(acme.importPayouts(rest))).toMatchObject({ paid: 4, statements: 4 })
  expect(await acme.payouts()).toEqual([])
  expect(await paidIn(acme)).toBe(8)
})
