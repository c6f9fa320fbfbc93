import { beforeEach, expect, test } from 'vitest'
import { MONEY_STATES } from '../../src/payouts/model.ts'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { askWith } from '../affiliates/affiliate-world.ts'
import { askAda } from '../books/book-rows.ts'
import { askAdmin, json, register } from '../partner.ts'
import { joinedFor } from '../portal/join.ts'
import { camt, pain002 } from './bank-files.ts'
import { checkMoney } from './money-law.ts'
import * as rows from './payout-rows.ts'

const { ADA, bookByHand, change, due, enter, EXECUTE_ON, PATH } = rows
const PORTAL = '/portal/acme-forex'

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await enter('payer', 'main', rows.PAYER)
  await enter('payee', 'b', ADA)
  await due('b', '777.77')
})

/** Confirms what is due to `a`. Returns the batch and its transfer. */
async function pay() {
  const { id, transfers } = await rows.confirmed({ rows: rows.rowsOfEach(['a']) })
  return { id, reference: transfers[0].id as string }
}

/** Returns what reads as `a` where the money of a statement is, and the pages that say so. */
async function reader(id: string) {
  const made = await json(askAdmin(`${PATH}/affiliates/a/keys`, 'POST', { name: 'Key' }))
  const ask = (path: string) => json(askWith(made.affiliate_key, path))
  const { browser } = await joinedFor('acme-forex', 'a')
  return async () => {
    await checkMoney(['a', 'b'])
    const { money } = await ask(`statements/${id}`)
    const { pending, balances } = await ask('overview?from=2026-10-01&to=2026-10-31')
    expect((await ask('statements')).data).toMatchObject([{ id, money }])
    expect(pending.money).toMatchObject(money.state === 'paid' ? [] : [{ statement: id, ...money }])
    expect((await ask('payouts')).money).toEqual(pending.money)
    const pages = ['/payments', '/statements', `/statements/${id}`, ''].map(async (path) =>
      (await browser.get(PORTAL + path)).text(),
    )
    const texts = await Promise.all(pages)
    expect(texts.join()).not.toContain('777.77')
    const form = await (await browser.get(`${PORTAL}/getting-paid`)).text()
    expect(form.includes('notice bad')).toBe(money.state === 'came_back')
    // Banks write long texts.
    for (const text of [...texts, form])
      if (money.reason) expect(text.split(money.reason)).toHaveLength(2)
    return { money, texts, due: balances[0]?.due }
  }
}

test('§20.7 money is at one place, and every page and the API name the same one', async () => {
  const id = await due('a', '100.00')
  const read = await reader(id)
  const seen = new Set<string>()
  const is = async (state: string, words: string, more: object = {}) => {
    const { money, texts, due: isDue } = await read()
    expect(money).toMatchObject({ state, amount: '100.00', ...more })
    // What is paid is no longer on the overview.
    for (const text of texts.slice(0, state === 'paid' ? 3 : 4)) expect(text).toContain(words)
    if (['preparing', 'sent', 'paid'].includes(state)) expect(isDue ?? '0.00').toBe('0.00')
    seen.add(state)
  }
  await is('no_details', 'waits for your bank details', { on: null })
  await enter('payee', 'a', ADA)
  await is('approved', 'payable from', { on: expect.any(String) })
  for (const state of ['blocked', 'returned', 'approved']) {
    await change(`update payees set state = ? where id = 'a'`, state)
    const isPayable = state === 'approved'
    await is(isPayable ? state : 'no_details', isPayable ? 'payable from' : 'waits for your')
  }
  await rows.hold('a')
  await is('under_review', 'under review', { on: null })
  await askAdmin(PATH, 'PATCH', { affiliate_view: { held: 'none' } })
  await is('approved', 'approved', { on: null })
  expect((await read()).texts.join()).not.toContain('under review')
  await change('delete from fraud_cases')

  const first = await pay()
  await is('preparing', 'in preparation, for', { on: EXECUTE_ON, method: 'sepa' })
  await askAdmin(`${PATH}/batches/${first.id}/cancel`, 'POST', { reason: 'Wrong day' })
  await is('approved', 'payable from', { method: null })
  const second = await pay()
  await rows.askExport(second.id)
  await is('sent', 'usually arrives within two working days', { on: EXECUTE_ON })
  const answer = (status: string, more: object = {}) =>
    rows.book(pain002('OTHER', 'PART', [{ reference: second.reference, status, ...more }]))
  await answer('ACSP')
  await is('sent', 'on its way, for', { on: EXECUTE_ON })
  await answer('RJCT', { code: 'AC04', words: 'Closed' })
  await is('came_back', 'Closed', { reason: expect.stringContaining('AC04 ') })
  expect((await read()).texts[0]).toContain('Check your bank details')
  await enter(
    'payee',
    'a',
    { ...ADA, name: 'Ada King' },
    { version: 2, payable_from: Date.UTC(2984, 0, 17) },
  )
  await is('approved', 'payable from 17 Jan 2984 on', { reason: null, on: '2984-01-17' })

  await change('update payees set payable_from = 1')
  const third = await pay()
  await rows.askExport(third.id)
  const move = (direction: 'DBIT' | 'CRDT') => {
    const txs = [{ reference: third.reference, amount: '100.00' }]
    return rows.book(camt([{ amount: '100.00', direction, txs }]))
  }
  await move('DBIT')
  await is('paid', 'paid on', { on: expect.any(String) })
  await move('CRDT')
  await is('came_back', 'came back on')
  // What is paid again is paid once.
  const again = await pay()
  await rows.askExport(again.id)
  await bookByHand(again.reference, { amount: '100.00' })
  await is('paid', 'paid on')
  expect([...seen].sort()).toEqual([...MONEY_STATES].sort())
})

test.each(['RJCT', 'ACSC'])(
  '§20 law 4: what a bank gave back (%s) came back for all, also after a cancelled batch, until a payment arrives',
  async (status) => {
    await enter('payee', 'a', ADA)
    const id = await due('a', '100.00')
    const read = await reader(id)
    const { id: batch, reference } = await pay()
    await rows.askExport(batch)
    await rows.book(pain002('OTHER', 'PART', [{ reference, status }]))
    const txs = [{ reference, amount: '100.00' }]
    const moves = [
      { amount: '100.00', txs },
      { amount: '100.00', direction: 'CRDT' as const, txs },
    ]
    if (status === 'ACSC') await rows.book(camt(moves))
    const law = async (state: string) => {
      const [row] = (await rows.payable()).filter((one) => one.affiliate_id === 'a')
      const { data } = await json(askAdmin(`${PATH}/attention`))
      const isBack = row!.doubts.some(({ code }) => code === 'came_back')
      const named = data.filter((one: { code: string }) => one.code === 'returned_payments')
      const { money } = await read()
      expect([money.state, row!.ticked, isBack, named.length]).toEqual(
        state === 'came_back' ? [state, false, true, 1] : [state, true, false, 0],
      )
    }
    await law('came_back')
    const { id: second } = await pay()
    await askAdmin(`${PATH}/batches/${second}/cancel`, 'POST', { reason: 'Wrong day' })
    await law('came_back')
    const third = await pay()
    await rows.askExport(third.id)
    const difference = { kind: 'owed', reason: 'Our limit of a day' }
    await bookByHand(third.reference, { amount: '60.00', difference })
    await law('approved')
    // Or until a person says that the details are right.
    const rest = await pay()
    await rows.askExport(rest.id)
    const closed = { reference: rest.reference, status: 'RJCT', code: 'AC04' }
    await rows.book(pain002('OTHER', 'PART', [closed]))
    await law('came_back')
    await askAda(`${PATH}/affiliates/a/payee/approve`, 'POST', { version: 1 })
    await law('approved')
  },
)

test('§20.7 an approved statement that pays nothing says what it carries on', async () => {
  await due('a', '0.00', { lines_sum: '30.00', total: '30.00', payable: '0.00', closing: '30.00' })
  const { browser } = await joinedFor('acme-forex', 'a')
  const page = await (await browser.get(`${PORTAL}/statements`)).text()
  expect(page).toContain('approved · Carried on: 30.00 EUR')
})

test('§20.7 the rest of what is paid in part is at a place; the menu says what is new until one has looked', async () => {
  const { browser } = await joinedFor('acme-forex', 'a')
  const page = async (path = '') => (await browser.get(PORTAL + path)).text()
  const { payments, new_state } = WORDS.en
  const sign = `/payments">${payments} <small class="badge good">${new_state}</small>`
  const isNew = async (path = '') => (await page(path)).includes(sign)
  await enter('payee', 'a', ADA)
  const id = await due('a', '100.00')
  const read = await reader(id)
  expect(await isNew()).toBe(false)
  const { id: batch, reference } = await pay()
  const looks = [await isNew(), await isNew('/payments'), await isNew()]
  expect(looks).toEqual([true, false, false])
  await rows.askExport(batch)
  const difference = { kind: 'owed', reason: 'Our limit of a day' }
  await bookByHand(reference, { amount: '60.00', difference })
  expect((await read()).money).toMatchObject({ state: 'approved', amount: '40.00' })
  expect(await page('/statements')).toContain('40.00 EUR payable from')
  expect(await isNew()).toBe(true)
  await bookByHand(reference, { direction: 'returned', amount: '60.00' })
  expect(await page('/payments')).toMatch(/came back on [\w ]+<\/bdi>/)
  expect(await page('/payments')).not.toContain('Booked by hand')
})
