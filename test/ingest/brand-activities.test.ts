import { describe, expect, test } from 'vitest'
import { storedBrand as brand, dailyStats, day, deposited, eve } from '../brand.ts'
import { json } from '../partner.ts'

type Issue = { pointer: string; code: string }

const codes = (list: Issue[] = []) => list.map(({ pointer, code }) => [pointer, code])
const errors = async (response: Response | Promise<Response>) =>
  codes((await json(response)).errors)
const warnings = async (response: Response | Promise<Response>) =>
  (await json(response)).results.flatMap((result: { warnings?: Issue[] }) => codes(result.warnings))
const outcomes = async (response: Response | Promise<Response>) =>
  (await json(response)).results.map(({ outcome }: { outcome: string }) => outcome)

const brandWithCustomers = async (settings: Parameters<typeof brand>[0] = {}) => {
  const acme = await brand(settings)
  await acme.post('customers', [eve, { customerId: 'p-2', regtime: '2026-10-01 08:00' }])
  return acme
}
const activityTotals = async (acme: Awaited<ReturnType<typeof brand>>, date = '2026-10-02') =>
  (await json(acme.get(`totals?from=${date}&to=${date}`))).data.filter(
    ({ resource }: { resource: string }) => resource === 'activities',
  )

describe('§7 events', () => {
  test('an event with more than 10 warnings lists 10 and the total', async () => {
    const acme = await brandWithCustomers()
    const separated = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`b${i}`, '1,0']))
    const warningCounts = async (count: number) => {
      const sent = { ...day, eventname: `E${count}`, ...separated(count) }
      const { results } = await json(acme.post('activities', [sent, day]))
      return [results[0].warnings.length, results[0].warnings_total, results[1].warnings_total]
    }
    expect(await warningCounts(10)).toEqual([10, undefined, undefined])
    expect(await warningCounts(60)).toEqual([10, 60, undefined])
  })

  test('an event is returned as it was sent, with all its details', async () => {
    const acme = await brandWithCustomers()
    const sent = {
      ...deposited,
      method: 'card',
      native: { amount: '91.20', rate: null },
      __proto: 1,
      data: [1],
    }
    expect((await acme.post('activities', sent)).status).toBe(201)
    expect(await json(acme.get('activities'))).toMatchObject({ data: [sent], meta: { total: 1 } })
    const again = (await json(acme.get('activities'))).data
    expect(await outcomes(acme.post('activities', again))).toEqual(['unchanged'])
  })

  test('an event keeps members named __proto__, constructor or toString as plain data', async () => {
    const acme = await brandWithCustomers()
    const text =
      '{"eventname":"E","customerid":"p-1","eventid":"x","__proto__":{"a":1},"constructor":"2.5","toString":3}'
    expect((await acme.postText('activities', text)).status).toBe(201)
    const body = await (await acme.get('activities')).text()
    expect(body).toContain(text)
    const today = new Date().toISOString().slice(0, 10)
    expect(await activityTotals(acme, today)).toMatchObject([
      { sums: { constructor: '2.5', toString: '3' } },
    ])
    expect(await outcomes(acme.postText('activities', text))).toEqual(['unchanged'])
  })

  test('amounts are compared as decimals: 100.00 equals 100, as text or number', async () => {
    const acme = await brandWithCustomers()
    await acme.post('activities', [deposited, day])
    for (const Value of ['100', 100, '100.0', '0100.000']) {
      expect(await outcomes(acme.post('activities', [{ ...deposited, Value }]))).toEqual([
        'unchanged',
      ])
    }
    const same = { ...day, GGR: 10.5, NGR: '9', Games: '3' }
    expect(await outcomes(acme.post('activities', [same]))).toEqual(['unchanged'])
    const other = { ...day, GGR: '10.51' }
    expect(await outcomes(acme.post('activities', [other]))).toEqual(['updated'])
  })

  test('a re-sent event replaces the stored one and drops omitted members', async () => {
    const acme = await brandWithCustomers()
    await acme.post('activities', { ...deposited, method: 'card', product: 'casino' })
    const { Currency: _, ...withoutCurrency } = deposited
    expect(await outcomes(acme.post('activities', withoutCurrency))).toEqual(['updated'])
    expect((await json(acme.get('activities'))).data).toEqual([withoutCurrency])
    expect(await activityTotals(acme)).toMatchObject([{ product: null, Currency: null }])
  })

  test('null members of an event count as omitted', async () => {
    const acme = await brandWithCustomers()
    await acme.post('activities', { ...deposited, product: null, method: null })
    expect((await json(acme.get('activities'))).data).toEqual([deposited])
    expect(await errors(acme.post('activities', [{ ...deposited, customerid: null }]))).toEqual([
      ['/0/customerid', 'required'],
    ])
  })

  test('a request can be one event with a member named data', async () => {
    const acme = await brandWithCustomers()
    expect((await acme.post('activities', { ...deposited, data: [1], meta: 2 })).status).toBe(201)
  })
})

describe('KPIs', () => {
  test('without a definition, Value is the only KPI of an event', async () => {
    const acme = await brandWithCustomers()
    const sent = { ...deposited, NativeAmount: '91.20', wallet: '12345678901234567890', fee: 'n/a' }
    expect(await warnings(acme.post('activities', sent))).toEqual([])
    expect(await activityTotals(acme)).toMatchObject([{ sums: { Value: '100' } }])
  })

  test('without a definition or Value, every decimal is a KPI, number or text', async () => {
    const acme = await brandWithCustomers()
    const sent = { ...day, Level: 'gold', Bonus: '-1.005', at: '2026-10-02', ok: true }
    expect(await warnings(acme.post('activities', sent))).toEqual([])
    expect((await activityTotals(acme))[0].sums).toEqual({
      GGR: '10.5',
      NGR: '9',
      Bets: '100',
      Games: '3',
      Bonus: '-1.005',
    })
  })

  test('without a definition, digits with separators are details with a warning', async () => {
    const acme = await brandWithCustomers()
    for (const Bonus of [
      '1,000.00',
      '1.000,00',
      '1 000',
      "1'000",
      '+5',
      '.5',
      '5.',
      '1e5',
      '1E-7',
      '1e100',
      '1'.padEnd(100, ','),
    ]) {
      expect(await warnings(acme.post('activities', { ...day, Bonus }))).toEqual([
        ['/Bonus', 'not_a_number'],
      ])
    }
    const details = [
      '',
      'x',
      '2026-10-02',
      '10:30',
      'e5',
      '1e',
      '0x1f',
      '-',
      '.',
      '1'.padEnd(101, ','),
    ]
    for (const Bonus of [...details, ['1,000'], ['5'], { length: 1 }, true]) {
      expect(await warnings(acme.post('activities', { ...day, Bonus }))).toEqual([])
    }
    expect((await activityTotals(acme))[0].sums).not.toHaveProperty('Bonus')
  })

  test('with a definition, the KPIs are the fields it names and Value', async () => {
    const acme = await brandWithCustomers({ events: { DailyStats: dailyStats } })
    const sent = { ...day, Value: '1.5', Level: 7, Bonus: '1,000.00' }
    expect(await warnings(acme.post('activities', sent))).toEqual([])
    expect((await activityTotals(acme))[0].sums).toEqual({
      Value: '1.5',
      GGR: '10.5',
      NGR: '9',
      Bets: '100',
      Games: '3',
    })
  })

  test.each([
    ['GGR', day],
    ['Value', deposited],
  ])('with a definition, a KPI of %j is refused with 422 number', async (name, event) => {
    const acme = await brandWithCustomers({ events: { DailyStats: dailyStats } })
    const notDecimals = ['1,000.00', '', 'x', true, [], ['5'], {}, '1e5', '+1', ' 1', '1.']
    const events = notDecimals.map((value, i) => ({ ...event, eventid: `e-${i}`, [name]: value }))
    expect(await errors(acme.post('activities', events))).toEqual(
      events.map((_, i) => [`/${i}/${name}`, 'number']),
    )
  })

  test('KPIs have at most 15 significant digits, as number or text', async () => {
    const acme = await brandWithCustomers()
    for (const [value, code] of [
      ['1234567890.12345', null],
      ['"1234567890.12345"', null],
      ['"000.00000001"', null],
      ['"0000000000000000.5"', null],
      ['"5.0000000000000000"', null],
      [`"${'1'.padStart(500, '0')}"`, null],
      ['"0.100000000000000001"', 'digits'],
      ['"0.1000000000000000055"', 'digits'],
      ['"100000000000000000"', 'digits'],
      ['"1234567890123456"', 'digits'],
      ['1234567890.123456', 'digits'],
      ['"1234567890.123456"', 'digits'],
      ['"0.000000001"', 'digits'],
      ['1e400', 'number'],
    ] as const) {
      for (const name of ['Value', 'GGR']) {
        const record = `{"eventname":"E","customerid":"p-1","eventid":"x","${name}":${value}}`
        const found = await errors(acme.postText('activities', `[${record}]`))
        expect([value, found]).toEqual([value, code ? [[`/0/${name}`, code]] : []])
      }
    }
  })

  test('the members product and Product are never KPIs, whatever their values', async () => {
    const acme = await brandWithCustomers()
    const { GGR: _, NGR: __, Bets: ___, Games: ____, ...rest } = day
    for (const name of ['Product', 'product']) {
      expect(await errors(acme.post('activities', [{ ...rest, [name]: '5' }]))).toContainEqual([
        '/0',
        'no_kpi',
      ])
    }
    await acme.post('activities', { ...day, Product: 2 })
    expect((await activityTotals(acme))[0].sums).not.toHaveProperty('Product')
  })

  test('an event has at most 64 additional fields, and at most 32 of them are KPIs', async () => {
    const acme = await brandWithCustomers()
    const members = (prefix: string, count: number, value: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, value]))
    const event = { eventname: 'E', customerid: 'p-1', eventid: 'x' }
    const send = (...parts: object[]) =>
      acme.post('activities', [Object.assign({}, event, ...parts)])
    const kpis = members('k', 32, '1.5')

    expect((await send(kpis, members('d', 32, 'x'))).status).toBe(200)
    expect((await send({ Value: 1, Currency: 'EUR' }, members('d', 64, 2))).status).toBe(200)
    expect((await json(send(kpis, members('d', 33, 'x')))).errors).toMatchObject([
      {
        pointer: '/0',
        code: 'length',
        message: 'There can be at most 64 additional fields, not 65.',
        hint: 'Combine related fields in one field whose value is an object or an array.',
      },
    ])
    expect((await json(send(kpis, { another: 1 }))).errors).toMatchObject([
      {
        pointer: '/0',
        code: 'length',
        message: 'There can be at most 32 KPIs in one record, not 33.',
        hint: 'Send the other KPIs as another event, with an `eventname` of its own.',
      },
    ])
    expect((await json(acme.get('activities'))).data[0]).toEqual({
      ...event,
      Value: 1,
      Currency: 'EUR',
      ...members('d', 64, 2),
    })
  })

  test('KPI names must be valid text, and KPIs take at most 16 KiB', async () => {
    const acme = await brandWithCustomers()
    const send = (member: string) =>
      errors(
        acme.postText(
          'activities',
          `[{"eventname":"E","customerid":"p-1","eventid":"x",${member},"GGR":1}]`,
        ),
      )
    const event = { eventname: 'E', customerid: 'p-1', eventid: 'full' }
    for (const name of ['\\ud800', 'a\\u0000'])
      expect((await send(`"${name}":1`))[0]![1]).toBe('text')
    const room = 16 * 1024 - JSON.stringify({ k: '', GGR: 1 }).length
    const sized = (length: number) =>
      acme.post('activities', [{ ...event, k: 'x'.repeat(length), GGR: 1 }])
    expect([(await sized(room)).status, (await sized(room + 1)).status]).toEqual([200, 422])
    expect(await send(`"${'k'.repeat(17_000)}":1`)).toEqual([['/0', 'length']])
    const many = Array.from({ length: 4000 }, (_, i) => `"k${i}":1`).join()
    expect(await send(many)).toEqual([
      ['/0', 'length'],
      ['/0', 'length'],
    ])
    expect(await send(`"Value":"${'0'.repeat(501)}1"`)).toEqual([['/0/Value', 'number']])
    expect(await send(`"createtime":"2026-10-05T00:00:00.${'0'.repeat(600)}Z"`)).toEqual([
      ['/0/createtime', 'date_time'],
    ])
  })

  test('an event with neither Value nor KPI is refused with 422 no_kpi', async () => {
    const acme = await brandWithCustomers({ events: { DailyStats: dailyStats } })
    for (const eventname of ['Login', 'DailyStats']) {
      const { Value: _, ...rest } = { ...deposited, eventname, note: 'x' }
      expect(await errors(acme.post('activities', [rest]))).toEqual([['/0', 'no_kpi']])
    }
    expect(await errors(acme.post('activities', [{ ...deposited, Value: null }]))).toEqual([
      ['/0', 'no_kpi'],
    ])
  })
})

describe('invalid events', () => {
  test.each([
    [
      'no customerid and no eventname',
      { Value: 1 },
      [
        ['/customerid', 'required'],
        ['/eventname', 'required'],
      ],
    ],
    ['currency in another case', { ...deposited, currency: 'EUR' }, [['/currency', 'field_case']]],
    ['value in another case', { ...deposited, value: 1 }, [['/value', 'field_case']]],
    [
      'EventId and CREATETIME in another case',
      { ...deposited, EventId: 'x', CREATETIME: '' },
      [
        ['/EventId', 'field_case'],
        ['/CREATETIME', 'field_case'],
      ],
    ],
    ['an unknown currency', { ...deposited, Currency: 'EUX' }, [['/Currency', 'currency']]],
    ['an empty eventid', { ...deposited, eventid: '' }, [['/eventid', 'length']]],
    ['a number as eventid', { ...deposited, eventid: 5 }, [['/eventid', 'type']]],
    ['a number as product', { ...deposited, product: 5 }, [['/product', 'type']]],
    [
      'an impossible createtime',
      { ...deposited, createtime: '2026-13-01' },
      [['/createtime', 'date_time']],
    ],
    ['a number as createtime', { ...deposited, createtime: 20261002 }, [['/createtime', 'type']]],
  ] as const)('an event with %s is refused', async (_, record, expected) => {
    const acme = await brandWithCustomers()
    const response = await acme.post('activities', record)
    expect(response.status).toBe(422)
    expect(await errors(response)).toEqual(expected)
  })

  test('of several members in another case, each says how to spell it', async () => {
    const acme = await brandWithCustomers()
    const { eventname, eventid: Eventid, ...rest } = deposited
    const response = await acme.post('activities', [{ ...rest, EVENTNAME: eventname, Eventid }])
    const { errors: found } = await json(response)
    expect(found.map(({ pointer, hint }: Record<string, string>) => [pointer, hint])).toEqual([
      ['/0/eventname', 'Spell it `eventname`.'],
      ['/0/Eventid', 'Spell it `eventid`.'],
    ])
  })

  test('a member in another case is valid if the event definition names it', async () => {
    const events = {
      Deposit: { granularity: 'event', kpis: ['value'], product: { field: 'EventName', map: {} } },
    }
    const acme = await brandWithCustomers({ events })
    const sent = { ...deposited, value: '2.50', EventName: 'casino' }
    expect((await acme.post('activities', sent)).status).toBe(201)
    expect((await activityTotals(acme))[0]).toMatchObject({
      product: 'casino',
      sums: { Value: '100', value: '2.5' },
    })
    const other = { ...sent, eventname: 'Other', eventid: 'x' }
    expect(await errors(acme.post('activities', other))).toEqual([
      ['/value', 'field_case'],
      ['/EventName', 'field_case'],
    ])
  })

  test('17 KiB of details are refused with a pointer to the record', async () => {
    const acme = await brandWithCustomers()
    expect(
      await errors(acme.post('activities', [{ ...deposited, note: 'x'.repeat(17_000) }])),
    ).toEqual([['/0', 'length']])
  })

  test('a withdrawn currency is accepted with a warning', async () => {
    const acme = await brandWithCustomers()
    expect(await warnings(acme.post('activities', { ...deposited, Currency: 'HRK' }))).toEqual([
      ['/Currency', 'withdrawn_currency'],
    ])
  })
})

describe('product lines', () => {
  const events = { DailyStats: dailyStats }

  test('the map of a definition converts its field to a product line', async () => {
    const acme = await brandWithCustomers({ events })
    await acme.post('activities', [
      { ...day, Product: 'Casino' },
      { ...day, Product: 'Poker', GGR: '1' },
      { ...day, Product: 'bingo', GGR: '2' },
    ])
    expect(await activityTotals(acme)).toMatchObject([
      { product: 'bingo', count: 1, sums: { GGR: '2' } },
      { product: 'casino', count: 1, sums: { GGR: '10.5' } },
      { product: 'poker', count: 1, sums: { GGR: '1' } },
    ])
  })

  test('an unmapped product is stored as it was sent, with a warning', async () => {
    const acme = await brandWithCustomers({ events })
    expect(await warnings(acme.post('activities', { ...day, Product: 'Lotto' }))).toEqual([
      ['/Product', 'unmapped_product'],
    ])
    expect(await activityTotals(acme)).toMatchObject([{ product: 'Lotto' }])
  })

  test('a KPI or product in another case gets a field_case warning', async () => {
    const acme = await brandWithCustomers({ events })
    const sent = { ...day, ngr: '3', product: 'casino' }
    expect(await json(acme.post('activities', [sent]))).toMatchObject({
      results: [
        {
          outcome: 'created',
          warnings: [
            {
              code: 'field_case',
              pointer: '/0/ngr',
              message: '`ngr` is stored as an additional field. Did you mean `NGR`?',
            },
            { code: 'field_case', pointer: '/0/product' },
          ],
        },
      ],
    })
  })

  test('a definition without a product uses the member product, and its names map to themselves', async () => {
    const acme = await brandWithCustomers({ events: { Bet: { granularity: 'event' } } })
    const bet = { ...deposited, eventname: 'Bet', product: 'poker' }

    expect(await json(acme.post('activities', bet))).not.toHaveProperty('results.0.warnings')
    expect(await activityTotals(acme)).toMatchObject([{ eventname: 'Bet', product: 'poker' }])
  })

  test('without a definition, product is the product line and Product gets a warning', async () => {
    const acme = await brandWithCustomers()
    expect(await warnings(acme.post('activities', { ...day, product: 'poker' }))).toEqual([])
    expect(await warnings(acme.post('activities', { ...day, Product: 'Casino' }))).toEqual([
      ['/Product', 'unmapped_product'],
    ])
    expect((await activityTotals(acme)).map(({ product }: { product: string }) => product)).toEqual(
      [null, 'poker'],
    )
  })

  test('an event without Currency counts under the default and is returned unchanged', async () => {
    const definition = { ...dailyStats, currency: 'SEK' }
    const acme = await brandWithCustomers({ events: { DailyStats: definition } })
    const { Currency: _, ...rest } = day
    await acme.post('activities', rest)
    expect((await json(acme.get('activities'))).data).toEqual([rest])
    expect(await activityTotals(acme)).toMatchObject([{ Currency: 'SEK' }])
  })
})

describe('the identity of an event', () => {
  test('an eventid identifies one event per brand, and a re-send replaces it', async () => {
    const acme = await brandWithCustomers()
    await acme.post('activities', deposited)
    const moved = { ...deposited, customerid: 'p-2', createtime: '2026-10-05', eventname: 'Other' }
    const response = acme.post('activities', [moved])
    expect((await json(response)).results).toMatchObject([
      { outcome: 'updated', warnings: [{ code: 'changed_event' }] },
    ])
    expect((await json(acme.get('activities?customerid=p-1'))).meta.total).toBe(0)
    expect((await json(acme.get('activities?customerid=p-2'))).data).toEqual([moved])
    expect(await activityTotals(acme, '2026-10-05')).toMatchObject([
      { eventname: 'Other', count: 1 },
    ])
    expect(await activityTotals(acme)).toEqual([])
  })

  test('an identity of any length matches when the event is sent again', async () => {
    const acme = await brandWithCustomers()
    const long = { ...day, eventname: '\u0001'.repeat(500), product: '\u0001'.repeat(500) }
    const details = { ...long, note: { b: 1, a: 'x'.repeat(5000) } }
    expect(await outcomes(acme.post('activities', [long]))).toEqual(['created'])
    expect(await outcomes(acme.post('activities', [details]))).toEqual(['updated'])
    const reordered = { ...long, note: { a: 'x'.repeat(5000), b: 1 } }
    expect(await outcomes(acme.post('activities', [reordered]))).toEqual(['unchanged'])
    expect((await json(acme.get('activities'))).data).toEqual([details])
  })

  test('the log names only members of a key that were sent with this name and value', async () => {
    const acme = await brand({
      unknown_customer: 'reject',
      events: { Stats: { ...dailyStats, product: { field: 'Vert', map: {} }, currency: 'EUR' } },
    })
    const sent = [
      {
        eventname: 'Stats',
        customerid: 'no',
        createtime: '2026-10-02 10:00',
        Vert: 'Slots',
        GGR: 1,
      },
      { ...day, customerid: 'no' },
      { ...deposited, customerid: 'no', eventid: 'e'.repeat(400) },
      { ...deposited, customerid: 'no' },
    ]
    const { delivery_id, errors } = await json(acme.post('activities', sent))
    const logged = await json(acme.get(`deliveries/${delivery_id}`))
    expect(logged.errors.map(({ key }: { key?: object }) => key)).toEqual([
      { eventname: 'Stats', customerid: 'no' },
      { eventname: 'DailyStats', customerid: 'no' },
      undefined,
      { eventid: 'e-1' },
    ])
    for (const [i, { key }] of logged.errors.entries()) {
      expect(errors[i].key).toMatchObject(key ?? {})
    }
  })

  test.each([
    ['eventname', { eventname: 'Withdrawal' }],
    ['customerid', { customerid: 'p-2' }],
    ['eventname of a held event', { customerid: 'later', eventname: 'Withdrawal' }],
  ])(
    'an eventid that is sent again with another %s gets the warning changed_event',
    async (_, change) => {
      const acme = await brandWithCustomers()
      const first = 'customerid' in change && 'eventname' in change ? { customerid: 'later' } : {}
      await acme.post('activities', { ...deposited, ...first })
      const again = { ...deposited, ...change }
      const other = { ...deposited, eventid: 'e-2' }
      const expected = {
        code: 'changed_event',
        pointer: '/0',
        message:
          'An event with this `eventid` and another `eventname` or `customerid` was stored. This record has replaced it. Give each event an `eventid` of its own.',
      }
      for (const headers of [{}, { Prefer: 'return=minimal' }]) {
        const dry = await json(acme.post('activities?dry_run=true', [again, other], headers))
        expect(dry.results[0].warnings).toEqual([expected])
        expect(dry.results[1]?.warnings).toBeUndefined()
      }
      const { results } = await json(
        acme.post('activities', [again, other], { Prefer: 'return=minimal' }),
      )
      const outcome = 'customerid' in first ? 'held' : 'updated'
      expect(results).toEqual([
        { index: 0, key: { eventid: 'e-1' }, outcome, warnings: [expected] },
      ])
      // The same event, or another value of it, is not another event.
      for (const same of [again, { ...again, Value: '7.00' }]) {
        const { results } = await json(acme.post('activities', [same]))
        expect(results[0].warnings).toBeUndefined()
      }
    },
  )

  test('a bulk with one refused record stores no event', async () => {
    const acme = await brand({ unknown_customer: 'reject' })
    await acme.post('customers', eve)
    const twice = [deposited, { ...deposited, Value: 2 }]
    const unknown = { ...deposited, eventid: 'e-2', customerid: 'nobody' }
    expect((await acme.post('activities', [...twice, unknown])).status).toBe(422)
    expect(await json(acme.get('activities'))).toMatchObject({ data: [], meta: { total: 0 } })
  })
})

describe('events of unknown customers', () => {
  test('an event of an unknown customer is held until the customer arrives', async () => {
    const acme = await brand()
    const bet = { eventname: 'Bet', customerid: 'p-1', Value: 1 }
    const response = acme.post('activities', [deposited, day, bet])
    expect(await json(response)).toMatchObject({ summary: { received: 3, held: 3, created: 0 } })
    expect((await json(acme.get('activities'))).meta.total).toBe(0)
    expect(await activityTotals(acme)).toEqual([])
    const { data, meta } = await json(acme.get('held'))
    expect(meta.total).toBe(3)
    expect(data.map(({ record }: { record: object }) => record)).toEqual(
      expect.arrayContaining([deposited, day, bet]),
    )

    await acme.post('customers', eve)
    expect((await json(acme.get('held'))).meta.total).toBe(0)
    expect((await json(acme.get('activities'))).meta.total).toBe(3)
    expect(await activityTotals(acme)).toHaveLength(2)
    expect(await outcomes(acme.post('activities', [deposited, day]))).toEqual([
      'unchanged',
      'unchanged',
    ])
  })

  test('a held event stays held however often it is sent again', async () => {
    const acme = await brand()
    const versions = [deposited, { ...deposited, Value: 2 }, { ...deposited, Value: 2 }]
    for (const query of ['?dry_run=true', '', '?dry_run=true', '']) {
      expect(await json(acme.post(`activities${query}`, versions))).toMatchObject({
        summary: { received: 3, held: 3, created: 0, updated: 0, unchanged: 0 },
      })
    }
    const mixed = [
      { ...deposited, eventid: 'x' },
      { ...deposited, eventid: 'x', customerid: 'k' },
    ]
    await acme.post('customers', { customerId: 'k' })
    expect(await json(acme.post('activities', mixed))).toMatchObject({
      summary: { received: 2, held: 0, created: 2 },
    })
    expect((await json(acme.get('activities'))).meta.total).toBe(1)
    expect(await json(acme.post('activities', mixed.toReversed()))).toMatchObject({
      summary: { received: 2, held: 2, updated: 0 },
    })
    expect((await json(acme.get('activities'))).meta.total).toBe(0)
    expect((await json(acme.get('held'))).meta.total).toBe(2)
  })

  test('an invalid event of an unknown customer gets both errors', async () => {
    const acme = await brand({ unknown_customer: 'reject' })
    const { errors } = await json(acme.post('activities', [{ ...deposited, Currency: 'EUX' }]))

    expect(errors).toMatchObject([
      { pointer: '/0/Currency', code: 'currency' },
      { pointer: '/0/customerid', code: 'unknown_customer' },
    ])
  })

  test('the policy reject refuses an event of an unknown customer', async () => {
    const acme = await brand({ unknown_customer: 'reject' })
    const response = await acme.post('activities', [deposited, day])
    expect(response.status).toBe(422)
    const body = await json(response)
    expect(body.errors).toMatchObject([
      { index: 0, key: { eventid: 'e-1' }, pointer: '/0/customerid', code: 'unknown_customer' },
      { index: 1, pointer: '/1/customerid', code: 'unknown_customer' },
    ])
    const { errors } = await json(acme.get(`deliveries/${body.delivery_id}`))
    const { eventname, customerid } = day
    expect(errors).toEqual([body.errors[0], { ...body.errors[1], key: { eventname, customerid } }])
  })
})

describe('reading', () => {
  test('a single activity has no URL', async () => {
    const acme = await brandWithCustomers()
    await acme.post('activities', deposited)

    for (const id of ['e-1', 'e%20e-1', 'by-id?id=e-1']) {
      expect((await acme.get(`activities/${id}`)).status).toBe(404)
    }
  })

  test('activities can be filtered by customerid and day and paged by cursor', async () => {
    const acme = await brandWithCustomers()
    await acme.post(
      'activities',
      Array.from({ length: 10 }, (_, i) => ({
        ...deposited,
        eventid: `e-${i}`,
        customerid: i % 2 ? 'p-2' : 'p-1',
        createtime: `2026-10-0${1 + (i % 5)} 10:00`,
      })),
    )
    const total = async (query: string) => (await json(acme.get(`activities?${query}`))).meta.total
    expect(await total('customerid=p-2')).toBe(5)
    expect(await total('from=2026-10-02&to=2026-10-03')).toBe(4)
    expect(await total('customerid=p-2&from=2026-10-02&to=2026-10-03')).toBe(2)

    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = await json(acme.get(`activities?per_page=3${cursor}`))
      seen.push(...page.data.map(({ eventid }: { eventid: string }) => eventid))
      if (!page.meta.next_cursor) break
      cursor = `&cursor=${page.meta.next_cursor}`
    }
    expect(seen.toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => `e-${i}`))
    expect((await acme.get('activities/e-1')).status).toBe(404)
  })

  test('totals sum Value and each KPI exactly, by eventname, product and Currency', async () => {
    const acme = await brandWithCustomers()
    await acme.post(
      'activities',
      Array.from({ length: 300 }, (_, i) => ({
        ...deposited,
        eventid: `e-${i}`,
        Value: i % 3 ? '0.1' : '999999999999.999',
      })),
    )
    await acme.post('activities', [
      { ...day, customerid: 'p-1', GGR: '-0.00000001' },
      { ...day, customerid: 'p-2', GGR: '0.1' },
    ])
    expect(await activityTotals(acme)).toEqual([
      {
        day: '2026-10-02',
        resource: 'activities',
        eventname: 'DailyStats',
        product: null,
        Currency: 'EUR',
        count: 2,
        sums: { Bets: '200', GGR: '0.09999999', Games: '6', NGR: '18' },
      },
      {
        day: '2026-10-02',
        resource: 'activities',
        eventname: 'Deposit',
        product: null,
        Currency: 'EUR',
        count: 300,
        sums: { Value: '100000000000019.9' },
      },
    ])
  })

  test('the deliveries of a brand are listed with their errors', async () => {
    const acme = await brand()
    await acme.post('activities', [deposited, { ...deposited, eventid: 'e-2', Value: 'x' }])
    const { data } = await json(acme.get('deliveries'))
    expect(data).toMatchObject([{ resource: 'activities', status: 422, errors_total: 1 }])
    expect(await json(acme.get(`deliveries/${data[0].delivery_id}`))).toMatchObject({
      errors: [{ index: 1, key: { eventid: 'e-2' }, pointer: '/1/Value', code: 'number' }],
    })
  })
})
