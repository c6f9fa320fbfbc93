import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/plans/types.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { storeDrafts } from '../commission/stored-runs.ts'
import { ada, ask, askAdmin, deposit, json, partner } from '../partner.ts'

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

const due = async () => (await json(askAdmin(`${PATH}/payouts`))).data

/** Books the list of the bank. */
const importPayments = (rows: object[]) =>
  ask(`/admin/v1/${PATH}/payouts`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${env.ADMIN_KEY}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(rows),
  })

/** Brings the database back to a time before the books and the records of August. */
const goBack = () =>
  env.DB.batch(
    [
      `insert into book_resets values ('acme-forex')`,
      ...['ledger', 'payments', 'statements', 'transactions'].map(
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
  const [row] = await due()
  const { affiliate_id, currency, amount, reference } = row
  const bank = [{ affiliate_id, currency, amount, reference, paid_on: '2024-09-15' }]
  expect(await json(importPayments(bank))).toMatchObject({ paid: 1 })
  expect(await due()).toEqual([])

  await goBack()
  await send()
  const again = await compute()
  expect([again.id, again.hash, again.payable]).toEqual([before.id, before.hash, before.payable])
  expect((await importPayments(bank)).status).toBe(409)
  expect(await approve(again)).toBe(200)
  expect(await due()).toEqual([row])
  expect(await json(importPayments(bank))).toMatchObject({ paid: 1 })
  expect(await json(importPayments(bank))).toMatchObject({ paid: 0, unchanged: 1 })
  expect(await due()).toEqual([])
})

test('a payment is refused while the books lack a record, until a manual entry covers the difference', async () => {
  const { send } = await firm()
  await send()
  await approve(await compute())
  const [row] = await due()
  const { affiliate_id, currency, amount, reference } = row
  const bank = [{ affiliate_id, currency, amount, reference, paid_on: '2024-09-15' }]

  await goBack()
  const entry = { affiliate_id, plan: 'ib', amount, reason: 'a lost record', reference: 'lost-1' }
  expect((await askAdmin(`${PATH}/manual-entries`, 'POST', entry)).status).toBe(201)
  expect((await importPayments(bank)).status).toBe(409)
  expect(await approve(await compute())).toBe(200)
  expect(await json(importPayments(bank))).toMatchObject({ paid: 1 })
})
