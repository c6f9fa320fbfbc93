import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/plans/types.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { storeDrafts } from '../commission/stored-runs.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'

// What the runbook says about a database that was restored without its books.

const PATH = 'accounts/acme-forex'
const RULES: Rule[] = [
  { id: 'tenth', kind: 'share', percent: '10', base: [{ transactions: ['deposit'] }] },
]
const AUGUST = '2024-08'

async function firm() {
  const acme = await partner('forex', { affiliates: ['aff-7'] })
  await storePlan(acme.account, 'ib', monthly(RULES, { effective_from: '2024-01-01' }))
  await assign(acme.account, 'ib', '*', '2024-01-01')
  const send = () =>
    acme
      .post('customers', [{ ...ada, signup_date: '2024-08-01T08:00:00Z' }])
      .then(() =>
        acme.post('transactions', [{ ...deposit, transaction_date: '2024-08-10T09:30:00Z' }]),
      )
  return { send }
}

/** Computes the draft of August, as a run does, and returns it. */
async function compute() {
  await storeDrafts('acme-forex', AUGUST, ['aff-7'])
  const { data } = await json(askAdmin(`${PATH}/statements?period=${AUGUST}`))
  return data[0]
}

const approve = async ({ id, hash }: { id: string; hash: string }) =>
  (await askAdmin(`${PATH}/statements/${id}/approve`, 'POST', { hash })).status

/** What is due, without the days of a batch. */
const due = async () =>
  (await json(askAdmin(`${PATH}/payable`))).data.map(
    ({ id, amount, statements }: Record<string, unknown>) => [id, amount, statements],
  )

/** Books what the bank has paid by a batch of method `manual`. Returns its statuses. */
async function payByHand() {
  const execute_on = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
  const rows = [{ id: 'aff-7:EUR', reason: 'Paid before the restore' }]
  const asked = await askAdmin(`${PATH}/batches`, 'POST', { method: 'manual', execute_on, rows })
  const { id, hash, total } = await json(asked)
  if (asked.status !== 201) return [asked.status]
  const confirmed = await askAdmin(`${PATH}/batches/${id}/confirm`, 'POST', { hash, total })
  const paid = await askAdmin(`${PATH}/batches/${id}/pay`, 'POST', { paid_on: '2024-09-15' })
  return [confirmed.status, paid.status]
}

/** Brings the database back to a time before the books and the records of August. */
const goBack = () =>
  env.DB.batch(
    [
      `insert into book_resets values ('acme-forex')`,
      ...['ledger', 'payments', 'transfers', 'payout_batches', 'statements', 'transactions'].map(
        (table) => `delete from ${table}`,
      ),
      'delete from book_resets',
    ].map((sql) => env.DB.prepare(sql)),
  )

test('after a restore the same approvals make the same bookings, and nothing is paid twice', async () => {
  const { send } = await firm()
  await send()
  const before = await compute()
  expect(await approve(before)).toBe(200)
  const row = await due()
  expect(await payByHand()).toEqual([200, 200])
  expect(await due()).toEqual([])

  await goBack()
  await send()
  const again = await compute()
  expect([again.id, again.hash, again.payable]).toEqual([before.id, before.hash, before.payable])
  expect(await payByHand()).toEqual([422])
  expect(await approve(again)).toBe(200)
  expect(await due()).toEqual(row)
  expect(await payByHand()).toEqual([200, 200])
  expect(await payByHand()).toEqual([422])
  expect(await due()).toEqual([])
})
