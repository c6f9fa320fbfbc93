import { env } from 'cloudflare:workers'
import { afterEach, expect, test } from 'vitest'
import { pendingResets, RESET_LIMITS, resetStep } from '../../src/accounts/db/reset.ts'
import { makeSteps } from '../../src/platform/db/steps.ts'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { watchMarks } from '../marks.ts'
import { askAdmin, json, register } from '../partner.ts'
import { CURABLE, faulty } from '../platform/faulty.ts'
import {
  bookBack,
  bookPaid,
  digestOf,
  earning,
  idOf,
  PAID_ON,
  type StatementRow,
  storeRows,
  storeRun,
} from './book-rows.ts'

watchMarks()

const BOOKS = [
  ...['statements', 'statement_lines', 'statement_approvals', 'closed_periods', 'open_affiliates'],
  ...[
    'manual_entries',
    'payments',
    'payment_returns',
    'ledger',
    'statement_runs',
    'statement_run_steps',
  ],
]
const PERIOD = '2024-09'

const { resetMs } = RESET_LIMITS
afterEach(() => Object.assign(RESET_LIMITS, { resetMs }))

/** Returns the rows of an account in each table of the books. */
const booksOf = async (account: string) => {
  const all = await env.DB.batch<object>(
    BOOKS.map((table) => env.DB.prepare(`select * from ${table} where account = ?`).bind(account)),
  )
  return Object.fromEntries(all.map(({ results }, i) => [BOOKS[i]!, results]))
}

const isEmpty = async (account: string) =>
  Object.values(await booksOf(account)).every((rows) => rows.length === 0)

const hasOpenDoor = async () => (await env.DB.prepare('select 1 from book_resets').first()) !== null

const rowOf = (account: string, affiliate: string, more: Partial<StatementRow> = {}) => ({
  ...{ account, id: `${idOf({ affiliate, period: PERIOD })}${account}` },
  ...{ ...earning(affiliate, PERIOD, '25.00'), ...more },
})

const approve = (row: StatementRow) =>
  askAdmin(`accounts/${row.account}/statements/${row.id}/approve`, 'POST', { hash: digestOf(row) })

const reset = (account: string) => askAdmin(`accounts/${account}/reset`, 'POST')

/** Creates an account with a row in every table of the books: approved, paid, entered and left open. */
async function keepBooks(account: string) {
  await register('forex', { account, affiliates: ['a', 'b', 'c'] })
  await storePlan(account, 'ib', monthly([]))
  await assign(account, 'ib')
  const hold = { rule: 'r', version: 1, reason: 'fx_pending', currency: 'USD', count: 1, sum: '1' }
  const held = rowOf(account, 'b', earning('b', PERIOD, '5.00', { holds: [hold] }))
  const paid = rowOf(account, 'a')
  await storeRows([paid, rowOf(account, 'c'), held])
  await storeRun(PERIOD, account)
  const insert = (text: string, ...values: string[]) =>
    env.DB.prepare(text)
      .bind(account, ...values)
      .run()
  await insert(`insert into statement_lines values (?, ?, 2, '[]', '{}')`, paid.id)
  await insert(`insert into statement_run_steps values (?, 'run_x', 1, '[]', 0)`)
  await insert(`insert into statement_approvals values (?, ?, '', 'ada', 1)`, paid.id)
  const at = `accounts/${account}`
  const approved = await askAdmin(`${at}/periods/${PERIOD}/approve`, 'POST', {})
  expect(await json(approved)).toMatchObject({ approved: 2, refused_total: 1, closed: true })
  expect(await bookPaid([paid.id], 'R-1', PAID_ON, account)).toBe(true)
  expect(await bookBack(paid.id, '2024-12-03', account)).toBe(true)
  expect(await bookPaid([paid.id], 'R-2', '2024-12-05', account)).toBe(true)
  expect((await askAdmin(`${at}/manual-entries`, 'POST', entry)).status).toBe(201)
  for (const rows of Object.values(await booksOf(account))) expect(rows).not.toEqual([])
}

const entry = { affiliate_id: 'a', plan: 'ib', amount: '1', reason: 'x', reference: 'm-1' }

/** Gives an account more approved statements than one step of a reset deletes. */
const approveMany = (account: string) =>
  env.DB.batch([
    env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)
       insert into ledger select ?, 'a', 'entry-' || i, 'earned', 'ib', '2024-08', 'stm', 'EUR', '1',
         null, 'ada', 'now', '2024-09-01', '2024-08-31' from n`,
    ).bind(account),
    env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)
       insert into statements (account, period, affiliate_id, plan, id, status, hash, digest,
         payable, closing, statement, lines, parts, state, read_at, computed_at, approval, approved_at)
       select ?, '2024-08', 'n-' || i, 'ib', 'stm-' || i, 'approved', '', printf('%064d', i), '0',
         '0', null, '[]', 1, '{}', 0, 'now', 'apr', 1 from n`,
    ).bind(account),
  ])

test.each([false, true])(
  'between its steps the books stay closed, and a fault (after its commit: %s) changes nothing',
  async (after) => {
    await keepBooks('acme')
    await approveMany('acme')
    RESET_LIMITS.resetMs = -1
    expect((await reset('acme')).status).toBe(202)
    expect(await hasOpenDoor()).toBe(false)
    for (const table of ['ledger', 'statements']) {
      const left = env.DB.prepare(`select count(*) as n from ${table} where account = 'acme'`)
      expect(await left.first('n')).toBeGreaterThan(0)
      await expect(env.DB.exec(`delete from ${table}`)).rejects.toThrow(/never change|append-only/)
    }
    const fault = { message: CURABLE[0]!, after }
    const { DB } = faulty(Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? fault : null))).env
    expect(await makeSteps([resetStep(DB, 'acme')], () => true)).toBe(true)
    expect(await isEmpty('acme')).toBe(true)
    expect(await hasOpenDoor()).toBe(false)
  },
)

test('a reset changes no simultaneous approval of another account', async () => {
  await keepBooks('acme')
  await approveMany('acme')
  await register('forex', { account: 'other' })
  await storePlan('other', 'ib', monthly([]))
  const rows = Array.from({ length: 16 }, (_, i) => rowOf('other', `n-${i}`))
  await storeRows(rows)
  const [first, ...answers] = await Promise.all([reset('acme'), ...rows.map(approve)])
  expect(first.status).toBe(204)
  expect(answers.map(({ status }) => status)).toEqual(rows.map(() => 200))
  const { ledger, statements } = await booksOf('other')
  expect([ledger?.length, statements?.length]).toEqual([16, 16])
  expect(await isEmpty('acme')).toBe(true)
})

test('an approval during the reset of its account leaves nothing behind', async () => {
  await keepBooks('acme')
  // An approval before the reset succeeds, too: nothing has changed since these drafts were computed.
  const read_at = Date.now() + HOUR_MS
  const rows = Array.from({ length: 24 }, (_, i) =>
    rowOf('acme', `late-${i}`, { period: '2024-08', head: { payable: '1.00' }, read_at }),
  )
  await storeRows(rows)
  // They stayed open when the next period was closed.
  const leaveOpen = env.DB.prepare(
    `insert into open_affiliates (account, plan, period, affiliate_id) values ('acme', 'ib', ?, ?)`,
  )
  await env.DB.batch(rows.map(({ affiliate }) => leaveOpen.bind(PERIOD, affiliate)))
  await approveMany('acme')
  const answers = await Promise.all([
    ...rows.slice(0, 12).map(approve),
    reset('acme'),
    ...rows.slice(12).map(approve),
  ])
  for (const { status } of answers) expect([200, 204, 404]).toContain(status)
  await makeSteps(await pendingResets(env.DB), () => true)
  expect(await isEmpty('acme')).toBe(true)
  expect(await hasOpenDoor()).toBe(false)
})
