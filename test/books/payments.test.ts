import { beforeEach, describe, expect, test } from 'vitest'
import { BOOK_LIMITS } from '../../src/books/limits.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { restoring } from '../limits.ts'
import { askAdmin, json, register } from '../partner.ts'
import { approve, bookPaid, digestOf, earning, idOf, rowsOf } from './book-rows.ts'

const PATH = 'accounts/acme-forex'

restoring(BOOK_LIMITS)

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b', '=1+1'] })
  await storePlan('acme-forex', 'ib', monthly([]))
  await assign('acme-forex', 'ib')
})

const september = earning('a', '2024-09', '25.00')
const october = { ...earning('a', '2024-10', '5.50'), previous: digestOf(september) }
const other = earning('b', '2024-10', '7.00')

const balanceOf = async (affiliate: string) =>
  (await json(askAdmin(`${PATH}/affiliates/figures?affiliate_id=${affiliate}`))).data[0].balances

const codeOf = async (response: Response | Promise<Response>) => {
  const { status, code, detail } = await json(response)
  return [status, code, detail]
}

const csv = async (query = '') => {
  const response = await askAdmin(`${PATH}/payouts${query}`, 'GET', undefined, {
    Accept: 'text/csv',
  })
  expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
  return (await response.text()).trimEnd().split('\r\n')
}

describe('payments', () => {
  test('of more than 64 bits are exact in the balance and in what is payable', async () => {
    const large = '139999999999999860.00'
    const longest = `${'9'.repeat(45)}.99`
    const [old, recent] = [earning('a', '2024-09', large), earning('a', '2024-10', large)]
    await approve(old, { ...recent, previous: digestOf(old) }, earning('b', '2024-10', longest))
    const sum = '279999999999999720.00'
    expect(await balanceOf('a')).toEqual([{ currency: 'EUR', balance: sum, due: sum }])
    expect(await balanceOf('b')).toMatchObject([{ balance: longest, due: longest }])
    const { data } = await json(askAdmin(`${PATH}/payable`))
    expect(data).toMatchObject([{ amount: sum }, { amount: longest }])
    expect(await bookPaid([idOf(old)], 'R-1')).toBe(true)
    expect(await balanceOf('a')).toEqual([{ currency: 'EUR', balance: large, due: large }])
    expect(await csv()).toContainEqual(expect.stringContaining(`a,EUR,${large},1,`))
  })

  test('are booked once by their reference', async () => {
    await approve(september, october)
    expect(await bookPaid([idOf(september)], 'R-1')).toBe(true)
    expect(await bookPaid([idOf(october)], 'R-1')).toBe(false)
    expect(await bookPaid([idOf(september)], 'R-2')).toBe(false)
    expect(await rowsOf('payments')).toHaveLength(1)
  })

  test('are listed from the latest day on, over all pages, by affiliate and by day', async () => {
    await approve(september, october, other)
    await bookPaid([idOf(september)], 'R-2', '2024-11-20')
    await bookPaid([idOf(other)], 'R-9', '2024-11-21')
    await bookPaid([idOf(october)], 'R-1', '2024-11-21')
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, meta } = await json(
        askAdmin(`${PATH}/payouts?per_page=1${cursor && `&cursor=${cursor}`}`),
      )
      found.push(...data.map(({ reference }: { reference: string }) => reference))
      cursor = meta.next_cursor
    }
    expect(found).toEqual(['R-9', 'R-1', 'R-2'])
    const referencesOf = async (query: string) =>
      (await json(askAdmin(`${PATH}/payouts?${query}`))).data.map(
        ({ reference }: { reference: string }) => reference,
      )
    expect(await referencesOf('affiliate_id=a')).toEqual(['R-1', 'R-2'])
    expect(await referencesOf('from=2024-11-21')).toEqual(['R-9', 'R-1'])
    expect(await referencesOf('to=2024-11-20')).toEqual(['R-2'])
    expect(await referencesOf('affiliate_id=a&from=2024-11-21&to=2024-11-21')).toEqual(['R-1'])
    expect(await referencesOf('reference=r-2')).toEqual(['R-2'])
    expect(await csv('?affiliate_id=b')).toHaveLength(2)
    for (const query of ['from=x', 'from=2&to=1', 'status=paid'])
      expect((await askAdmin(`${PATH}/payouts?${query}`)).status).toBe(400)
  })
})

describe('manual entries', () => {
  const entry = { affiliate_id: 'a', plan: 'ib', amount: '-25', reason: 'Bonus', reference: 'm-1' }
  const add = (more: object = {}) =>
    askAdmin(`${PATH}/manual-entries`, 'POST', { ...entry, ...more })

  test('are stored once by their reference', async () => {
    const first = await add()
    expect(first.status).toBe(201)
    const stored = await json(first)
    expect(stored).toMatchObject({
      ...entry,
      amount: '-25.00',
      currency: 'EUR',
      actor: 'root-key',
      statement: null,
    })
    const again = await add({ amount: '-25.0' })
    expect([again.status, await json(again)]).toEqual([200, stored])
    for (const more of [
      { amount: '25' },
      { amount: '-25.001' },
      { reason: 'x' },
      { affiliate_id: 'b' },
    ]) {
      expect((await codeOf(add(more))).slice(0, 2)).toEqual([409, 'reference_used'])
    }
    await add({ affiliate_id: 'b', reference: 'm-2' })
    const list = async (query = '') => (await json(askAdmin(`${PATH}/manual-entries${query}`))).data
    expect((await list()).map(({ reference }: never) => reference)).toEqual(['m-1', 'm-2'])
    expect(await list('?affiliate_id=a')).toEqual([stored])
    const actions = (await json(askAdmin('audit-log'))).data.map(({ action }: never) => action)
    expect(actions).toEqual(['manual-entry.add', 'manual-entry.add'])
  })

  test.each<[object, string, string]>([
    [{ plan: 'none' }, '/plan', 'unknown_reference'],
    [{ affiliate_id: 'nobody' }, '/affiliate_id', 'unknown_affiliate'],
    [{ amount: '0.00' }, '/amount', 'pattern'],
    [{ amount: '1.001' }, '/amount', 'decimals'],
    [{ amount: 5 }, '/amount', 'type'],
    [{ reason: '' }, '/reason', 'length'],
    [{ note: 'x' }, '/note', 'unknown_field'],
  ])('with %j are 422 at %s', async (more, pointer, code) => {
    const refused = await add(more)
    expect(refused.status).toBe(422)
    expect(await json(refused)).toMatchObject({ errors: [{ pointer, code }] })
  })

  test('need the plan to be assigned to the affiliate', async () => {
    await storePlan('acme-forex', 'other', monthly([]))
    expect(await json(add({ plan: 'other' }))).toMatchObject({ errors: [{ pointer: '/plan' }] })
    await assign('acme-forex', 'other', 'a')
    expect((await add({ plan: 'other' })).status).toBe(201)
  })

  test('of an affiliate that wait for approval have a limit, also for two at once', async () => {
    BOOK_LIMITS.openEntries = 2
    await add()
    const both = await Promise.all(['m-2', 'm-3'].map((reference) => add({ reference })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  })
})
