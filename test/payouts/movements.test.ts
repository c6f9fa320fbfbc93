import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { dayNumber, dayText } from '../../src/platform/db/column-types.ts'
import { rowsOf } from '../books/book-rows.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json } from '../partner.ts'
import { BOOKED_ON, CSVS, camt, type Ntry, pain002 } from './bank-files.ts'
import {
  apply,
  book,
  bookByHand,
  change,
  due,
  firm,
  PATH,
  payable,
  prepare,
  type Sent,
  send,
  sent,
  show,
} from './payout-rows.ts'

const AFFILIATES = ['a', 'b', 'c', 'd', 'e']

let all: Record<string, Sent>

beforeEach(async () => {
  await firm(AFFILIATES)
  all = await sent({ a: '30.11', b: '20.00', c: '7.00' })
  await change('update payout_batches set confirmed_at = ?', Date.now() - 30 * 86_400_000)
})

const daysAgo = (days: number) => dayText(dayNumber(BOOKED_ON) - days)

/** Writes an entry of a transfer: a debit, unless it came back. */
const entry = (one: Sent, day: number, bankReference?: string, more: Partial<Ntry> = {}): Ntry => ({
  ...{ amount: one.amount, txs: [{ reference: one.id }], day: daysAgo(day), ...more },
  ...(bankReference && { bankReference }),
})

const CREDIT = { direction: 'CRDT' } as const

/** Returns what the movements that nobody has looked at are, by their references. */
const openDoubts = async (batch: string) =>
  (await show(batch)).movements.map((one: { reference: string; doubt: string }) => [
    one.reference,
    one.doubt,
  ])

const attention = async () =>
  (await json(askAdmin(`${PATH}/attention`))).data.find(
    ({ code }: { code: string }) => code === 'unbooked_movements',
  )

const dismiss = (reference: string) =>
  json(askAdmin(`${PATH}/transfers/${reference}/dismiss`, 'POST', { reason: 'It came back.' }))

/** Which affiliates are not ticked because they may have been paid twice. */
async function leftOut() {
  const rows = (await payable()).filter(({ ticked }) => !ticked)
  return Object.fromEntries(rows.map(({ affiliate_id, doubts }) => [affiliate_id, doubts[0]?.code]))
}

test('§20.4 a second movement is named and leaves its affiliate out, until a person dismisses it', async () => {
  const { a, b } = all as Record<'a' | 'b', Sent>
  await book(camt([entry(a, 9, 'B-1'), entry(b, 9, 'B-2')]))
  const again = await json(send(camt([entry(a, 6, 'B-3')])))
  expect(again).toMatchObject({ booked: [], doubts: 1, unmatched: 1 })
  expect(again.unmatched_rows).toEqual([
    expect.objectContaining({
      doubt: 'paid_twice',
      detail: `${a.id} was paid on ${daysAgo(9)}, and this row is of ${daysAgo(6)}. Was the file uploaded twice?`,
    }),
  ])
  expect(await attention()).toBeUndefined()
  await apply(again.hash)
  expect(await attention()).toMatchObject({ count: 1, names: [a.id] })
  for (const affiliate of ['a', 'b']) await due(affiliate, '1.00')
  expect(await leftOut()).toEqual({ a: 'paid_twice' })
  expect(await dismiss(a.id)).toEqual({ reference: a.id, dismissed: 1 })
  expect(await dismiss(a.id)).toEqual({ reference: a.id, dismissed: 0 })
  expect([await attention(), await leftOut()]).toEqual([undefined, {}])
  const log = await rowsOf('audit_log')
  expect(log.filter(({ action }) => action === 'movements.dismiss')).toHaveLength(1)
  expect(await json(send(camt([entry(a, 6, 'B-3')])))).toMatchObject({ doubts: 0, unchanged: 1 })
  expect((await dismiss('T000000000')).status).toBe(404)
})

test('§20.4 a batch that leaves twice by its sum is one doubt of all its affiliates', async () => {
  const { a } = all as { a: Sent }
  const whole = (day: number): Ntry => ({ amount: '57.11', batch: a.batch, day: daysAgo(day) })
  await book(camt([whole(9)]))
  const twice = camt([whole(9), whole(9), whole(3)])
  expect(await book(twice)).toMatchObject({ booked: [], doubts: 2, unchanged: 3 })
  for (const affiliate of AFFILIATES) await due(affiliate, '1.00')
  expect(await leftOut()).toEqual({ a: 'paid_twice', b: 'paid_twice', c: 'paid_twice' })
  expect(await json(send(twice))).toMatchObject({ doubts: 0, unchanged: 5 })
  expect(await dismiss(a.batch)).toEqual({ reference: a.batch, dismissed: 2 })
  expect(await leftOut()).toEqual({})
})

test('§20.4 the same movement in another file is unchanged, whoever gives it a reference', async () => {
  const { a, b } = all as Record<'a' | 'b', Sent>
  const csv = CSVS['our own']!([{ reference: a.id, amount: a.amount }])
  await book(camt([entry(a, 0, 'B-1')]))
  await book(CSVS['our own']!([{ reference: b.id, amount: b.amount }]))
  for (const file of [
    camt([entry(a, 0, 'B-1')]).concat('\n'),
    camt([entry(a, 0, 'B-1')], { kind: '054' }),
    camt([entry(a, 0)], { kind: '052' }),
    camt([entry(b, 0, 'B-2')]),
    csv,
  ]) {
    expect(await json(send(file))).toMatchObject({ booked: [], doubts: 0, unchanged: 1 })
  }
  for (const file of [camt([entry(b, 0), entry(b, 0)]), camt([entry(a, 0, 'B-3')])]) {
    expect(await book(file)).toMatchObject({ booked: [], doubts: 1 })
    expect(await json(send(`${file}\n`))).toMatchObject({ booked: [], doubts: 0 })
  }
  expect((await openDoubts(a.batch)).sort()).toEqual(
    [
      [a.id, 'paid_twice'],
      [b.id, 'paid_twice'],
    ].sort(),
  )
})

test('§20.4 a row of another amount is another movement, also on the same day', async () => {
  const { a } = all as { a: Sent }
  const [whole, fee] = [entry(a, 0), { ...entry(a, 0), amount: '5.00' }]
  await book(camt([whole]))
  expect(await book(camt([fee]))).toMatchObject({ booked: [], doubts: 1 })
  expect(await openDoubts(a.batch)).toEqual([[a.id, 'not_booked']])
  expect(await json(send(camt([fee, whole])))).toMatchObject({ doubts: 0, unchanged: 2 })
})

test('§20.4 what moves after a return, a rejection or a cancellation is named', async () => {
  const { a, b, c } = all as Record<'a' | 'b' | 'c', Sent>
  const { d } = await sent({ d: '5.00' })
  await change('update payout_batches set confirmed_at = ?', Date.now() - 30 * 86_400_000)
  await book(pain002(b.batch, 'PART', [{ reference: b.id, status: 'RJCT' }]))
  await askAdmin(`${PATH}/batches/${d.batch}/cancel`, 'POST', { reason: 'The bank refused it.' })
  await book(camt([entry(a, 9), entry(a, 8, '', CREDIT), entry(c, 9)]))
  await bookByHand(c.id, { direction: 'returned', booked_on: daysAgo(5), amount: c.amount })
  const moved = [
    entry(a, 7),
    entry(a, 6, '', CREDIT),
    entry(b, 9),
    entry(c, 5, '', CREDIT),
    entry(c, 4, '', CREDIT),
    entry(d, 9),
    { ...entry(d, 9), amount: '0.50' },
  ]
  expect(await book(camt(moved))).toMatchObject({ booked: [], doubts: 6, unchanged: 1 })
  expect([...(await openDoubts(a.batch)), ...(await openDoubts(d.batch))].sort()).toEqual(
    [
      [a.id, 'paid_twice'],
      [a.id, 'not_booked'],
      [b.id, 'paid_after_cancel'],
      [c.id, 'not_booked'],
      [d.id, 'paid_after_cancel'],
      [d.id, 'not_booked'],
    ].sort(),
  )
  const cancelled: Ntry = { amount: d.amount, batch: d.batch, day: daysAgo(1) }
  await book(camt([cancelled]))
  expect(await openDoubts(d.batch)).toContainEqual([d.batch, 'paid_after_cancel'])
})

test('§20.4 a doubt ends when its movement is booked after all, and not when another one is', async () => {
  const { a } = all as { a: Sent }
  const early = camt([entry(a, 3, 'B-9', CREDIT), { ...entry(a, 3, 'B-8'), amount: '0.50' }])
  await book(early)
  expect(await openDoubts(a.batch)).toHaveLength(2)
  await book(camt([entry(a, 5)]))
  await book(early)
  expect((await show(a.batch)).movements).toMatchObject([{ reference: a.id, amount: '0.50' }])
})

test('§20.4 a doubt that a second file notes stays open, and one that was dismissed stays dismissed', async () => {
  const { a } = all as { a: Sent }
  await book(camt([entry(a, 9)]))
  const file = camt([entry(a, 6)])
  const seen = await Promise.all([file, `${file}\n`, `${file}\n\n`].map((one) => json(send(one))))
  for (const { hash } of seen.slice(1)) {
    await apply(hash)
    expect(await openDoubts(a.batch)).toEqual([[a.id, 'paid_twice']])
  }
  await dismiss(a.id)
  await apply(seen[0].hash)
  expect(await attention()).toBeUndefined()
})

test('§20.4 of two movements that were seen as the only one, the second is refused', async () => {
  const { a } = all as { a: Sent }
  const files = [camt([entry(a, 9, 'B-1')]), camt([entry(a, 6, 'B-2')])]
  const [first, second] = await Promise.all(files.map((file) => json(send(file))))
  await apply(first.hash)
  expect(await apply(second.hash)).toMatchObject({ status: 409 })
  expect(await book(files[1]!)).toMatchObject({ doubts: 1 })
})

const SEEDS = Array.from({ length: env.MODEL_RUNS || 3 }, (_, n) => env.SEED * 1000 + n)

/** A movement of the bank. */
interface Moved {
  readonly one: Sent
  readonly entry: Ntry
}

/** Draws what the bank really did: debits and credits of transfers, each with a day and a reference of its own. */
const drawMovements = (from: Source, transfers: readonly Sent[]): Moved[] =>
  transfers.flatMap((one, t) =>
    Array.from({ length: from.below(5) }, (_, n) => {
      const more = from.oneIn(3) ? CREDIT : {}
      const amount = from.oneIn(6) ? '0.01' : one.amount
      return { one, entry: entry(one, from.below(20), `B-${t}-${n}`, { ...more, amount }) }
    }),
  )

test.each(SEEDS)(
  '§20.4 law 7: each movement that a file names is booked or stands open, once (seed %s)',
  async (seed) => {
    const from = randomSource(seed)
    const more = await sent({ d: '1.00', e: '2.00' })
    await change('update payout_batches set confirmed_at = ?', Date.now() - 30 * 86_400_000)
    await askAdmin(`${PATH}/batches/${more.d.batch}/cancel`, 'POST', { reason: 'No' })
    const transfers = [...Object.values(all), ...Object.values(more)]
    const moved = drawMovements(from, transfers)
    const files = Array.from({ length: 5 }, () => from.shuffle(from.some(moved)))
    for (const file of [...files, moved]) await book(camt(file.map((one) => one.entry)))
    const stored = await rowsOf('bank_movements')
    const keyOf = (...parts: unknown[]) => parts.join(' ')
    expect(stored.map((one) => keyOf(one.reference, one.bank_reference)).sort()).toEqual(
      moved.map(({ one, entry: { bankReference } }) => keyOf(one.id, bankReference)).sort(),
    )
    const booked = stored.filter(({ doubt }) => doubt === null)
    const payments = await rowsOf('payments')
    const returns = await rowsOf('payment_returns')
    expect(booked.map((one) => keyOf(one.reference, one.direction, one.day)).sort()).toEqual(
      [
        ...payments.map((one) => keyOf(one.reference, 'paid', one.paid_on)),
        ...returns.map((one) => keyOf(one.payment, 'returned', one.returned_on)),
      ].sort(),
    )
    const open = stored.filter(({ doubt }) => doubt !== null)
    expect((await attention())?.count ?? 0).toBe(open.length)
    const twice = open.filter(({ doubt }) => /^paid_/.test(String(doubt)))
    const affiliates = transfers.flatMap(({ id, affiliate_id }) =>
      twice.some(({ reference }) => reference === id) ? [affiliate_id] : [],
    )
    for (const affiliate of AFFILIATES) await due(affiliate, '1.00')
    const shown = await json(prepare())
    for (const { affiliate_id } of shown.transfers) expect(affiliates).not.toContain(affiliate_id)
    for (const file of [...files, moved]) {
      const seen = await json(send(camt(file.map((one) => one.entry))))
      expect(seen).toMatchObject({ booked: [], doubts: 0, unchanged: file.length })
    }
    for (const { id } of transfers) await dismiss(id)
    expect(await attention()).toBeUndefined()
    expect(Object.values(await leftOut())).not.toContain('paid_twice')
  },
)

test('the page of a batch shows what is doubtful, and an approver dismisses it', async () => {
  const { a } = all as { a: Sent }
  await book(camt([entry(a, 9), entry(a, 8)]))
  const { get, post, csrf } = await signedIn()
  const at = `/console/accounts/acme-forex/batches/${a.batch}`
  expect(await (await get(at)).text()).toMatch(/Look at it with your bank.*It left twice/s)
  const [, movement = ''] = /name="movement" value="([^"]+)"/.exec(await (await get(at)).text())!
  const decided = { change: 'settle', movement, reason: 'It came back' }
  await post(at, { csrf: await csrf(at), ...decided, decision: 'dismiss' })
  expect(await (await get(at)).text()).not.toContain('Look at it with your bank')
  const overview = await (await get('/console/accounts/acme-forex')).text()
  expect(overview).not.toContain('is not booked')
})
