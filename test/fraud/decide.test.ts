import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { decideCase } from '../../src/fraud/decide.ts'
import type { Account } from '../../src/platform/db/schema.ts'
import { askAda, askBen, rowsOf } from '../books/book-rows.ts'
import { overriding } from '../overriding.ts'
import { ada, askAdmin, json, partner, register } from '../partner.ts'
import { eventsOf } from '../webhooks/webhook-events.ts'
import { addFinding, changeCase, storeCases, storeRule } from './stored-cases.ts'

const ACCOUNT = 'acme-forex'
const PATH = `accounts/${ACCOUNT}/cases/case_1`
const DAY = 20_000

const decide = (body: object, path = PATH) => askAdmin(`${path}/decide`, 'POST', body)
const confirmed = { decision: 'confirmed', reason: 'One device' }
const dismissed = { decision: 'dismissed', reason: 'A campaign' }

const audit = async () =>
  (await json(askAdmin('audit-log'))).data.map(({ action, details }: never) => [action, details])

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await storeRule()
  await storeCases({ id: 'case_1', lastDay: DAY })
  await addFinding(DAY, [
    ['t-1', 'c-1'],
    ['t-2', 'c-2'],
  ])
})

const DAY_OF: Record<string, number> = { '2024-10-01': 19_997, '2024-12-01': 20_058 }

const refusals = async () =>
  (await rowsOf('customer_refusals')).map(({ customer_id, day, reason }) => [
    customer_id,
    day,
    reason,
  ])

describe('a decision', () => {
  test('closes the case, with its reason and who made it', async () => {
    const response = await decide(dismissed)
    expect(response.status).toBe(200)
    const found = await json(response)
    expect(found).toMatchObject({
      ...{ case_id: 'case_1', status: 'dismissed', keep_hold: false, amount_held: [] },
      waiting: false,
      decisions: [
        {
          ...{ ...dismissed, keep_hold: false, refuse: [], from: null, actor: 'root-key' },
          ...{ ends_hold: false, waiting: false },
        },
      ],
    })
    expect(found.decided_at).toBe(found.decisions[0].at)
    const [[action, details]] = await audit()
    expect([action, details]).toEqual([
      'fraud-case.decide',
      {
        ...{ case: 'case_1', affiliate_id: 'a', ...dismissed },
        ...{ keep_hold: false, refused: 0, waiting: false },
      },
    ])
    expect(await rowsOf('fraud_decisions')).toMatchObject([{ shown: 2 }])
  })

  test('is final: a case that is not open is 409 `not_open`', async () => {
    await decide(confirmed)
    expect(await json(decide(confirmed))).toMatchObject({ status: 409, code: 'not_open' })
    expect(await json(decide(dismissed))).toMatchObject({ status: 409, code: 'not_open' })
    await changeCase('case_1', 'status', 'expired')
    expect((await json(decide(dismissed))).detail).toMatch(/^The case has expired/)
    expect(await rowsOf('fraud_decisions')).toHaveLength(1)
  })

  test('of 16 simultaneous ones is made once', async () => {
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, i) => decide(i % 2 ? confirmed : dismissed)),
    )
    const statuses = all.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 15 }, () => 409)])
    expect(await rowsOf('fraud_decisions')).toHaveLength(1)
  })

  test('of a case that does not exist, or of another account, is 404', async () => {
    await register('forex', { account: 'other' })
    expect((await decide(confirmed, 'accounts/other/cases/case_1')).status).toBe(404)
    expect((await decide(confirmed, `accounts/${ACCOUNT}/cases/case_2`)).status).toBe(404)
    expect((await rowsOf('fraud_cases')).map(({ status }) => status)).toEqual(['open'])
  })

  test.each([
    [{ decision: 'open', reason: 'x' }, '/decision', 'enum'],
    [{ decision: 'confirmed' }, '/reason', 'required'],
    [{ ...confirmed, reason: ' ' }, '/reason', 'pattern'],
    [{ ...confirmed, reason: '\u00a0\u200b\u2060\u3164\u2800' }, '/reason', 'pattern'],
    [{ ...confirmed, reason: 'Paid \u202eyadot' }, '/reason', 'pattern'],
    [{ ...confirmed, reason: 'Paid \u001b[2K' }, '/reason', 'pattern'],
    [{ ...confirmed, reason: 'x'.repeat(501) }, '/reason', 'length'],
    [{ ...dismissed, keep_hold: true }, '/keep_hold', 'not_applicable'],
    [{ ...dismissed, refuse: ['c-1'] }, '/refuse', 'not_applicable'],
    [{ ...confirmed, from: '2026-11-01' }, '/from', 'not_applicable'],
    [{ ...confirmed, refuse: [] }, '/refuse', 'length'],
    [{ ...confirmed, refuse: ['c-1', 'c-9'] }, '/refuse/1', 'unknown_reference'],
    [{ ...confirmed, refuse: ['c-9', 'c-1', 'c-9'] }, '/refuse/0', 'unknown_reference'],
    [{ ...confirmed, shown: 'x' }, '/shown', 'type'],
    [{ ...confirmed, note: 'x' }, '/note', 'unknown_field'],
  ])('with %j is 422 at %s', async (body, pointer, code) => {
    const { status, errors } = await json(decide(body))
    expect(status).toBe(422)
    expect(errors).toMatchObject([{ pointer, code }])
    expect(await rowsOf('fraud_decisions')).toEqual([])
    expect(await rowsOf('customer_refusals')).toEqual([])
  })

  test('sends `case.decided`', async () => {
    await askAdmin(`accounts/${ACCOUNT}/webhooks`, 'POST', { url: 'https://hooks.example/x' })
    await decide({ ...confirmed, keep_hold: true })
    expect(await eventsOf(ACCOUNT)).toMatchObject([
      { type: 'case.decided', case_id: 'case_1', decision: 'confirmed', keep_hold: true },
    ])
  })
})

const account = async () =>
  (await env.DB.prepare(`select * from accounts where id = ?`).bind(ACCOUNT).first<Account>())!

describe('a decision that refuses customers', () => {
  test('refuses them with the case as the reason, in the same batch', async () => {
    const response = await decide({ ...confirmed, refuse: ['c-2', 'c-1'], from: '2024-10-01' })
    expect(response.status).toBe(200)
    const reason = 'Fraud review, case_1: One device'
    expect(await refusals()).toEqual([
      ['c-1', 19_997, reason],
      ['c-2', 19_997, reason],
    ])
    const entries = await audit()
    expect(entries.map(([action]: string[]) => action).sort()).toEqual([
      'fraud-case.decide',
      'refusal.put',
      'refusal.put',
    ])
    expect(entries).toContainEqual([
      'refusal.put',
      { customer_id: 'c-1', from: '2024-10-01', reason, case: 'case_1' },
    ])
  })

  test('leaves one who is refused from then on, or from earlier, as they are', async () => {
    await env.DB.batch([
      env.DB.prepare(
        `insert into customer_refusals values (?, 'c-1', -719528, 'Earlier', 'x')`,
      ).bind(ACCOUNT),
      env.DB.prepare(`insert into customer_refusals values (?, 'c-2', 20500, 'Later', 'x')`).bind(
        ACCOUNT,
      ),
    ])
    await decide({ ...confirmed, refuse: ['c-1', 'c-2'], from: '2024-10-01' })
    expect(await refusals()).toEqual([
      ['c-1', -719_528, 'Earlier'],
      ['c-2', 19_997, 'Fraud review, case_1: One device'],
    ])
    const put = (await audit()).filter(([action]: string[]) => action === 'refusal.put')
    expect(put.map(([, { customer_id }]: [string, Record<string, string>]) => customer_id)).toEqual(
      ['c-2'],
    )
  })

  test.each([
    ['refuses from a later day', { ...confirmed, refuse: ['c-1', 'c-2'], from: '2024-12-01' }],
    ['refuses from the same day', { ...confirmed, refuse: ['c-1', 'c-2'], from: '2024-10-01' }],
    ['is confirmed and refuses nobody', confirmed],
    ['is dismissed', dismissed],
  ])('§16.12 never ends or shortens an earlier one: another case %s', async (_, decision) => {
    await storeRule(ACCOUNT, 'other')
    await storeCases({ id: 'case_2', rule: 'other', lastDay: DAY })
    const records = [
      ['t-1', 'c-1'],
      ['t-2', 'c-2'],
    ] as const
    await addFinding(DAY, records, { id: 'case_2' })
    await decide({ ...confirmed, refuse: ['c-1'], from: '2024-10-01' })
    const before = await refusals()

    expect((await decide(decision, `accounts/${ACCOUNT}/cases/case_2`)).status).toBe(200)
    const after = await refusals()
    expect(after.filter(([customer]) => customer === 'c-1')).toEqual(before)
    const from = 'from' in decision ? [[expect.anything(), DAY_OF[decision.from]]] : []
    expect(after.filter(([customer]) => customer === 'c-2').map((one) => one.slice(0, 2))).toEqual(
      from,
    )
  })
})

describe('evidence that was added since it was shown', () => {
  test('is 409 with the number of its records', async () => {
    await addFinding(DAY + 1, [['t-3', 'c-3']])
    expect(await json(decide({ ...confirmed, shown: 2 }))).toMatchObject({
      ...{ status: 409, code: 'evidence_changed' },
      detail:
        'Nothing was decided. The case is not as it was shown: it has 3 records, not 2. Look at it again, and decide it as it is now.',
    })
    expect((await decide({ ...confirmed, shown: 0 })).status).toBe(422)
    expect((await decide({ ...confirmed, shown: 3 })).status).toBe(200)
  })

  const expire = () =>
    env.DB.prepare(`update fraud_cases set status = 'expired' where id = 'case_1'`).run()
  test.each([
    ['is noticed', () => addFinding(DAY + 1, [['t-3', 'c-3']]), 'evidence_changed'],
    ['or an expiry is noticed', expire, 'not_open'],
  ] as const)('between the reading and the decision %s', async (_, happens, code) => {
    let isCalled = false
    const db = overriding(env.DB, {
      async batch(statements: D1PreparedStatement[]) {
        if (statements.length > 3 && !isCalled) {
          isCalled = true
          await happens()
        }
        return env.DB.batch(statements)
      },
    })
    const request = {
      ...{ id: 'case_1', decision: 'confirmed' as const, reason: 'One device', keepHold: false },
      ...{ refuse: ['c-1'], from: null, shown: 2, actor: 'ada', now: Date.now() },
    }
    await expect(
      decideCase({ ...env, DB: db } as Env, await account(), request),
    ).rejects.toMatchObject({ code })
    expect(isCalled).toBe(true)
    expect(await rowsOf('customer_refusals')).toEqual([])
  })
})

describe('a confirmed case that keeps its hold', () => {
  beforeEach(async () => {
    expect((await decide({ ...confirmed, keep_hold: true })).status).toBe(200)
  })
  const release = { decision: 'confirmed', reason: 'The contracts were shown' }

  test('is confirmed again without it to end the hold', async () => {
    const response = await decide(release)
    expect(response.status).toBe(200)
    const found = await json(response)
    expect(found).toMatchObject({ status: 'confirmed', keep_hold: false, waiting: false })
    expect(found.decisions).toMatchObject([
      { keep_hold: true, ends_hold: false, waiting: false },
      { keep_hold: false, ends_hold: true, waiting: false },
    ])
    expect(found.decided_at).toBe(found.decisions[0].at)
    const [first, last] = await rowsOf('fraud_decisions')
    expect(last?.seen).toBe(first?.seen)
    expect((await audit())[0][1]).toMatchObject({ ...release, release: true })
    expect((await decide(release)).status).toBe(409)
  })

  test.each([
    ['dismissed', dismissed],
    ['confirmed as before', { ...confirmed, keep_hold: true }],
  ])('cannot be %s', async (_, body) => {
    expect(await json(decide(body))).toMatchObject({ code: 'not_open' })
    expect((await rowsOf('fraud_cases'))[0]).toMatchObject({ status: 'confirmed', keep_hold: 1 })
  })

  test('needs two persons where the account says so', async () => {
    await askAdmin(`accounts/${ACCOUNT}`, 'PATCH', { approvals: 2 })
    expect((await askBen(`${PATH}/decide`, 'POST', release)).status).toBe(202)
    expect((await rowsOf('fraud_cases'))[0]?.keep_hold).toBe(1)
    const found = await json(askAdmin(PATH))
    expect(found.waiting).toBe(true)
    expect(found.decisions).toMatchObject([
      { ends_hold: false, waiting: false },
      { ends_hold: true, waiting: true },
    ])
    expect((await askAda(`${PATH}/decide`, 'POST', release)).status).toBe(200)
    expect((await rowsOf('fraud_cases'))[0]?.keep_hold).toBe(0)
  })
})

describe('where two persons must decide', () => {
  beforeEach(async () => {
    await askAdmin(`accounts/${ACCOUNT}`, 'PATCH', { approvals: 2 })
  })
  const decide = (body: object) => askBen(`${PATH}/decide`, 'POST', body)
  const second = (body: object) => askAda(`${PATH}/decide`, 'POST', body)

  test('the root key is nobody', async () => {
    for (const [path, body] of [
      [PATH, confirmed],
      [`accounts/${ACCOUNT}/cases`, { ...dismissed, case_ids: ['case_1'] }],
    ] as const) {
      const refused = await json(askAdmin(`${path}/decide`, 'POST', body))
      expect(refused).toMatchObject({ status: 409, code: 'same_person' })
    }
    expect(await rowsOf('fraud_decisions')).toEqual([])
  })

  test('the first one waits, also if they repeat it, and the second one decides', async () => {
    const body = { ...confirmed, refuse: ['c-1'], keep_hold: true }
    const first = await decide(body)
    expect(first.status).toBe(202)
    expect(await json(first)).toMatchObject({
      ...{ status: 'open', waiting: true },
      ...{ decisions: [{ ...body, waiting: true, ends_hold: false }] },
    })
    const { data } = await json(askAdmin(`accounts/${ACCOUNT}/cases`))
    expect(data).toMatchObject([{ case_id: 'case_1', waiting: true }])
    expect(await refusals()).toEqual([])
    const again = await decide({ ...body, reason: 'Once more' })
    expect(again.status).toBe(202)
    expect(await json(again)).toMatchObject({ status: 'open', waiting: true })
    expect(await rowsOf('fraud_decisions')).toHaveLength(1)
    const done = await second({ ...body, reason: 'I agree' })
    expect(done.status).toBe(200)
    expect(await json(done)).toMatchObject({ status: 'confirmed', keep_hold: true })
    expect(await refusals()).toEqual([['c-1', -719_528, 'Fraud review, case_1: I agree']])
  })

  test.each([
    ['another decision', dismissed],
    ['other customers', { ...confirmed, refuse: ['c-1'] }],
    ['another hold', { ...confirmed, keep_hold: true }],
  ])('%s is not the same one', async (_, body) => {
    await decide(confirmed)
    expect((await second(body)).status).toBe(202)
    expect((await rowsOf('fraud_cases')).map(({ status }) => status)).toEqual(['open'])
    // The first person can join the second one.
    expect((await decide(body)).status).toBe(200)
  })

  test('about other records the first one decides again', async () => {
    await decide(confirmed)
    await addFinding(DAY + 1, [['t-3', 'c-3']])
    expect((await second(confirmed)).status).toBe(202)
    expect((await decide(confirmed)).status).toBe(200)
    expect(await rowsOf('fraud_decisions')).toHaveLength(3)
  })

  test('both at the same moment decide once', async () => {
    const both = await Promise.all([decide(confirmed), second(confirmed)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 202])
    expect(await rowsOf('fraud_decisions')).toHaveLength(2)
  })
})

test('the erasure of a customer leaves nothing of them in a case but their id', async () => {
  const firm = await partner('forex', { account: 'erasing', affiliates: ['a'] })
  const person = { email: 'grace@example.org', first_name: 'Grace', last_name: 'Hopper' }
  const customer = { ...ada, ...person, affiliate_id: 'a' }
  expect((await firm.post('customers', customer)).status).toBe(201)
  const id = customer.customer_id
  await storeRule('erasing')
  await storeCases({ id: 'case_9', account: 'erasing', lastDay: DAY })
  await addFinding(DAY, [['t-1', id]], { account: 'erasing', id: 'case_9' })
  const body = { ...confirmed, refuse: [id], keep_hold: true }
  expect((await decide(body, 'accounts/erasing/cases/case_9')).status).toBe(200)
  const erased = await askAdmin(`accounts/erasing/customers/${id}/personal-data`, 'DELETE')
  expect(erased.status).toBeLessThan(300)
  const tables = ['fraud_cases', 'fraud_evidence', 'fraud_decisions', 'audit_log']
  const text = JSON.stringify(await Promise.all([...tables, 'customer_refusals'].map(rowsOf)))
  for (const value of Object.values(person)) expect(text).not.toContain(value)
  expect(text).toContain(id)
  const found = await json(askAdmin('accounts/erasing/cases/case_9'))
  expect(found).toMatchObject({ status: 'confirmed', customers: [id] })
  const { data } = await json(askAdmin('accounts/erasing/cases/case_9/evidence'))
  expect(data).toMatchObject([{ id: 't-1', customer_id: id }])
})

test('a case of very many records is decided, and lists them in pages', async () => {
  const all = Array.from({ length: 6 }, (_, part) =>
    Array.from({ length: 1000 }, (_, i) => [`t-${part}-${i}`, `c-${part}`] as const),
  )
  for (const records of all) await addFinding(DAY, records)
  const response = await decide({ ...confirmed, keep_hold: true, refuse: ['c-5'] })
  expect(response.status, await response.clone().text()).toBe(200)
  expect(await json(response)).toMatchObject({ evidence_total: 6002 })
  const page = await json(askAdmin(`${PATH}/evidence?per_page=500&page=4`))
  expect(page.meta.total).toBe(6002)
  expect(page.data.at(-1).id).toBe('t-1-997')
})

test('several cases are decided as each would be alone, and once', async () => {
  await storeCases({ id: 'case_2', lastDay: DAY, affiliate: 'b' })
  const path = `accounts/${ACCOUNT}/cases/decide`
  const all = (body: object) => askAdmin(path, 'POST', { ...dismissed, ...body })
  const outcomes = async (case_ids: string[]) =>
    (await json(all({ case_ids }))).data.map(({ outcome }: { outcome: string }) => outcome)
  expect(await outcomes(['case_1', 'case_2', 'none'])).toEqual(['decided', 'decided', 'not_found'])
  expect(await outcomes(['case_1', 'case_2', 'case_1'])).toEqual(['not_open', 'not_open'])
  const found = await json(askAdmin(`accounts/${ACCOUNT}/cases/case_2`))
  expect(found).toMatchObject({ status: 'dismissed', decisions: [{ reason: 'A campaign' }] })
  expect((await all({ case_ids: [] })).status).toBe(422)
  expect((await all({ case_ids: Array.from({ length: 201 }, (_, i) => `c${i}`) })).status).toBe(422)
})

test('where two persons must decide, several cases wait for the second one', async () => {
  await askAdmin(`accounts/${ACCOUNT}`, 'PATCH', { approvals: 2 })
  const body = { ...dismissed, case_ids: ['case_1'] }
  const first = await askBen(`accounts/${ACCOUNT}/cases/decide`, 'POST', body)
  expect(await json(first)).toEqual({ data: [{ case_id: 'case_1', outcome: 'waiting' }] })
  expect(await json(askAdmin(PATH))).toMatchObject({ status: 'open', waiting: true })
})
