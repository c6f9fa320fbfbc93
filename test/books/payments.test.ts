import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { BOOK_LIMITS } from '../../src/books/limits.ts'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { restoring } from '../limits.ts'
import { askAdmin, json, register } from '../partner.ts'
import { approve, digestOf, earning, idOf, PAID_ON, pay, rowsOf, storeRows } from './book-rows.ts'

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

const OF_ITS_OWN =
  'What is booked cannot be changed: give every payment and return a reference of its own.'

/** The day that is so many hours from now, in UTC. */
const dayIn = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString().slice(0, 10)

describe('the payment of a statement', () => {
  test('is on a day from 2000 to tomorrow', async () => {
    await approve(september)
    for (const [day, code, message] of [
      ['1999-12-31', 'minimum', '`1999-12-31` is less than the minimum, 2000-01-01.'],
      [dayIn(62), 'maximum', `\`${dayIn(62)}\` is more than the maximum, tomorrow.`],
      ['2024-02-30', 'date', '`2024-02-30` is not a valid date in the form `YYYY-MM-DD`.'],
    ] as const) {
      const refused = await pay(september, 'R-1', day)
      expect(refused.status).toBe(422)
      expect((await json(refused)).errors).toEqual([{ pointer: '/paid_on', code, message }])
    }
    expect((await pay(september, 'R-1', dayIn(38))).status).toBe(200)
    await approve(other)
    expect((await pay(other, 'R-2', '2000-01-01')).status).toBe(200)
  })

  test('is booked once by its reference', async () => {
    await approve(september, october)
    const first = await pay(september, 'R-1')
    expect(first.status).toBe(200)
    const statement = await json(first)
    expect(statement).toMatchObject({
      status: 'paid',
      paid: { reference: 'R-1', paid_on: PAID_ON },
    })
    expect(await json(pay(september, 'R-1'))).toEqual(statement)
    expect(await balanceOf('a')).toEqual([{ currency: 'EUR', balance: '5.50', due: '5.50' }])
    const { data } = await json(askAdmin(`${PATH}/ledger?affiliate_id=a`))
    expect(data.map(({ kind, amount, reference }: never) => [kind, amount, reference])).toEqual([
      ['earned', '25.00', null],
      ['earned', '5.50', null],
      ['paid', '-25.00', 'R-1'],
    ])
    const actions = (await json(askAdmin('audit-log'))).data.map(({ action }: never) => action)
    expect(actions).toEqual(['statement.pay', 'statement.approve', 'statement.approve'])
  })

  test('is refused with the code that says why', async () => {
    const nothing = { affiliate: 'b', period: '2024-09', head: {} }
    await approve(september, nothing)
    await storeRows([october])
    expect(await codeOf(pay(october, 'R-1'))).toEqual([
      409,
      'not_approved',
      'Approve the statement before it is paid.',
    ])
    expect(await codeOf(pay(nothing, 'R-1'))).toEqual([
      409,
      'nothing_due',
      'The `payable` of the statement is 0.',
    ])
    await pay(september, 'R-1')
    expect(await codeOf(pay(september, 'R-2'))).toEqual([
      409,
      'already_paid',
      'It was paid on 2024-12-01 with the reference `R-1`.',
    ])
    expect(await codeOf(pay(september, 'R-1', '2024-12-02'))).toEqual([
      409,
      'reference_used',
      `The reference \`R-1\` was used for the payment of 25.00 EUR to affiliate \`a\` on 2024-12-01. ${OF_ITS_OWN}`,
    ])
    const hash = { hash: digestOf(october) }
    await askAdmin(`${PATH}/statements/${idOf(october)}/approve`, 'POST', hash)
    expect(await codeOf(pay(october, 'R-1'))).toEqual([
      409,
      'reference_used',
      `The reference \`R-1\` was used for the payment of 25.00 EUR to affiliate \`a\` on 2024-12-01. ${OF_ITS_OWN}`,
    ])
    expect((await pay(other, 'R-3')).status).toBe(404)
    expect(await rowsOf('payments')).toHaveLength(1)
  })
})

describe('payouts', () => {
  const csv = async (query = '') => {
    const response = await askAdmin(`${PATH}/payouts${query}`, 'GET', undefined, {
      Accept: 'text/csv',
    })
    expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
    return { text: await response.text(), link: response.headers.get('Link') }
  }

  /** Books payments, each with its affiliate, amount, reference and more. */
  const book = (
    ...rows: [affiliate_id: string, amount: string, reference: string, more?: object][]
  ) =>
    askAdmin(
      `${PATH}/payouts`,
      'POST',
      rows.map(([affiliate_id, amount, reference, more]) => ({
        ...{ affiliate_id, currency: 'EUR', amount, reference, paid_on: PAID_ON },
        ...more,
      })),
    )

  test('are one row for each affiliate and currency, as JSON and as CSV', async () => {
    const dollars = { ...earning('a', '2024-10', '3.00', { currency: 'USD' }), plan: 'usd' }
    await approve(september, october, dollars, other, {
      affiliate: 'c',
      period: '2024-10',
      head: {},
    })
    const { data } = await json(askAdmin(`${PATH}/payouts`))
    expect(data).toMatchObject([
      { affiliate_id: 'a', currency: 'EUR', amount: '30.50', statements: 2 },
      { affiliate_id: 'a', currency: 'USD', amount: '3.00', statements: 1 },
      { affiliate_id: 'b', currency: 'EUR', amount: '7.00', statements: 1 },
    ])
    const [first] = data
    expect(first.reference).toMatch(/^pay_[\da-f]{20}$/)
    expect((await csv()).text.split('\r\n')).toEqual([
      'affiliate_id,currency,amount,statements,payable_on,reference,status,returned,open_cases,paid_on',
      ...data.map(
        (row: Record<string, unknown>) =>
          `${['affiliate_id', 'currency', 'amount', 'statements', 'payable_on', 'reference']
            .map((name) => row[name])
            .join()},active,,,`,
      ),
      '',
    ])
  })

  const storeDue = (rows: number, perAffiliate = 1) =>
    env.DB.prepare(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < ? - 1)
       insert into statements (account, period, affiliate_id, plan, id, status, hash, digest, payable,
         closing, statement, lines, parts, state, read_at, computed_at, previous)
       select 'acme-forex', printf('%04d-01', 1000 + i % ?2), printf('x%05d', i / ?2), 'ib', 'stm_' || i,
         'approved', printf('%064d', i), printf('%064d', i), '1.00', '0', '{"currency":"EUR","payable_on":"2024-11-14"}', '[]', 1, '{}',
         0, 'now', '' from n`,
    )
      .bind(rows, perAffiliate)
      .run()

  test('have all rows in one CSV', async () => {
    await storeDue(1201)
    const all = await csv()
    const rows = all.text.trimEnd().split('\r\n').slice(1)
    expect(new Set(rows.map((row) => row.split(',')[0])).size).toBe(1201)
    expect([rows.length, all.link]).toEqual([1201, null])
    expect(rows[1200]).toMatch(/^x01200,EUR,1\.00,1,2024-11-14,pay_/)
    expect((await csv('?payable_on=2024-11-13')).text.split('\r\n')).toHaveLength(2)
  })

  test('of more than 64 bits are exact in the balance, in the list and in an import', async () => {
    const large = '139999999999999860.00'
    const longest = `${'9'.repeat(45)}.99`
    const [old, recent] = [earning('a', '2024-09', large), earning('a', '2024-10', large)]
    await approve(old, { ...recent, previous: digestOf(old) }, earning('b', '2024-10', longest))
    const sum = '279999999999999720.00'
    expect(await balanceOf('a')).toEqual([{ currency: 'EUR', balance: sum, due: sum }])
    expect(await balanceOf('b')).toMatchObject([{ balance: longest, due: longest }])
    const { data } = await json(askAdmin(`${PATH}/payouts`))
    expect(data).toMatchObject([{ amount: sum }, { amount: longest }])
    expect((await csv()).text).toContain(`a,EUR,${sum},2,`)
    expect(await json(book(['a', large, 'R-1'], ['b', longest, 'R-2']))).toMatchObject({
      ...{ paid: 2, statements: 2 },
    })
    expect(await balanceOf('a')).toEqual([{ currency: 'EUR', balance: large, due: large }])
    expect((await csv('?status=paid')).text).toContain(`a,EUR,${large},1,`)
    expect(await json(pay(recent, 'R-3'))).toMatchObject({ status: 'paid' })
    expect(await balanceOf('a')).toEqual([{ currency: 'EUR', balance: '0.00', due: '0.00' }])
    expect(await balanceOf('b')).toEqual([{ currency: 'EUR', balance: '0.00', due: '0.00' }])
  })

  test('are narrowed by the day on which they are payable', async () => {
    const late = { ...october, head: { ...october.head, payable_on: '2024-12-14' } }
    await approve(september, late)
    const { data } = await json(askAdmin(`${PATH}/payouts?payable_on=2024-11-14`))
    expect(data).toMatchObject([{ amount: '25.00', payable_on: '2024-11-14' }])
    for (const query of ['status=draft', 'payable_on=x', 'status=paid&payable_on=2024-11-14']) {
      expect((await askAdmin(`${PATH}/payouts?${query}`)).status).toBe(400)
    }
  })

  test('are paid in the order in which they become payable', async () => {
    const slow = { ...earning('a', '2024-08', '2.00', { payable_on: '2024-12-14' }), plan: 'slow' }
    await approve(slow, september, october)
    const list = async (day: string) =>
      (await json(askAdmin(`${PATH}/payouts?payable_on=${day}`))).data
    expect(await list('2024-11-14')).toMatchObject([{ amount: '30.50', statements: 2 }])
    expect(await list('2024-12-14')).toMatchObject([{ amount: '32.50', payable_on: '2024-12-14' }])
    expect((await json(book(['a', '2', 'R-1']))).errors).toMatchObject([{ code: 'amount_differs' }])
    expect(await json(book(['a', '30.5', 'R-1']))).toMatchObject({ paid: 1, statements: 2 })
    expect(await list('2024-12-14')).toMatchObject([{ amount: '2.00', statements: 1 }])
  })

  test('are booked by the rows of the list', async () => {
    await approve(september, other)
    const [header = '', ...rows] = (await csv()).text.trimEnd().split('\r\n')
    const names = header.split(',')
    const filled = rows.map((row) =>
      Object.fromEntries(`${row}${PAID_ON}`.split(',').map((cell, i) => [names[i], cell])),
    )
    expect(await json(askAdmin(`${PATH}/payouts`, 'POST', filled))).toMatchObject({ paid: 2 })
  })

  test('that were paid are listed from the latest day on, over all pages, by affiliate and by day', async () => {
    await approve(september, october, other)
    await pay(september, 'R-2', '2024-11-20')
    await pay(other, 'R-9', '2024-11-21')
    await pay(october, 'R-1', '2024-11-21')
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, meta } = await json(
        askAdmin(`${PATH}/payouts?status=paid&per_page=1${cursor && `&cursor=${cursor}`}`),
      )
      found.push(...data.map(({ reference }: { reference: string }) => reference))
      cursor = meta.next_cursor
    }
    expect(found).toEqual(['R-9', 'R-1', 'R-2'])
    const referencesOf = async (query: string) =>
      (await json(askAdmin(`${PATH}/payouts?status=paid&${query}`))).data.map(
        ({ reference }: { reference: string }) => reference,
      )
    expect(await referencesOf('affiliate_id=a')).toEqual(['R-1', 'R-2'])
    expect(await referencesOf('from=2024-11-21')).toEqual(['R-9', 'R-1'])
    expect(await referencesOf('to=2024-11-20')).toEqual(['R-2'])
    expect(await referencesOf('affiliate_id=a&from=2024-11-21&to=2024-11-21')).toEqual(['R-1'])
    expect(await referencesOf('reference=r-2')).toEqual(['R-2'])
    expect((await csv('?status=paid&affiliate_id=b')).text.trim().split('\r\n')).toHaveLength(2)
    for (const query of ['from=2024-11-21', 'status=paid&from=x', 'status=paid&from=2&to=1']) {
      expect((await askAdmin(`${PATH}/payouts?${query}`)).status).toBe(400)
    }
  })

  test('that are due are narrowed to an affiliate', async () => {
    await approve(september, other)
    const { data, meta } = await json(askAdmin(`${PATH}/payouts?affiliate_id=b`))
    expect([data, meta.total]).toEqual([[expect.objectContaining({ affiliate_id: 'b' })], 1])
  })

  test('that were paid pay the oldest statements, and can be sent again', async () => {
    await approve(september, october, other)
    const both = () => book(['a', '25', 'R-1'], ['b', '7.00', 'R-2'])
    expect(await json(both())).toMatchObject({ paid: 2, unchanged: 0, statements: 2 })
    expect(await json(both())).toMatchObject({ paid: 0, unchanged: 2, statements: 0 })
    expect(await json(book(['a', '5.5', 'R-3']))).toMatchObject({ paid: 1 })
    const { data } = await json(askAdmin(`${PATH}/payouts?status=paid`))
    expect(data).toMatchObject([
      { affiliate_id: 'a', amount: '5.50', reference: 'R-3' },
      { affiliate_id: 'b', amount: '7.00', reference: 'R-2' },
      { affiliate_id: 'a', amount: '25.00', reference: 'R-1', statements: 1, actor: 'admin-key' },
    ])
    expect((await csv('?status=paid')).text).toContain(`a,EUR,25.00,1,${PAID_ON},R-1`)
    const imports = (await json(askAdmin('audit-log'))).data.filter(
      ({ action }: never) => action === 'payouts.book',
    )
    expect(imports.map(({ details }: { details: object }) => details)).toEqual([
      { received: 1, paid: 1, unchanged: 0, statements: 1 },
      { received: 2, paid: 2, unchanged: 0, statements: 2 },
    ])
    expect(await balanceOf('a')).toEqual([{ currency: 'EUR', balance: '0.00', due: '0.00' }])
  })

  test('are booked all or none, and each error says what would fit', async () => {
    await approve(september, october, other)
    await pay(other, 'R-0')
    const later = { ...earning('b', '2024-11', '1.00'), previous: digestOf(other) }
    await approve(later)
    await pay(later, 'R-9')
    const refused = await book(
      ['a', '26.00', 'R-1'],
      ['a', '25.00', 'R-2'],
      ['a', '5.00', 'R-3', { currency: 'USD' }],
      ['b', '7.00', 'R-0', { paid_on: '2024-12-02' }],
      ['a', '25.00', 'R-9'],
    )
    expect(refused.status).toBe(409)
    expect(await json(refused)).toMatchObject({
      code: 'amount_differs',
      detail: 'Nothing was booked.',
      errors_total: 4,
      errors: [
        {
          pointer: '/0/amount',
          code: 'amount_differs',
          message: 'The amount due is not `26.00`: affiliate `a` gets 30.50 EUR for 2 statements.',
          hint: 'Pay 25.00 (1 statement) or 30.50 (2 statements).',
        },
        { pointer: '/2', code: 'nothing_due' },
        {
          pointer: '/3/reference',
          code: 'reference_used',
          message: '`R-0` was used for the payment of 7.00 EUR to affiliate `b` on 2024-12-01.',
        },
        { pointer: '/4/reference', code: 'reference_used' },
      ],
    })
    expect(await rowsOf('payments')).toHaveLength(2)
  })

  const payment = {
    affiliate_id: 'a',
    currency: 'EUR',
    amount: '1',
    reference: 'R',
    paid_on: PAID_ON,
  }

  test.each<[string, unknown, object]>([
    ['no list', payment, { pointer: '', code: 'type' }],
    ['no payment', [], { pointer: '', code: 'record_count' }],
    ['a text', ['x'], { pointer: '/0', code: 'type' }],
    [
      'an unknown member',
      [{ ...payment, iban: 'x' }],
      { pointer: '/0/iban', code: 'unknown_field' },
    ],
    ['no day', [{ ...payment, paid_on: undefined }], { pointer: '/0/paid_on', code: 'required' }],
    [
      'too many digits',
      [{ ...payment, amount: '1.001' }],
      { pointer: '/0/amount', code: 'decimals' },
    ],
    [
      'a negative amount',
      [{ ...payment, amount: '-1' }],
      { pointer: '/0/amount', code: 'minimum' },
    ],
    [
      'a reference twice',
      [payment, { ...payment, reference: ' r ' }],
      {
        ...{ pointer: '/1/reference', code: 'duplicate' },
        message: 'Payments 1 and 2 have the same reference `r`.',
      },
    ],
  ])('in a body with %s are 422', async (_, body, error) => {
    const refused = await askAdmin(`${PATH}/payouts`, 'POST', body as object)
    expect(refused.status).toBe(422)
    expect(await json(refused)).toMatchObject({ errors: [error] })
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
      actor: 'admin-key',
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
