import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { type Details, DOUBTS, LEFT_OUT, PAYOUT_LIMITS } from '../../src/payouts/model.ts'
import { tendDetails } from '../../src/payouts/payees.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { dayNumber, dayText } from '../../src/platform/db/column-types.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'
import { rowsOf } from '../books/book-rows.ts'
import { fetchWith } from '../checked-fetch.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { at } from '../days.ts'
import { storeCases } from '../fraud/stored-cases.ts'
import { restoring } from '../limits.ts'
import { askAdmin, json, ORIGIN, register } from '../partner.ts'
import { asTeam } from '../requests.ts'
import {
  ADA,
  askExport,
  askFile,
  bookByHand,
  change,
  confirm,
  confirmed,
  due,
  EXECUTE_ON,
  enter,
  hold,
  PATH,
  PAYER,
  preview,
  show,
} from './payout-rows.ts'

const AFFILIATES = Array.from({ length: 16 }, (_, i) => `a-${String(i).padStart(2, '0')}`)

restoring(PAYOUT_LIMITS)

beforeEach(async () => {
  await register('forex', { affiliates: AFFILIATES })
  await enter('payer', 'main', PAYER)
})

const cancel = (id: string) =>
  askAdmin(`${PATH}/batches/${id}/cancel`, 'POST', { reason: 'The bank refused it' })

/** Stores two affiliates with a statement each, and returns their confirmed batch. */
async function batchOfTwo() {
  for (const affiliate of ['a-00', 'a-01']) {
    await enter('payee', affiliate, ADA)
    await due(affiliate, '10.00')
  }
  return confirmed()
}

const cents = (text: string) => BigInt(text.replace('.', ''))

type Batch = Record<string, unknown>

/** What may be wrong with an affiliate or its statements: the reasons of §20.2 that leave these out, in their order. */
const FLAWS = LEFT_OUT.slice(0, -1)

/** Stores an affiliate with some flaws, and returns its statement. */
async function store(affiliate: string, flaws: readonly string[], from: Source) {
  const has = (flaw: string) => flaws.includes(flaw)
  const isRefused = has('returned') && from.oneIn(2)
  if (!has('no_payee')) {
    const waits = has('not_approved') ? 'entered' : isRefused ? 'returned' : 'approved'
    const state = has('blocked') ? 'blocked' : waits
    const details: Details = { ...ADA, method: has('other_method') ? 'wise' : 'sepa' }
    const payable_from = has('changed') ? Date.now() * 2 : 1
    await enter('payee', affiliate, details, { state, payable_from })
  }
  if (has('held')) await hold(affiliate)
  const severity = has('case') ? from.pick(['high', 'medium'] as const) : 'low'
  await storeCases({ id: affiliate, affiliate, rule: 'r', action: 'flag', severity })
  if (has('suspended'))
    await change(`update affiliates set status = 'suspended' where affiliate_id = ?`, affiliate)
  const amount = `${from.between(0, 99)}.${from.between(10, 99)}`
  const currency = has('other_currency') ? 'USD' : 'EUR'
  const id = await due(affiliate, amount, { currency })
  // What came back from former details, or before they were approved again, is due like any other.
  const [version = 1, at = 1] = has('returned') ? [] : from.pick([[0], [1, 0]])
  await change(
    `insert into transfers values ('acme-forex', ?, 'old', ?, ?, ?, ?, '[]', ?, null, null, null, ?)`,
    ...[id, affiliate, version, currency, amount, from.pick(['returned', 'rejected']), at],
  )
  await change('update statements set transfer = id where id = ?', id)
  return { affiliate, flaws, isRefused, id, amount }
}

test('§20.2 a preview pays all that may be paid, to the cent, and says why it leaves out the rest', async () => {
  const from = randomSource(env.SEED)
  const limit = from.between(3, 6)
  PAYOUT_LIMITS.transfers = limit
  const all: Awaited<ReturnType<typeof store>>[] = []
  for (const id of AFFILIATES)
    all.push(await store(id, from.oneIn(2) ? [] : FLAWS.filter(() => from.oneIn(4)), from))
  for (const named of [undefined, from.some(all.map(({ id }) => id))]) {
    const asked = all.flatMap(({ flaws, isRefused, ...one }) => {
      if (!named) return [{ ...one, reason: flaws[0] }]
      const own = [...flaws, isRefused && 'not_approved']
      const reason = FLAWS.find((flaw) => own.includes(flaw) && !DOUBTS.includes(flaw as never))
      return named.includes(one.id) ? [{ ...one, reason }] : []
    })
    const payable = asked.filter(({ reason }) => !reason)
    const shown = await json(preview({ statements: named }))
    const { transfers, left_out, total } = shown
    expect(left_out.map((one: Batch) => [one.statement_id, one.reason])).toEqual([
      ...asked.flatMap(({ id, reason }) => (reason ? [[id, reason]] : [])),
      ...payable.slice(limit).map(({ id }) => [id, 'next_batch']),
    ])
    const paid = payable.slice(0, limit)
    expect(transfers.map((one: Batch) => [one.affiliate_id, one.amount, one.statements])).toEqual(
      paid.map(({ affiliate, amount, id }) => [affiliate, amount, [id]]),
    )
    expect(cents(total)).toBe(paid.reduce((sum, { amount }) => sum + cents(amount), 0n))
    expect((await askExport(shown.id)).status).toBe(409)
    expect((await confirm(shown)).status).toBe(paid.length > 0 ? 200 : 409)
    if (paid.length > 0) expect((await show(shown.id)).transfers).toEqual(transfers)
    await cancel(shown.id)
    expect((await askExport(shown.id)).status).toBe(409)
  }
})

test('§20.2 a preview is refused for a payer that cannot pay, a day too early or late, and what is not due', async () => {
  await enter('payer', 'fresh', PAYER, { payable_from: Date.now() + HOUR_MS })
  await enter('payer', 'dollars', { ...PAYER, currency: 'USD' })
  const refused = [
    [404, { payer: 'none' }],
    [409, { payer: 'fresh' }],
    [409, { payer: 'dollars' }],
    [409, { statements: ['stm_1'] }],
    [422, { execute_on: '2020-01-01' }],
    [422, { execute_on: '2040-12-15' }],
  ] as const
  for (const [status, asked] of refused) expect((await preview(asked)).status).toBe(status)
})

test('§20.2 a confirmation is refused once the day of its execution is over', async () => {
  await enter('payee', 'a-00', ADA)
  await due('a-00', '10.00')
  const { id } = await json(preview())
  await change('update payout_batches set execute_on = ?', dayText(dayNumber(EXECUTE_ON) - 3))
  expect(await json(confirm(await show(id)))).toMatchObject({
    status: 422,
    errors: [{ pointer: '/execute_on', code: 'minimum' }],
  })
})

test('§20.2 a confirmation is refused if it would pay anything else than what was seen', async () => {
  await enter('payee', 'a-00', ADA)
  await due('a-00', '10.00')
  const seen = await json(preview())
  expect((await confirm({ ...seen, total: '10.02' })).status).toBe(409)
  expect((await confirm({ ...seen, hash: '0'.repeat(64) })).status).toBe(409)
  await due('a-00', '0.01')
  const { status, detail } = await json(confirm(seen))
  expect([status, detail]).toEqual([409, expect.stringContaining('pays 10.01 EUR')])
  expect(await rowsOf('transfers')).toEqual([])
})

test('§20.3 a batch has no file before its export, which any number may ask for, and which counts once', async () => {
  const { id, files } = await batchOfTwo()
  expect([(await askFile(id)).status, files]).toEqual([409, []])
  const [first, again] = await Promise.all([askExport(id), askExport(id)].map(json))
  expect(first).toMatchObject({ state: 'exported', files: [{ n: 1, rows: 2, name: `${id}.xml` }] })
  expect([again, await json(askExport(id))]).toEqual([first, first])
  const log = await rowsOf('audit_log')
  const confirmed = log.find(({ action }) => action === 'batch.confirm')
  expect(Object.keys(JSON.parse(String(confirmed?.details)))).toEqual([
    'batch',
    'hash',
    'total',
    'currency',
  ])
  const exports = log.filter(({ action }) => action === 'batch.export')
  expect(exports).toHaveLength(1)
  const of = (n: number) => askAdmin(`${PATH}/batches/${id}/file?n=${n}`)
  const file = await of(1)
  expect([file.headers.get('ETag'), (await of(2)).status]).toEqual([
    `"${first.files[0].hash}"`,
    404,
  ])
})

test('§20.2 the file of a batch has the same bytes for ever, and nothing is stored to try numbers against', async () => {
  const { id } = await batchOfTwo()
  const text = async (keys: unknown[] = JSON.parse(env.TRACKING_KEYS).keys) => {
    const world = { ...env, TRACKING_KEYS: JSON.stringify({ keys }) }
    const path = `${ORIGIN}/admin/v1/${PATH}/batches/${id}/file`
    return (await fetchWith(world, new Request(path, { headers: asTeam() }))).text()
  }
  await askExport(id)
  const [first, other] = await Promise.all([text(), text()])
  expect(other).toBe(first)
  const stored = [await rowsOf('payout_batches'), await rowsOf('audit_log')]
  expect(JSON.stringify(stored)).not.toContain(await digest(first))
  at(new Date(Date.now() + DAY_MS).toISOString())
  await enter('payee', 'a-00', { ...ADA, name: 'Eve' }, { version: 2 })
  await enter('payer', 'main', { ...PAYER, name: 'Eve' }, { version: 2 })
  await change(`update payees set state = 'blocked' where id = 'a-01'`)
  const account = (await findAccount(env.DB, 'acme-forex'))!
  const key = { kty: 'oct', alg: 'HS256', kid: 'new', k: 'A'.repeat(43) }
  for (const keys of [[key, ...JSON.parse(env.TRACKING_KEYS).keys], [key]]) {
    expect(await text(keys)).toBe(first)
    const TRACKING_KEYS = JSON.stringify({ keys })
    await tendDetails({ ...env, TRACKING_KEYS }, env.DB, account, Date.now())
    await cancel(id)
  }
  expect(await text([key])).toBe(first)
})

test('§20.2 a batch gives its statements free when it is cancelled, and repeats change nothing', async () => {
  const batch = await batchOfTwo()
  const { id, transfers } = batch
  expect(await json(confirm(batch))).toEqual(batch)
  await askExport(id)
  await change(`update transfers set state = 'paid' where id = ?`, transfers[0].id)
  await change(`update statements set status = 'paid', payment = 'p' where affiliate_id = 'a-00'`)
  const answer = await json(cancel(id))
  expect(answer).toMatchObject({ state: 'partial', states: { paid: 1, cancelled: 1 } })
  expect(await json(cancel(id))).toEqual(answer)
  expect((await json(preview())).transfers).toMatchObject([
    { affiliate_id: transfers[1].affiliate_id },
  ])
})

test('§20.2 what the bank rejected is left out, and needs attention, until it is approved again or paid', async () => {
  const { id, transfers } = await batchOfTwo()
  const attention = async () => {
    const { data } = await json(askAdmin(`${PATH}/attention`))
    return data.flatMap((one: Batch) => (one.code === 'returned_payments' ? one.names : []))
  }
  await change(`update transfers set state = 'rejected', changed_at = ?`, Date.now() - 1)
  await change(`update payees set state = 'returned' where id = 'a-01'`)
  expect((await attention()).sort()).toEqual(['a-00', 'a-01'])
  const reason = 'returned'
  expect((await json(preview())).left_out).toMatchObject([{ reason }, { reason }])
  await askAdmin(`${PATH}/affiliates/a-01/payee/approve`, 'POST', { version: 1 })
  expect(await attention()).toEqual(['a-00'])
  expect((await json(preview())).transfers).toMatchObject([{ affiliate_id: 'a-01' }])
  await confirmed({ statements: transfers[0].statements })
  expect(await attention()).toEqual([])
  expect((await show(id)).state).toBe('rejected')
})

test('§20.2 nobody pays by hand what a batch pays, and what came back by hand is not chosen', async () => {
  const batch = await batchOfTwo()
  const [{ id, statements }] = batch.transfers
  const of = `${PATH}/statements/${statements[0]}`
  const pay = (reference: string) =>
    askAdmin(`${of}/pay`, 'POST', { reference, paid_on: '2024-12-01' })
  const owed = async () => (await json(askAdmin(`${PATH}/periods`))).due
  expect(await owed()).toEqual([])
  for (const reference of ['R-1', id]) expect((await pay(reference)).status).toBe(409)
  await askExport(batch.id)
  expect((await bookByHand(id, { amount: '10.00' })).status).toBe(200)
  const back = { reference: 'R-2', returned_on: '2024-12-02', reason: 'Closed' }
  expect((await askAdmin(`${of}/return`, 'POST', back)).status).toBe(409)
  expect((await bookByHand(id, { direction: 'returned', amount: '10.00' })).status).toBe(200)
  expect(await owed()).toMatchObject([{ affiliates: 1, amount: '10.00' }])
  expect((await json(preview())).left_out).toMatchObject([{ reason: 'returned' }])
  const [transfer] = (await show(batch.id)).transfers
  expect(transfer).toMatchObject({ state: 'returned', reason: null })
})
