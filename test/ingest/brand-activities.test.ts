import { describe, expect, test } from 'vitest'
import { storedBrand as brand, dailyStats, day, deposited, eve } from '../brand.ts'
import { askAdmin, json } from '../partner.ts'

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
})

describe('KPIs', () => {
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
      const own = { ...day, eventid: `e ${Bonus}`, Bonus }
      expect(await warnings(acme.post('activities', own))).toEqual([['/Bonus', 'not_a_number']])
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
      expect(await warnings(acme.post('activities', { ...day, eventid: 'e', Bonus }))).toEqual([])
    }
    expect((await activityTotals(acme))[0].sums).not.toHaveProperty('Bonus')
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
  const NAMES = ['product', 'Product', 'PRODUCT']

  test.each([
    ['no definition', undefined],
    ['a definition without a product field', { ...dailyStats, product: null }],
    ['a definition that names `Product`', dailyStats],
  ])('§7 with %s the product line has a name in any case', async (_, definition) => {
    const acme = await brandWithCustomers({
      ...(definition && { events: { DailyStats: definition } }),
    })
    for (const name of NAMES) {
      const sent = [
        { ...day, [name]: 'Casino', NGR: '100' },
        { ...day, [name]: 'Sports', NGR: '50' },
      ]
      expect(await warnings(acme.post('activities', sent))).toEqual([])
    }
    expect(await activityTotals(acme)).toMatchObject([
      { product: 'casino', count: 1, sums: { NGR: '100' } },
      { product: 'sports', count: 1, sums: { NGR: '50' } },
    ])
  })

  test('§7 the four words have any case, also beside the words of a definition', async () => {
    for (const [account, settings] of [
      ['plain', {}],
      ['defined', { events }],
    ] as const) {
      const acme = await brandWithCustomers({ account, ...settings })
      const send = (Product: string) => acme.post('activities', [{ ...day, Product }])
      expect(await outcomes(send('CASINO'))).toEqual(['created'])
      for (const word of ['casino', 'Casino'])
        expect(await outcomes(send(word))).toEqual(['unchanged'])
      expect(await outcomes(send('BINGO'))).toEqual(['created'])
      expect(await warnings(send('Slots'))).toEqual([['/0/Product', 'unmapped_product']])
      expect(
        (await activityTotals(acme)).map(({ product }: { product: string }) => product),
      ).toEqual(['Slots', 'bingo', 'casino'])
    }
  })

  test('§7 two words of a map that mean one line are two totals', async () => {
    const stats = {
      ...dailyStats,
      product: { field: 'product', map: { Live: 'casino', Slots: 'casino' } },
    }
    const acme = await brandWithCustomers({ events: { DailyStats: stats } })
    const sent = ['Live', 'Slots', 'casino'].map((product) => ({ ...day, product }))
    expect(await outcomes(acme.post('activities', sent))).toEqual(Array(3).fill('created'))
    expect(await activityTotals(acme)).toMatchObject([{ product: 'casino', count: 3 }])
  })

  test('§7 a record has one product line', async () => {
    const acme = await brandWithCustomers()
    const sent = { ...day, Product: 'sports', product: 'casino', PRODUCT: 'bingo' }
    const { errors } = await json(acme.post('activities', [sent]))
    expect(errors).toMatchObject(
      ['/0/Product', '/0/PRODUCT'].map((pointer) => ({
        pointer,
        code: 'field_case',
        message: '`product` already has the product line.',
        hint: 'Send the product line in one member.',
      })),
    )
  })

  test('§8 a definition without a product field uses no name of one otherwise', async () => {
    const acme = await brand()
    const put = (own: object) =>
      askAdmin(`accounts/${acme.account}/events/E`, 'PUT', { granularity: 'day', ...own })
    for (const name of NAMES) {
      expect((await put({ kpis: [name] })).status).toBe(422)
      expect((await put({ status_member: name })).status).toBe(422)
    }
    const product = { field: 'Line', map: {} }
    expect((await put({ kpis: ['Product'], product })).status).toBe(201)
  })

  test('a KPI or status in another case gets a field_case warning', async () => {
    const stats = { ...dailyStats, status_member: 'State' }
    const acme = await brandWithCustomers({ events: { DailyStats: stats } })
    const sent = { ...day, ngr: '3', state: 'approved' }
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
            { code: 'field_case', pointer: '/0/state' },
          ],
        },
      ],
    })
  })
})

describe('replaced_details', () => {
  const replaced = async (response: Response | Promise<Response>) =>
    (await json(response)).results.flatMap(
      ({ warnings = [] }: { warnings?: { code: string; message: string }[] }) =>
        warnings.flatMap(({ code, message }) =>
          code === 'replaced_details' ? [message.match(/`\w+`/g)!.slice(0, -2).join()] : [],
        ),
    )

  test('§4 a daily total that replaces one with other details names them', async () => {
    for (const [account, settings] of [
      ['plain', {}],
      ['defined', { events: { DailyStats: dailyStats } }],
    ] as const) {
      const acme = await brandWithCustomers({ account, ...settings })
      const send = (...own: object[]) =>
        replaced(
          acme.post(
            'activities',
            own.map((one) => ({ ...day, ...one })),
          ),
        )
      expect(await send({ product_line: 'Casino', channel: 'web' })).toEqual([])
      expect(await send({ product_line: 'Sports', channel: 'web', NGR: 50 })).toEqual([
        '`product_line`',
      ])
      expect(await send({ NGR: 51, story: 'x'.repeat(500) })).toEqual([
        '`channel`,`product_line`,`story`',
      ])
      expect(await send({ NGR: 52, Bets: 0, story: 'x'.repeat(500) })).toEqual([])
      expect(await send({ channel: 'app' }, { channel: 'web' })).toEqual([
        '`channel`,`story`',
        '`channel`,`story`',
      ])
      expect(await send({ channel: 'web' })).toEqual([])
      // Amounts and the product are no details, whether both totals have them or one.
      expect(await send({ channel: 'app', NGR: undefined })).toEqual(['`channel`'])
      expect(await send({ channel: 'web' })).toEqual(['`channel`'])
      expect(await send({ channel: 'web', Product: 'Casino' })).toEqual([])
      expect(await send({ channel: 'app', PRODUCT: 'casino' })).toEqual(['`channel`'])
      expect(await send({ eventid: 'e', channel: 'app' })).toEqual([])
      expect(await send({ eventid: 'e', channel: 'web' })).toEqual([])
      if (account === 'plain') continue
      const known = { createtime: '2026-10-02 10:00', Value: 5 }
      expect(await send({ channel: 'app', ...known })).toEqual(['`channel`,`createtime`'])
      expect(await send({ channel: 'web' })).toEqual(['`channel`,`createtime`'])
    }
  })
})

describe('sessions of a daily definition', () => {
  test('§4 a session that replaces another of the same day is named by its time', async () => {
    const stats = { ...dailyStats, product: { field: 'Line', map: {} } }
    const acme = await brandWithCustomers({ events: { DailyStats: stats } })
    const send = async (own: object) =>
      (await json(acme.post('activities', [{ ...day, ...own }]))).results[0].warnings ?? []
    expect(await send({ createtime: '2026-10-02 10:00', Line: 'casino' })).toEqual([])
    for (const own of [{ createtime: '2026-10-02 11:00' }, { product: 'poker' }])
      expect(await send({ createtime: '2026-10-02 11:00', Line: 'casino', ...own })).toMatchObject([
        {
          code: 'replaced_details',
          message: expect.stringContaining(`: \`${Object.keys(own)}\`.`),
        },
      ])
  })
})

describe('similar names', () => {
  test('§4 a member that a known name differs from by `_`, `-` and case has its name', async () => {
    const acme = await brandWithCustomers({ events: { DailyStats: dailyStats } })
    const messages = async (response: Response | Promise<Response>) =>
      (await json(response)).results[0].warnings.flatMap(
        ({ code, message }: { code: string; message: string }) =>
          code === 'similar_field' ? [message] : [],
      )
    const said = (name: string, known: string) =>
      `\`${name}\` is stored as an additional field. Did you mean \`${known}\`?`
    expect(
      await messages(
        acme.post('customers', {
          ...eve,
          trackingData: 'x',
          customer_id: 'p-1',
          'first-name': 'A',
        }),
      ),
    ).toEqual([
      said('trackingData', 'tracking_data'),
      said('customer_id', 'customerId'),
      said('first-name', 'firstName'),
    ])
    expect(
      await messages(acme.post('activities', { ...deposited, event_id: 5, Create_Time: 'x' })),
    ).toEqual([said('event_id', 'eventid'), said('Create_Time', 'createtime')])
    expect(await messages(acme.post('activities', { ...day, g_gr: 5, event_id: 'x' }))).toEqual([
      said('g_gr', 'GGR'),
      said('event_id', 'eventid'),
    ])
    expect(
      await messages(acme.post('activities', { ...day, eventname: 'Raw', event_id: 5 })),
    ).toEqual([said('event_id', 'eventid')])
  })

  test('§5 a required member with a similar name is `required`, with the right name', async () => {
    const acme = await brandWithCustomers()
    const { customerid, ...rest } = deposited
    expect(
      (await json(acme.post('activities', { ...rest, customer_id: customerid }))).errors,
    ).toMatchObject([{ pointer: '/customerid', code: 'required', hint: 'Spell it `customerid`.' }])
  })
})

describe('the identity of an event', () => {
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
      { eventid: `${'e'.repeat(40)}…` },
      { eventid: 'e-1' },
    ])
    for (const i of [0, 1, 3]) expect(errors[i].key).toMatchObject(logged.errors[i].key)
  })
})
