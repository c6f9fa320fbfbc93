import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exportBatch } from '../../src/payouts/batches.ts'
import { PAYOUT_LIMITS } from '../../src/payouts/model.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'
import { randomSource } from '../commission/worlds.ts'
import { at } from '../days.ts'
import { askAdmin, json, register } from '../partner.ts'
import {
  askFile,
  change,
  confirm,
  confirmed,
  due,
  enter,
  enterPayer,
  hold,
  MAIN,
  PATH,
  preview,
  SEPA,
} from './batch-rows.ts'

const AFFILIATES = Array.from({ length: 16 }, (_, i) => `a-${String(i).padStart(2, '0')}`)

const LIMITS = { ...PAYOUT_LIMITS }
afterEach(() => {
  Object.assign(PAYOUT_LIMITS, LIMITS)
})

beforeEach(async () => {
  await register('forex', { affiliates: AFFILIATES })
  await enterPayer()
})

const cancel = (id: string) =>
  askAdmin(`${PATH}/batches/${id}/cancel`, 'POST', { reason: 'The bank refused it' })

const show = (id: string) => json(askAdmin(`${PATH}/batches/${id}`))

/** Stores two affiliates with a statement each, and returns their confirmed batch. */
async function batchOfTwo() {
  for (const affiliate of ['a-00', 'a-01']) {
    await enter('payee', affiliate, SEPA)
    await due(affiliate, '10.00')
  }
  return confirmed()
}

const cents = (text: string) => BigInt(text.replace('.', ''))
const sum = (texts: string[]) => texts.reduce((total, text) => total + cents(text), 0n)

describe('a preview', () => {
  interface Affiliate {
    id: string
    state: 'entered' | 'approved' | 'returned' | 'blocked' | null
    isFresh: boolean
    isSuspended: boolean
    isHeld: boolean
    method: 'sepa' | 'wise'
    statements: { id: string; currency: string; amount: string; isBack: boolean }[]
  }

  /** Stores an affiliate as a world draws it. */
  async function store(id: string, from: ReturnType<typeof randomSource>): Promise<Affiliate> {
    const state = from.pick([null, 'entered', 'returned', 'blocked', ...Array(8).fill('approved')])
    const one = { id, state, isFresh: from.oneIn(6), isSuspended: from.oneIn(6) }
    const method = from.oneIn(6) ? ('wise' as const) : ('sepa' as const)
    const isHeld = from.oneIn(8)
    const payable_from = state === 'entered' ? null : one.isFresh ? Date.now() + HOUR_MS : 1
    if (state) {
      await enter('payee', id, SEPA, { version: 1, entered_at: 1 })
      await enter('payee', id, { ...SEPA, method }, { version: 2, state, payable_from })
    }
    if (one.isSuspended) {
      await change(`update affiliates set status = 'suspended' where affiliate_id = ?`, id)
    }
    if (isHeld) await hold(id)
    const statements = []
    for (let n = 0; n < from.between(1, 3); n++) {
      const currency = from.oneIn(8) ? 'USD' : 'EUR'
      const amount = `${from.between(0, 99)}.${from.between(10, 99)}`
      const last = from.pick([null, null, null, 'returned', 'rejected', 'cancelled'])
      const version = from.between(1, 2)
      const statement = await due(id, amount, `2024-0${n + 1}`, { currency })
      if (last) {
        const reference = `T-${id}-${n}`
        await change(
          `insert into transfers values ('acme-forex', ?, 'old', ?, ?, ?, ?, '[]', ?, null, null, null, 1)`,
          ...[reference, id, version, currency, amount, last],
        )
        await change('update statements set transfer = ? where id = ?', reference, statement)
      }
      const isBack = version === 2 && (last === 'returned' || last === 'rejected')
      statements.push({ id: statement, currency, amount, isBack })
    }
    return { ...one, method, isHeld, statements }
  }

  /** Returns why a statement is left out, from §20.2; null if it is not. */
  function reasonOf(one: Affiliate, statement: Affiliate['statements'][number], isNamed: boolean) {
    if (one.isHeld) return 'held'
    if (!one.state) return 'no_payee'
    if (one.state === 'blocked') return 'blocked'
    if (one.state !== 'approved') return 'not_approved'
    if (one.isFresh) return 'changed'
    if (one.method !== 'sepa') return 'other_method'
    if (statement.currency !== 'EUR') return 'other_currency'
    if (isNamed) return null
    return statement.isBack ? 'returned' : one.isSuspended ? 'suspended' : null
  }

  test('§20.2 pays all that may be paid, to the cent, and says why it leaves out the rest', async () => {
    const from = randomSource(env.SEED)
    PAYOUT_LIMITS.transfers = from.between(4, 8)
    const all: Affiliate[] = []
    for (const id of AFFILIATES) all.push(await store(id, from))
    const everything = all.flatMap(({ statements }) => statements.map(({ id }) => id))
    for (const named of [undefined, from.some(everything)]) {
      const shown = await json(preview({ statements: named }))
      const paid = new Map<string, string[]>()
      const left: string[] = []
      for (const one of all) {
        for (const statement of one.statements) {
          if (named && !named.includes(statement.id)) continue
          const isFull = paid.size === PAYOUT_LIMITS.transfers && !paid.has(one.id)
          const reason = reasonOf(one, statement, named !== undefined) ?? (isFull && 'next_batch')
          if (reason) left.push(`${statement.id} ${statement.amount} ${reason}`)
          else paid.set(one.id, [...(paid.get(one.id) ?? []), statement.amount])
        }
      }
      const { transfers, left_out, total } = shown
      expect(
        left_out
          .map((one: never) => Object.values(one))
          .map(([id, , , amount, reason]: string[]) => `${id} ${amount} ${reason}`)
          .sort(),
      ).toEqual(left.sort())
      expect(
        transfers.map((one: { affiliate_id: string; amount: string }) => [
          one.affiliate_id,
          cents(one.amount),
        ]),
      ).toEqual([...paid].map(([id, amounts]) => [id, sum(amounts)]))
      expect(cents(total)).toBe(sum([...paid.values()].flat()))
      expect(paid.size).toBeGreaterThan(0)
      expect((await confirm(shown)).status).toBe(200)
      const stored = await show(shown.id)
      expect(stored.transfers).toEqual(transfers)
      await cancel(shown.id)
    }
  })

  test('§20.2 is refused for a payer that is not approved, or has another currency than SEPA', async () => {
    await enter('payer', 'fresh', MAIN, { payable_from: Date.now() + HOUR_MS })
    await enter('payer', 'dollars', { ...SEPA, currency: 'USD' })
    const codes = ['none', 'fresh', 'dollars'].map(
      async (payer) => (await preview({ payer })).status,
    )
    expect(await Promise.all(codes)).toEqual([404, 409, 409])
    expect((await preview({ execute_on: '2020-01-01' })).status).toBe(422)
  })
})

describe('a confirmation', () => {
  test('§20.2 takes each statement once, however many come at once', async () => {
    const statements: string[] = []
    for (const affiliate of AFFILIATES.slice(0, 6)) {
      await enter('payee', affiliate, SEPA)
      statements.push(await due(affiliate, '10.00'), await due(affiliate, '1.50', '2024-09'))
    }
    const from = randomSource(env.SEED)
    const shown = await Promise.all(
      [undefined, undefined, from.some(statements), from.some(statements)].map((named) =>
        json(preview({ statements: named })),
      ),
    )
    const answers = await Promise.all(shown.flatMap((one) => [confirm(one), confirm(one)]))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
    const { results } = await env.DB.prepare(
      `select t.id as transfer, i.value as statement, s.transfer as own
       from transfers t, json_each(t.statements) i join statements s on s.id = i.value`,
    ).all<{ transfer: string; statement: string; own: string }>()
    const taken = results.map(({ statement }) => statement)
    expect(taken.length).toBeGreaterThan(0)
    expect(new Set(taken).size).toBe(taken.length)
    expect(results.every(({ transfer, own }) => transfer === own)).toBe(true)
    // A batch is confirmed for both who ask, or for none.
    for (const i of shown.keys()) expect(statuses[2 * i]).toBe(statuses[2 * i + 1])
  })

  test('§20.2 is refused if it would pay anything else than what was seen', async () => {
    await enter('payee', 'a-00', SEPA)
    const statement = await due('a-00', '10.00')
    const seen = await json(preview())
    expect((await confirm({ ...seen, total: '10.01' })).status).toBe(409)
    expect((await confirm({ ...seen, hash: '0'.repeat(64) })).status).toBe(409)
    const more = await due('a-00', '0.01', '2024-09')
    expect((await json(confirm(seen))).detail).toContain('10.01')
    await change('delete from statements where id = ?', more).catch(() => null)
    const again = await json(preview({ statements: [statement] }))
    await enter('payee', 'a-00', SEPA, { version: 2 })
    expect((await confirm(again)).status).toBe(409)
    const last = await json(preview({ statements: [statement] }))
    await hold('a-00')
    expect((await confirm(last)).status).toBe(409)
    await change(`update fraud_cases set status = 'dismissed'`)
    await enterPayer2()
    expect((await confirm(last)).status).toBe(409)
    expect(await env.DB.prepare('select * from transfers').all()).toMatchObject({ results: [] })
  })

  const enterPayer2 = () => enter('payer', 'main', { ...SEPA, currency: 'EUR' }, { version: 2 })

  test('§20.2 is the same again', async () => {
    const batch = await batchOfTwo()
    expect(await json(confirm(batch))).toEqual(batch)
    expect((await confirm({ ...batch, total: '1.00' })).status).toBe(409)
    expect((await json(askAdmin(`${PATH}/payouts`))).data).toEqual([])
    expect((await json(askAdmin(`${PATH}/batches`))).data).toMatchObject([
      { id: batch.id, state: 'created', states: { created: 2 }, total: '20.00' },
    ])
  })
})

describe('the file of a batch', () => {
  const text = async (id: string) => (await askFile(id)).text()

  test('§20.2 has the same bytes for ever', async () => {
    const { id } = await batchOfTwo()
    const [first, other] = await Promise.all([text(id), text(id)])
    expect(other).toBe(first)
    expect(first).toContain('<NbOfTxs>2</NbOfTxs><CtrlSum>20.00</CtrlSum>')
    at(new Date(Date.now() + DAY_MS).toISOString())
    await enter('payee', 'a-00', { ...SEPA, name: 'Eve' }, { version: 2 })
    await enter('payer', 'main', { ...SEPA, name: 'Eve', currency: 'EUR' }, { version: 2 })
    await change(`update payees set state = 'blocked' where id = 'a-01'`)
    expect(await text(id)).toBe(first)
    const { keys } = JSON.parse(env.TRACKING_KEYS)
    const newest = { ...keys[0], k: 'k'.repeat(43) }
    const TRACKING_KEYS = JSON.stringify({ keys: [newest, ...keys] })
    const call = { db: env.DB, account: { id: 'acme-forex' }, env: { ...env, TRACKING_KEYS } }
    const rotated = await exportBatch(call as never, id)
    expect(rotated.text).toBe(first)
    await cancel(id)
    expect(await text(id)).toBe(first)
    const { data } = await json(askAdmin('audit-log'))
    const actions = data.map(({ action }: { action: string }) => action)
    expect(actions.filter((one: string) => one === 'batch.export')).toHaveLength(1)
  })

  test('§20 goes to no details that are not approved for long enough', async () => {
    const { id } = await batchOfTwo()
    const refused = async (name: string) => {
      const answer = await json(askFile(id))
      expect([answer.status, answer.detail]).toEqual([409, expect.stringContaining(`\`${name}\``)])
      expect((await show(id)).state).toBe('created')
    }
    const now = Date.now()
    await change(`update payees set payable_from = ? where id = 'a-01'`, now + 71 * HOUR_MS)
    await refused('a-01')
    await change(`update payees set payable_from = 1, state = 'entered' where id = 'a-01'`)
    await refused('a-01')
    await change(`update payees set state = 'approved'`)
    await hold('a-00')
    await refused('a-00')
    await change(`update fraud_cases set status = 'dismissed'`)
    await enter('payee', 'a-01', SEPA, { version: 2, entered_at: now - HOUR_MS })
    await refused('a-01')
    await change(`delete from payees where version = 2`)
    await enter('payer', 'main', SEPA, { version: 2 })
    await refused('main')
    await change(`delete from payees where version = 2`)
    expect((await askFile(id)).status).toBe(200)
    expect((await show(id)).state).toBe('exported')
  })

  test('§20.2 waits for a confirmation, and is not of a cancelled batch', async () => {
    const { id } = await batchOfTwo()
    await cancel(id)
    expect((await askFile(id)).status).toBe(409)
    expect((await askFile((await json(preview())).id)).status).toBe(409)
    expect((await askFile('B000000000')).status).toBe(404)
  })
})

describe('a batch', () => {
  test('§20.4 and its transfers are found by their references, however these are written', async () => {
    const { id, transfers } = await batchOfTwo()
    const [{ id: one }] = transfers
    const find = async (text: string) => {
      const path = `${PATH}/batches?reference=${encodeURIComponent(text)}`
      return (await json(askAdmin(path))).data.map((found: { id: string }) => found.id)
    }
    expect(await find(`SEPA ${one.slice(0, 4).toLowerCase()} ${one.slice(4)}/x`)).toEqual([id])
    expect(await find(id)).toEqual([id])
    expect(await find('T000000000')).toEqual([])
  })

  test('§20.2 gives its statements free when it is cancelled', async () => {
    const { id, transfers } = await batchOfTwo()
    await askFile(id)
    await change(`update transfers set state = 'paid' where id = ?`, transfers[0].id)
    await change(`update statements set status = 'paid', payment = 'p' where affiliate_id = 'a-00'`)
    const answer = await json(cancel(id))
    expect(answer).toMatchObject({ state: 'partial', states: { paid: 1, cancelled: 1 } })
    expect(await json(cancel(id))).toEqual(answer)
    expect((await json(preview())).transfers).toMatchObject([
      { affiliate_id: transfers[1].affiliate_id },
    ])
  })

  test('§20.2 has the lowest state of its transfers while none fails', async () => {
    const { id, transfers } = await batchOfTwo()
    const steps = [
      ...['exported 0 created', 'accepted 1 exported', 'paid 0 accepted', 'paid 1 paid'],
      ...['returned 0 partial', 'returned 1 returned'],
    ]
    for (const step of steps) {
      const [state = '', i, shown] = step.split(' ')
      await change('update transfers set state = ? where id = ?', state, transfers[Number(i)].id)
      expect((await show(id)).state, step).toBe(shown)
    }
  })
})

test('§20.2 what the bank rejected is due again, unticked, and needs attention until it is paid', async () => {
  const { id } = await batchOfTwo()
  await change(`update transfers set state = 'rejected', code = 'AC04' where affiliate_id = 'a-00'`)
  const { data } = await json(askAdmin(`${PATH}/payouts`))
  expect(data).toMatchObject([{ affiliate_id: 'a-00', returned: [{ reason: 'AC04' }] }])
  const attention = async () =>
    (await json(askAdmin(`${PATH}/attention`))).data.find(
      ({ code }: { code: string }) => code === 'returned_payments',
    )
  expect(await attention()).toMatchObject({ count: 1, names: ['a-00'] })
  const seen = await json(preview())
  expect(seen.left_out).toMatchObject([{ reason: 'returned' }])
  await confirmed({ statements: [seen.left_out[0].statement_id] })
  expect(await attention()).toBeUndefined()
  expect((await show(id)).state).toBe('partial')
})

test('§20.2 nobody pays by hand what a batch pays, and what came back by hand is not chosen', async () => {
  const batch = await batchOfTwo()
  const [{ id, statements }] = batch.transfers
  const of = `${PATH}/statements/${statements[0]}`
  const pay = (reference: string) =>
    askAdmin(`${of}/pay`, 'POST', { reference, paid_on: '2024-12-01' })
  const owed = async () => (await json(askAdmin(`${PATH}/periods`))).due
  expect(await owed()).toEqual([])
  expect((await json(pay('R-1'))).code).toBe('conflict')
  expect((await json(pay(id))).code).toBe('conflict')
  await change(`update transfers set state = 'paid' where id = ?`, id)
  expect((await pay(id)).status).toBe(200)
  const back = { reference: 'R-2', returned_on: '2024-12-02', reason: 'Closed' }
  expect((await askAdmin(`${of}/return`, 'POST', back)).status).toBe(200)
  expect(await owed()).toMatchObject([{ affiliates: 1, amount: '10.00' }])
  expect((await json(preview())).left_out).toMatchObject([{ reason: 'returned' }])
  const [transfer] = (await show(batch.id)).transfers
  expect(transfer).toMatchObject({ state: 'returned', reason: 'Closed' })
})
