import { beforeEach, expect, test } from 'vitest'
import { rowsOf } from '../books/book-rows.ts'
import { fetchWith } from '../checked-fetch.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json } from '../partner.ts'
import { surrounded } from '../sweep/platform.ts'
import { BOOKED_ON, camt } from './bank-files.ts'
import {
  apply,
  book,
  bookByHand,
  change,
  confirmed,
  due,
  EXECUTE_ON,
  firm,
  PATH,
  payable,
  requestOf,
  rowsOfEach,
  type Sent,
  send,
  sent,
  show,
} from './payout-rows.ts'

// What a person books of money that has moved.

let a: Sent
let b: Sent
let c: Sent

beforeEach(async () => {
  await firm(['a', 'b', 'c'])
  ;({ a, b, c } = await sent({ a: '100.00', b: '20.00', c: '7.00' }))
})

const fee = { difference: { kind: 'fee', reason: 'Wire fee' } }
const owed = { difference: { kind: 'owed', reason: 'Our limit of a day' } }
const back = { direction: 'returned' }

/** Returns the status of a booking, and its code or outcome. */
async function outcome(reference: string, more: object) {
  const { status = 200, code, outcome } = await json(bookByHand(reference, more))
  return `${status} ${outcome ?? code}`
}

/** Returns what is due, by affiliate, what is booked in the ledger, and the balance. */
async function books() {
  const ledger = await rowsOf('ledger')
  return {
    due: Object.fromEntries((await payable()).map((one) => [one.affiliate_id, one.amount])),
    ledger: ledger.map(({ affiliate_id, amount }) => `${affiliate_id} ${amount}`).sort(),
  }
}

test('§20.4 a booking by hand is refused that is not of the transfer, or has no reason for its difference', async () => {
  await due('a', '3.00')
  const { transfers } = await confirmed({ rows: rowsOfEach(['a']) })
  await bookByHand(c.id, { amount: '7.00', bank_reference: 'B-7' })
  const refused: [string, object, string][] = [
    ['T000000000', { amount: '1.00' }, '404 not_found'],
    [a.batch, { amount: '127.00' }, '404 not_found'],
    [a.id, { amount: '99.00' }, '422 validation_failed'],
    [a.id, { amount: '100.00', ...fee }, '422 validation_failed'],
    [a.id, { amount: '100.01', ...owed }, '422 validation_failed'],
    [a.id, { amount: '100.001' }, '422 validation_failed'],
    [a.id, { amount: '0' }, '422 validation_failed'],
    [a.id, { amount: '100.00', booked_on: '2020-01-01' }, '422 validation_failed'],
    [a.id, { amount: '100.00', booked_on: '2040-01-01' }, '422 validation_failed'],
    [a.id, { amount: '100.00', ...back }, '409 conflict'],
    [a.id, { amount: '100.00', bank_reference: 'B-7' }, '409 conflict'],
    [transfers[0].id, { amount: '3.00' }, '409 conflict'],
    [c.id, { amount: '7.00', bank_reference: 'B-8' }, '409 conflict'],
    [c.id, { amount: '7.50', ...fee }, '409 conflict'],
  ]
  const before = await books()
  for (const [reference, more, code] of refused) {
    expect([more, await outcome(reference, more)]).toEqual([more, code])
  }
  expect(await books()).toEqual(before)
})

test('§20.4 `fee` settles the transfer in whole, and `owed` what moved: the rest stays due, and is paid after it', async () => {
  const bookings: [string, object][] = [
    [a.id, { amount: '60.00', ...owed }],
    [b.id, { amount: '21.50', bank_reference: 'B-1', ...fee }],
    [c.id, { amount: '6.90', ...fee }],
  ]
  for (const [reference, more] of bookings) {
    expect(await outcome(reference, more)).toBe('200 booked')
    expect(await outcome(reference, more)).toBe('200 unchanged')
  }
  const paid = ['a -60.00', 'b -20.00', 'c -7.00']
  expect(await books()).toEqual({ due: { a: '40.00' }, ledger: paid })
  const shown = await show(a.batch)
  expect(shown.state).toBe('paid')
  const own = shown.movements.map((one: { reference: string; doubt: null; can_book: boolean }) => [
    one.reference,
    one.doubt ?? one.can_book,
  ])
  expect(own.sort()).toEqual(bookings.map(([reference]) => [reference, false]).sort())
  const rest = (await sentAgain()).a!
  expect(rest.amount).toBe('40.00')
  await bookByHand(rest.id, { amount: '40.00' })
  // What was paid first comes back, then the rest, of which the bank keeps a part.
  expect(await outcome(a.id, { ...back, amount: '60.00' })).toBe('200 booked')
  expect((await books()).due).toEqual({ a: '60.00' })
  expect(await outcome(rest.id, { ...back, amount: '37.00', ...fee })).toBe('200 booked')
  expect(await outcome(b.id, { ...back, amount: '5.00', ...owed })).toBe('200 booked')
  expect((await books()).due).toEqual({ a: '100.00', b: '5.00' })
})

test.each([
  ['a bank', ({ id, amount }: Sent) => book(camt([{ amount, txs: [{ reference: id }] }]))],
  ['a person', ({ id, amount }: Sent) => bookByHand(id, { amount })],
])(
  '§20.4 a rest that %s books pays as much as was sent, although what was paid before it came back meanwhile',
  async (_, bookRest) => {
    await bookByHand(a.id, { amount: '60.00', ...owed })
    const rest = (await sentAgain()).a!
    expect(await outcome(a.id, { ...back, amount: '60.00' })).toBe('200 booked')
    await bookRest(rest)
    const ledger = ['a -40.00', 'a -60.00', 'a 60.00']
    expect(await books()).toEqual({ due: { a: '60.00' }, ledger })
    // The rest was sent before the return: it does not say that the account is open.
    expect((await payable()).map(({ ticked }) => ticked)).toEqual([false])
    await bookByHand((await sentAgain(['a'])).a!.id, { amount: '60.00' })
    expect(await books()).toEqual({ due: {}, ledger: [...ledger, 'a -60.00'].sort() })
    const payments = await rowsOf('payments')
    expect(payments.map(({ amount }) => amount).sort()).toEqual(['40.00', '60.00', '60.00'])
  },
)

test('§20.4 what comes back while its rest is booked stays due', async () => {
  await bookByHand(a.id, { amount: '60.00', ...owed })
  const rest = (await sentAgain()).a!
  let isBack = false
  const platform = surrounded(async ({ sql }, act) => {
    if (sql.includes('insert into payments') && !isBack) {
      isBack = true
      await bookByHand(a.id, { ...back, amount: '60.00' })
    }
    return act()
  })
  const body = { direction: 'paid', amount: '40.00', booked_on: EXECUTE_ON }
  const answer = await fetchWith(platform, requestOf(`transfers/${rest.id}/book`, body))
  expect([isBack, answer.status]).toEqual([true, 200])
  const ledger = ['a -40.00', 'a -60.00', 'a 60.00']
  expect(await books()).toEqual({ due: { a: '60.00' }, ledger })
})

/** Sends what is ticked again, or what is due to some affiliates, whatever the doubts. */
async function sentAgain(affiliates?: readonly string[]): Promise<Record<string, Sent>> {
  const { id, transfers } = await confirmed(affiliates && { rows: rowsOfEach(affiliates) })
  await askAdmin(`${PATH}/batches/${id}/export`, 'POST')
  return Object.fromEntries(transfers.map((one: Sent) => [one.affiliate_id, one]))
}

test('§20.4 a rest is of the last statement that is paid, and the next ones stay due in whole', async () => {
  const statements = await Promise.all(['10.00', '20.00', '5.00'].map((one) => due('a', one)))
  const { id, transfers } = await confirmed({ rows: rowsOfEach(['a']) })
  await askAdmin(`${PATH}/batches/${id}/export`, 'POST')
  await bookByHand(transfers[0].id, { amount: '12.50', ...owed })
  expect((await books()).due).toEqual({ a: '22.50' })
  const rows = (await rowsOf('statements')).filter((one) => statements.includes(String(one.id)))
  expect(rows.filter(({ status }) => status === 'paid')).toHaveLength(1)
})

test('§20.4 what came back less is booked from its row, with what the bank says, and is unchanged in later files', async () => {
  const paid = { amount: a.amount, txs: [{ reference: a.id }] }
  const less = { amount: '97', direction: 'CRDT', bankReference: 'B-9' } as const
  const file = camt([paid, { ...less, txs: [{ reference: a.id, code: 'AC04', words: 'Closed' }] }])
  await book(file)
  const [row] = (await show(a.batch)).movements
  expect(row).toMatchObject({ doubt: 'not_booked', can_book: true, amount: '97', code: 'AC04' })
  const { direction, day: booked_on, amount, bank_reference } = row
  const asked = { direction, booked_on, amount, bank_reference, ...fee }
  expect(await outcome(a.id, asked)).toBe('200 booked')
  expect((await show(a.batch)).transfers[0]).toMatchObject({ state: 'returned', code: 'AC04' })
  expect((await json(askAdmin(`${PATH}/affiliates/a/payee`))).state).toBe('returned')
  expect(await payable()).toMatchObject([{ affiliate_id: 'a', ticked: false }])
  expect(await rowsOf('bank_movements')).toHaveLength(2)
  expect(await json(send(`${file}\n`))).toMatchObject({ booked: [], doubts: 0, unchanged: 2 })
})

test('§20.4 a debit whose charges the bank states is unchanged if a person has booked it', async () => {
  await bookByHand(b.id, { amount: '21.50', booked_on: BOOKED_ON, ...fee })
  const stated = { amount: '21.50', charges: '1.50', txs: [{ reference: b.id }] }
  expect(await json(send(camt([stated])))).toMatchObject({ booked: [], doubts: 0, unchanged: 1 })
})

test('§20.4 what left although it was cancelled is booked, unless another payment has it', async () => {
  await askAdmin(`${PATH}/batches/${a.batch}/cancel`, 'POST', { reason: 'No' })
  await book(camt([a, b].map((one) => ({ amount: one.amount, txs: [{ reference: one.id }] }))))
  expect((await show(a.batch)).movements).toMatchObject([{ can_book: true }, { can_book: true }])
  await confirmed({ rows: rowsOfEach([b.affiliate_id]) })
  const booked_on = BOOKED_ON
  expect(await outcome(a.id, { amount: a.amount, booked_on })).toBe('200 booked')
  expect(await outcome(b.id, { amount: b.amount, booked_on })).toBe('409 conflict')
  expect((await books()).ledger).toEqual(['a -100.00'])
  expect((await show(a.batch)).movements).toMatchObject([{ reference: b.id }])
})

test('§20.4 of two who book at once, also while an answer is applied, one is heard', async () => {
  const again = [1, 2].map(() => outcome(a.id, { amount: a.amount }))
  expect((await Promise.all(again)).sort()).toEqual(['200 booked', '200 unchanged'])
  const both = [b, c].map((one) => bookByHand(one.id, { amount: one.amount, bank_reference: 'B' }))
  expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409])
  await change('delete from bank_movements')
  const { d } = await sent({ c: '1.00' }).then(({ c: d }) => ({ d }))
  const { hash } = await json(send(camt([{ amount: '1.00', txs: [{ reference: d.id }] }])))
  await Promise.all([apply(hash), outcome(d.id, { amount: '1.00', booked_on: '2020-01-01' })])
  await Promise.all([apply(hash), outcome(d.id, { amount: '0.50', ...fee })])
  expect((await books()).ledger.filter((one) => one === 'c -1.00')).toHaveLength(1)
})

test('§20.4 the page of an answer books what came back less, and says what was booked already, when and by whom', async () => {
  const { get, post, csrf } = await signedIn()
  const less = { amount: '97.00', direction: 'CRDT', txs: [{ reference: a.id }] } as const
  const file = camt([{ amount: a.amount, txs: [{ reference: a.id }] }, less])
  const { hash } = await book(file)
  const at = `/console/accounts/acme-forex/answers?hash=${hash}`
  const [, movement = ''] = /name="movement" value="([^"]+)"/.exec(await (await get(at)).text())!
  const decided = { change: 'settle', movement, decision: 'fee', reason: 'A fee of the bank' }
  await post(at, { csrf: await csrf(at), ...decided })
  const page = await (await get(at)).text()
  expect(page).not.toContain('Look at it with your bank')
  expect(page).toMatch(/Booked with a difference.*The bank kept the difference: A fee of the bank/s)
  const again = await json(send(file))
  const before = { hash, applied_at: expect.any(String), applied_by: 'root-key' }
  expect(again).toMatchObject({ booked: [], unchanged: 2, booked_before: before, applied_at: null })
  const shown = await (await get(`/console/accounts/acme-forex/answers?hash=${again.hash}`)).text()
  expect(shown).toContain('This file was booked already')
  const { data } = await json(askAdmin(`${PATH}/payouts/answers`))
  expect(data).toMatchObject([{ ...before, booked: [{ becomes: 'paid' }], doubts: 1 }])
})

test('§20.4 a mismatch is offered what can be done with it, and refused in words; what is settled is not among what is not booked', async () => {
  const { get, post, csrf } = await signedIn()
  const row = (one: Sent, amount: string, currency = 'EUR') => ({
    ...{ amount, currency, txs: [{ reference: one.id }] },
  })
  const pageOf = async (...all: ReturnType<typeof row>[]) => {
    const { hash } = await book(camt(all))
    const at = `/console/accounts/acme-forex/answers?hash=${hash}`
    return { at, text: async () => (await get(at)).text() }
  }
  const offered = (text: string) =>
    [...text.matchAll(/<option value="(same|fee|owed|dismiss)"/g)].map(([, name]) => name)
  const foreign = await pageOf(row(b, '20.00', 'USD'))
  expect(offered(await foreign.text())).toEqual(['dismiss'])
  expect(await foreign.text()).toContain('not the currency that was ordered')
  const less = await pageOf(row(c, '6.90'))
  expect(offered(await less.text())).toEqual(['same', 'fee', 'owed', 'dismiss'])
  expect(await less.text()).toContain('as a fee or with a rest')
  const { at, text } = await pageOf(row(a, '101.00'))
  const before = await text()
  expect(offered(before)).toEqual(['same', 'fee', 'dismiss'])
  expect(before).toMatch(/Book it as a fee, or dismiss it.*Not booked: 1 row/s)
  expect(before).toMatch(/data-title="Ordered">.{0,60}100\.00 EUR/s)
  const [, movement = ''] = /name="movement" value="([^"]+)"/.exec(before)!
  const settle = async (decision: string, reason: string) => {
    const form = { change: 'settle', movement, decision, reason, csrf: await csrf(at) }
    const answer = await post(at, form)
    return answer.status === 303 ? '' : /role="alert".*?<\/div>/s.exec(await answer.text())![0]
  }
  for (const [decision, reason] of [
    ['same', ''],
    ['owed', 'Why'],
    ['fee', ''],
    ['dismiss', ''],
  ] as const) {
    const refusal = await settle(decision, reason)
    expect(refusal).not.toMatch(/<code>|kind|Kind|undefined/)
    if (reason || decision === 'same') expect(refusal).toContain('The transfer is of 100.00 EUR')
  }
  expect(await settle('fee', 'The bank took it')).toBe('')
  expect(await text()).not.toContain('Not booked')
})
