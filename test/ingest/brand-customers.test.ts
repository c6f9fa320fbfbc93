import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { storedBrand as brand, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { askAdmin, json, ORIGIN } from '../partner.ts'
import { CURABLE, faulty } from '../platform/faulty.ts'

type Brand = Awaited<ReturnType<typeof brand>>

const outcomes = async (response: Response | Promise<Response>) => {
  const { results } = await json(response)
  return results.map(({ outcome }: { outcome: string }) => outcome)
}
const errors = async (response: Response | Promise<Response>) => {
  const { errors } = await json(response)
  return errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code])
}
const warnings = async (response: Response | Promise<Response>) => {
  const { results } = await json(response)
  return results.flatMap(({ warnings = [] }: { warnings?: { pointer: string; code: string }[] }) =>
    warnings.map(({ pointer, code }) => [pointer, code]),
  )
}
const readCustomer = (acme: Brand, id = eve.customerId) => json(acme.get(`customers/${id}`))

describe('§7 customers', () => {
  test('a customer is returned as they were sent, with all additional fields', async () => {
    const acme = await brand()
    const sent = {
      ...eve,
      firstName: 'Eve',
      lastName: 'Ünal',
      vip: { level: 3, tags: ['a', null], since: '2026-01-01' },
      score: 1.5,
      active: false,
      data: [1, 2],
    }
    expect((await acme.post('customers', sent)).status).toBe(201)
    expect(await readCustomer(acme)).toEqual(sent)
    expect(await json(acme.get('customers'))).toMatchObject({ data: [sent], meta: { total: 1 } })
    expect(await outcomes(acme.post('customers', [await readCustomer(acme)]))).toEqual([
      'unchanged',
    ])
  })

  test('a re-send keeps omitted fields and replaces the ones it has', async () => {
    const acme = await brand()
    await acme.post('customers', { ...eve, firstName: 'Eve', crm: { a: 1, b: 2 }, level: 1 })
    const again = { customerId: 'p-1', lastName: 'Adler', crm: { a: 3 }, stage: 'ftd' }
    expect(await outcomes(acme.post('customers', again))).toEqual(['updated'])

    expect(await readCustomer(acme)).toEqual({
      ...eve,
      firstName: 'Eve',
      lastName: 'Adler',
      crm: { a: 3 },
      level: 1,
      stage: 'ftd',
    })
    expect(await outcomes(acme.post('customers', again))).toEqual(['unchanged'])
    expect(await outcomes(acme.post('customers', { customerId: 'p-1' }))).toEqual(['unchanged'])
  })

  test('a customer without additional fields has none in the database', async () => {
    const acme = await brand()
    await acme.post('customers', [eve, { ...eve, customerId: 'p-2', vip: 1 }])
    const { results } = await env.DB.prepare(
      'select extras from customers order by customer_id',
    ).all()

    expect(results).toEqual([{ extras: null }, { extras: '{"vip":"1"}' }])
  })

  test('null members of a customer count as omitted', async () => {
    const acme = await brand()
    await acme.post('customers', { ...eve, firstName: 'Eve', vip: 1 })
    const nulls = { customerId: 'p-1', regtime: null, country: null, firstName: null, vip: null }

    expect(await outcomes(acme.post('customers', nulls))).toEqual(['unchanged'])
    expect(await readCustomer(acme)).toEqual({ ...eve, firstName: 'Eve', vip: 1 })
    const missing = await acme.post('customers', [{ customerId: null }])
    expect([missing.status, await errors(missing)]).toEqual([422, [['/0/customerId', 'required']]])
  })

  test('a customer keeps members named __proto__, constructor or toString as plain data', async () => {
    const acme = await brand()
    const text =
      '{"customerId":"p-1","__proto__":{"polluted":true},"constructor":"c","toString":1,"hasOwnProperty":[],"a\\"b\\\\c.$[0]":"odd"}'
    expect((await acme.postText('customers', text)).status).toBe(201)

    const body = await (await acme.get('customers/p-1')).text()
    expect(JSON.parse(body)).toEqual(JSON.parse(text))
    expect(body).toContain('"__proto__":{"polluted":true}')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(await outcomes(acme.postText('customers', text))).toEqual(['unchanged'])
    const more = '{"customerId":"p-1","__proto__":2,"valueOf":null,"a\\"b\\\\c.$[0]":"odder"}'
    expect(await outcomes(acme.postText('customers', more))).toEqual(['updated'])
    expect(await (await acme.get('customers/p-1')).text()).toContain('"__proto__":2')
  })

  test('several records of one customer are merged in array order, and each has the outcome', async () => {
    const acme = await brand()
    const bulk = [
      { customerId: 'a', firstName: 'One', x: 1, z: { deep: 1 } },
      { customerId: 'b', regtime: '2026-10-01' },
      { customerId: 'a', lastName: 'Two', regtime: '2026-10-05 10:00', z: { other: 2 } },
      { customerId: 'a', firstName: 'Three', y: 2 },
      { customerId: 'a', firstName: 'Three', x: null },
    ]
    for (const [query, outcome] of [
      ['?dry_run=true', 'created'],
      ['', 'created'],
      ['', 'unchanged'],
      ['?dry_run=true', 'unchanged'],
    ] as const) {
      const answer = await json(acme.post(`customers${query}`, bulk))
      expect(answer.summary).toMatchObject({ received: 5, [outcome]: 5 })
      expect(answer.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
        Array(5).fill(outcome),
      )
      const codes = answer.results.map(({ warnings = [] }: { warnings?: { code: string }[] }) =>
        warnings.map(({ code }) => code).filter((code) => code === 'repeated_key'),
      )
      expect(codes).toEqual([[], [], ['repeated_key'], ['repeated_key'], ['repeated_key']])
      const logged = await json(acme.get(`deliveries/${answer.delivery_id}`))
      expect(answer.summary).toMatchObject(logged.summary)
    }
    expect(await readCustomer(acme, 'a')).toEqual({
      customerId: 'a',
      regtime: '2026-10-05 10:00',
      firstName: 'Three',
      lastName: 'Two',
      x: 1,
      y: 2,
      z: { other: 2 },
    })
    const { data } = await json(acme.get('totals?from=2026-10-05&to=2026-10-05'))
    expect(data).toEqual([{ day: '2026-10-05', resource: 'customers', count: 1, sums: {} }])
    expect(await json(acme.get('customers'))).toMatchObject({ meta: { total: 2 } })
  })

  test('repeated records without regtime keep the day of each customer', async () => {
    const acme = await brand()
    const on = (customerId: string, day: string) => ({
      customerId,
      regtime: `2026-10-0${day} 08:30`,
    })
    await acme.post('customers', [on('a', '1'), on('b', '2'), on('c', '3')])
    const twice = [1, 2].map((vip) => ({ customerId: 'b', vip }))
    expect(await outcomes(acme.post('customers', twice))).toEqual(['updated', 'updated'])
    const { data } = await json(acme.get('totals?from=2026-10-01&to=2026-10-03'))
    expect(data.map(({ count }: { count: number }) => count)).toEqual([1, 1, 1])
  })

  test('a bulk of 1000 records of one customer returns 1000 outcomes', async () => {
    const acme = await brand()
    const many = Array.from({ length: 1000 }, (_, i) => ({ customerId: 'a', n: i % 2 }))
    const { summary } = await json(acme.post('customers', many))

    expect(summary).toMatchObject({ received: 1000, created: 1000, updated: 0, unchanged: 0 })
    expect(await readCustomer(acme, 'a')).toEqual({ customerId: 'a', n: 1 })
  })

  test('a customer counts on their first arrival day until regtime is sent', async () => {
    const acme = await brand()
    const today = new Date().toISOString().slice(0, 10)
    const counted = async (day: string) =>
      (await json(acme.get(`totals?from=${day}&to=${day}`))).data.length
    await acme.post('customers', { customerId: 'p-1' })
    expect(await counted(today)).toBe(1)
    await acme.post('customers', eve)
    expect([await counted(today), await counted('2026-10-01')]).toEqual([0, 1])
    await acme.post('customers', { customerId: 'p-1', vip: 1 })
    expect([await counted(today), await counted('2026-10-01')]).toEqual([0, 1])
  })

  test('a regtime of the same instant in another form changes nothing', async () => {
    const acme = await brand({ time_zone: 'Europe/Berlin' })
    await acme.post('customers', eve)
    for (const regtime of ['2026-10-01 08:30:00', '2026-10-01T08:30:00+02:00']) {
      expect(await outcomes(acme.post('customers', { ...eve, regtime }))).toEqual(['unchanged'])
    }
    expect(await readCustomer(acme)).toEqual(eve)
    const later = { ...eve, regtime: '2026-10-01 08:31' }
    expect(await outcomes(acme.post('customers', later))).toEqual(['updated'])
  })

  test('customers can be filtered by customerid but not by day', async () => {
    const acme = await brand()
    await acme.post('customers', [eve, { customerId: 'p-2' }])

    expect(await json(acme.get('customers?customerid=p-2'))).toMatchObject({
      data: [{ customerId: 'p-2' }],
      meta: { total: 1 },
    })
    expect((await acme.get('customers/nobody')).status).toBe(404)
    for (const query of ['customer_id=p-1', 'from=2026-10-01', 'customerId=p-1']) {
      expect((await acme.get(`customers?${query}`)).status).toBe(400)
    }
  })
})

describe('invalid customers', () => {
  const invalid: [string, Record<string, unknown>, [string, string][]][] = [
    ['no customerId', {}, [['/customerId', 'required']]],
    ['a number as customerId', { customerId: 1 }, [['/customerId', 'type']]],
    ['an empty customerId', { customerId: '' }, [['/customerId', 'length']]],
    [
      'a customerId of 501 characters',
      { customerId: 'x'.repeat(501) },
      [['/customerId', 'length']],
    ],
    ['a NUL in customerId', { customerId: 'a\0' }, [['/customerId', 'text']]],
    ['a number as firstName', { ...eve, firstName: 1 }, [['/firstName', 'type']]],
    [
      'an impossible day as regtime',
      { ...eve, regtime: '2026-02-30 10:00' },
      [['/regtime', 'date_time']],
    ],
    [
      'an impossible hour as regtime',
      { ...eve, regtime: '2026-02-20 24:00' },
      [['/regtime', 'date_time']],
    ],
    ['a word as regtime', { ...eve, regtime: 'soon' }, [['/regtime', 'date_time']]],
    ['a number as regtime', { ...eve, regtime: 1_760_000_000 }, [['/regtime', 'type']]],
    ['a NUL in extras', { ...eve, note: { deep: ['a\0'] } }, [['/note/deep/0', 'text']]],
    ['a NUL in a member name', { ...eve, 'a\0': 1 }, [['/a\0', 'text']]],
    ['customerID in another case', { ...eve, customerID: 'x' }, [['/customerID', 'field_case']]],
    [
      'several errors',
      { regtime: 'x', country: 1 },
      [
        ['/customerId', 'required'],
        ['/country', 'type'],
        ['/regtime', 'date_time'],
      ],
    ],
  ]
  test.each(invalid)('a customer with %s is refused', async (_, record, expected) => {
    const acme = await brand()
    const response = await acme.post('customers', record)
    expect(response.status).toBe(422)
    expect(await errors(response)).toEqual(expected)
    expect(await json(acme.get('customers'))).toMatchObject({ data: [] })
  })

  test('a number that a double cannot hold is refused, even in extras', async () => {
    const acme = await brand()
    for (const [number, code] of [
      ['12345678901234567', 'digits'],
      ['0.12345678901234567', 'digits'],
      ['1e400', 'number'],
    ]) {
      const body = `{"customerId":"p-1","deep":{"wallet":[${number}]}}`
      expect(await errors(acme.postText('customers', body))).toEqual([['/deep/wallet/0', code]])
    }
  })

  test('an unpaired surrogate is refused in a value and in a name', async () => {
    const acme = await brand()
    for (const member of ['"a":"\\ud800"', '"\\ud800":1']) {
      const response = await acme.postText('customers', `{"customerId":"p-1",${member}}`)
      expect([response.status, (await errors(response))[0][1]]).toEqual([422, 'text'])
    }
  })

  test('extras of 16 KiB are stored, and one byte more is refused', async () => {
    const acme = await brand()
    const extras = (bytes: number) => ({
      customerId: 'p-1',
      x: 'a'.repeat(bytes - '{"x":""}'.length),
    })

    const response = await acme.post('customers', [extras(16_385)])
    expect(await json(response)).toMatchObject({
      errors: [
        {
          pointer: '/0',
          code: 'length',
          message: 'There can be at most 16 KiB of additional fields, not 16385 bytes.',
        },
      ],
    })
    expect((await acme.post('customers', extras(16_384))).status).toBe(201)
    expect(
      await errors(acme.post('customers', [{ customerId: 'p-1', x: 'é'.repeat(8193) }])),
    ).toEqual([['/0', 'length']])
  })

  test('extras that grow beyond 64 KiB in total are refused', async () => {
    const acme = await brand()
    const part = (i: number) => ({ customerId: 'p-1', [`x${i}`]: 'a'.repeat(16_000) })
    for (let i = 0; i < 4; i++) expect((await acme.post('customers', [part(i)])).status).toBe(200)
    const response = await acme.post('customers', [{ customerId: 'p-9' }, part(4)])
    const body = await json(response)
    expect(response.status).toBe(422)
    expect(body.errors).toEqual([
      {
        index: 1,
        key: { customerId: 'p-1' },
        pointer: '/1',
        code: 'length',
        message:
          'There can be at most 256 additional fields of 64 KiB in all, counting all that were sent for this customer.',
        hint: 'Combine related fields in one field whose value is an object or an array.',
      },
    ])
    expect((await json(acme.get(`deliveries/${body.delivery_id}`))).errors).toEqual(body.errors)
    const bulk = Array.from({ length: 10 }, (_, i) => ({ ...part(i), customerId: 'p-2' }))
    expect(await errors(acme.post('customers', bulk))).toHaveLength(10)
    const p3 = { ...part(0), customerId: 'p-3' }
    const lenient = await acme.post('customers', [...bulk, p3], { Prefer: 'handling=lenient' })
    expect(await json(lenient)).toMatchObject({ summary: { created: 1, rejected: 10 } })
    expect(Object.keys(await readCustomer(acme))).toHaveLength(5)
    expect(await outcomes(acme.post('customers', eve))).toEqual(['updated'])
  })

  const numbered = (count: number, from = 0, value: unknown = 1) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`field ${from + i}`, value]))

  test('a record has at most 64 additional fields', async () => {
    const acme = await brand()
    expect((await acme.post('customers', { ...eve, ...numbered(64), none: null })).status).toBe(201)
    const many = await acme.post('customers', [eve, { ...eve, ...numbered(65) }])

    expect([many.status, (await json(many)).errors]).toEqual([
      422,
      [
        {
          index: 1,
          key: { customerId: 'p-1' },
          pointer: '/1',
          code: 'length',
          message: 'There can be at most 64 additional fields, not 65.',
          hint: 'Combine related fields in one field whose value is an object or an array.',
        },
      ],
    ])
  })

  test('a customer grows to exactly 256 additional fields, whose names differ by case', async () => {
    const acme = await brand()
    const sent = (count: number, from: number, value?: unknown) => ({
      customerId: 'p-1',
      ...numbered(count, from, value),
    })
    for (const from of [0, 64, 128]) await acme.post('customers', sent(64, from))
    expect(await outcomes(acme.post('customers', [sent(63, 192)]))).toEqual(['updated'])
    const over = { customerId: 'p-1', 'FIELD 0': 1, 'Field 0': 1 }
    const status = async (...records: object[]) => [
      (await acme.post('customers?dry_run=true', records)).status,
      (await acme.post('customers', records)).status,
    ]
    expect(await status(over)).toEqual([422, 422])
    expect(await status({ customerId: 'p-1', 'FIELD 0': 1 })).toEqual([200, 200])
    expect(await status(over)).toEqual([422, 422])
    // Stored fields can be sent again and changed.
    expect(await outcomes(acme.post('customers', [sent(64, 0)]))).toEqual(['unchanged'])
    expect(await outcomes(acme.post('customers', [sent(64, 0, 2)]))).toEqual(['updated'])
    expect(await errors(acme.post('customers', [sent(64, 200)]))).toEqual([['/0', 'length']])
    expect(Object.keys(await readCustomer(acme))).toHaveLength(1 + 256)
  })

  test('one customer with other fields in each of 1000 records is refused', async () => {
    const acme = await brand()
    const bulk = Array.from({ length: 1000 }, (_, i) => ({
      customerId: 'p-1',
      ...numbered(64, 64 * i),
    }))
    const lenient = await acme.post('customers', bulk, { Prefer: 'handling=lenient' })

    expect(await json(lenient)).toMatchObject({ errors_total: 1000, summary: { rejected: 1000 } })
    expect((await acme.post('customers', bulk.slice(0, 4))).status).toBe(200)
    expect(Object.keys(await readCustomer(acme))).toHaveLength(1 + 256)
  })

  test('a customer can grow to exactly 64 KiB of extras', async () => {
    const acme = await brand()
    const part = (name: string, length: number) => ({
      customerId: 'p-1',
      [name]: 'a'.repeat(length),
    })
    for (const name of ['a', 'b', 'c', 'd']) await acme.post('customers', part(name, 16_000))
    const bytes = async () =>
      (await env.DB.prepare('select octet_length(extras) as n from customers').first<{
        n: number
      }>())!.n
    // The name, the doubly quoted value and a comma.
    const room = 65_536 - (await bytes()) - '"e":"\\"\\"",'.length
    expect(await errors(acme.post('customers', [part('e', room + 1)]))).toEqual([['/0', 'length']])
    expect(await outcomes(acme.post('customers', [part('e', room)]))).toEqual(['updated'])
    expect(await bytes()).toBe(65_536)
    // Full extras can be sent again, and changed without growth.
    const whole = ['a', 'b', 'c', 'd'].map((name) => part(name, 16_000))
    const again = [...whole, part('e', room), eve]
    expect(await outcomes(acme.post('customers', again))).toEqual(Array(6).fill('updated'))
    const changed = { customerId: 'p-1', a: 'b'.repeat(16_000) }
    expect(await outcomes(acme.post('customers', [changed]))).toEqual(['updated'])
  })

  describe('a customer whose additional fields are nearly full', () => {
    const lenient = { Prefer: 'handling=lenient' }
    const p = (fields: object) => ({ customerId: 'p-1', ...fields })
    /** A brand with a customer whose fields a to d have 60 KB. */
    const nearlyFull = async (account = 'acme-casino') => {
      const acme = await brand({ account })
      const parts = ['a', 'b', 'c', 'd'].map((name) => p({ [name]: 'x'.repeat(15_000) }))
      await acme.post('customers', parts)
      return acme
    }
    const note = 'n'.repeat(15_000)

    test('the merged record of a customer is stored whole, or all its records are rejected', async () => {
      const acme = await nearlyFull()
      const rejected = [
        p({ note, tracking_data: 'nobody', regtime: '2026-05-05 10:00' }),
        { customerId: 'p-2', note },
        p({ country: 'DE' }),
      ]
      for (const path of ['customers?dry_run=true', 'customers']) {
        const body = await json(acme.post(path, rejected, lenient))
        expect(body.summary).toMatchObject({ received: 3, rejected: 2, created: 1 })
        expect(body.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
          'rejected',
          'created',
          'rejected',
        ])
        expect(body.results[2].errors).toMatchObject([{ code: 'length', pointer: '/2' }])
        expect(body.errors_total).toBe(2)
      }
      expect(Object.keys(await readCustomer(acme))).toEqual(['customerId', 'a', 'b', 'c', 'd'])
      const body = await json(
        acme.post('customers', [p({ note, tracking_data: 'one' }), p({ a: 1, country: 'SE' })]),
      )
      expect(body.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
        'updated',
        'updated',
      ])
      expect(body.results[1].warnings).toMatchObject([
        { code: 'repeated_key' },
        { code: 'unrecognised' },
        { code: 'no_regtime' },
      ])
      const stored = await readCustomer(acme)
      expect([stored.tracking_data, stored.country, stored.note]).toEqual(['one', 'SE', note])
    })

    test('records of other customers never decide', async () => {
      const acme = await nearlyFull()
      const others = Array.from({ length: 20 }, (_, i) => ({
        customerId: `o-${i}`,
        ...Object.fromEntries(
          Array.from({ length: 32 }, (_, k) => [`${i} ${k} ${'n'.repeat(480)}`, 1]),
        ),
      }))
      const again = p({ a: 'y'.repeat(15_000) })
      for (const bulk of [[again], [...others, again], [...others, ...others, again, again]]) {
        expect((await acme.post('customers?dry_run=true', bulk)).status).toBe(200)
      }
    })

    const request = (acme: Brand, body: unknown) =>
      new Request(new URL('/tracking/events/customers', ORIGIN), {
        method: 'POST',
        headers: { 'x-api-key': acme.brand_token, 'Content-Type': 'application/json', ...lenient },
        body: JSON.stringify(body),
      })

    test('a fault of any call, before or after its effect, changes no outcome', async () => {
      const bulk = [
        p({ note, tracking_data: '' }),
        { customerId: 'p-2', note },
        p({ country: 'DE', a: 1 }),
        ...['e', 'f', 'g', 'h', 'i'].map((name) => ({ customerId: 'p-3', [name]: note })),
      ]
      const store = async (account: string, faults: Parameters<typeof faulty>[0]) => {
        const acme = await nearlyFull(account)
        const { env: world, seen } = faulty(faults)
        const { results } = await json(fetchWith(world, request(acme, bulk)))
        return { tries: seen.tries, effect: [results, await readCustomer(acme)] }
      }
      const usual = await store('usual', [])
      expect(usual.effect[0].map(({ outcome }: { outcome: string }) => outcome)).toEqual([
        'updated',
        'created',
        'updated',
        ...Array(5).fill('rejected'),
      ])
      const [message = ''] = CURABLE
      for (let call = 0; call < usual.tries; call++) {
        for (const after of [false, true]) {
          const faults = [...Array(call).fill(null), { message, after }]
          const { effect } = await store(`faulty-${call}-${after}`, faults)
          expect([call, after, effect]).toEqual([call, after, usual.effect])
        }
      }
    })
  })

  test('any lenient bulk stores and answers the same as its accepted records alone', async () => {
    const sizes = [1, 9000, 15_000, 16_000]
    const record = fc
      .record({
        customerId: fc.constantFrom('p-1', 'p-1', 'p-2'),
        fields: fc.dictionary(
          fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
          fc.constantFrom(...sizes),
          { minKeys: 0, maxKeys: 1 },
        ),
        tracking_data: fc.constantFrom(undefined, undefined, '', 'one', 'two'),
        regtime: fc.constantFrom(undefined, undefined, '2026-05-05 10:00', '2026-06-06'),
        country: fc.constantFrom(undefined, 'DE', 'SE'),
      })
      .map(({ fields, ...known }) => ({
        ...known,
        ...Object.fromEntries(Object.entries(fields).map(([name, n]) => [name, name.repeat(n)])),
      }))
    const bulks = fc.array(fc.array(record, { minLength: 4, maxLength: 12 }), {
      minLength: 1,
      maxLength: 4,
    })
    const allowed = ['a', 'b', 'c', 'g'].map((name) => ({
      customerId: 'p-1',
      [name]: name.repeat(15_000),
    }))
    let rejections = 0
    let run = 0
    await fc.assert(
      fc.asyncProperty(bulks, async (sequence) => {
        run += 1
        const [acme, other] = await Promise.all(
          ['a', 'b'].map((name) => brand({ account: `${name}-${run}` })),
        )
        for (const bulk of [allowed, ...sequence]) {
          const sent = await json(acme!.post('customers', bulk, { Prefer: 'handling=lenient' }))
          const rejected = (i: number) => !sent.results || sent.results[i].outcome === 'rejected'
          const accepted = bulk.filter((_, i) => !rejected(i))
          rejections += bulk.length - accepted.length
          if (accepted.length === 0) continue
          const alone = await json(other!.post('customers', accepted))
          const plain = ({
            outcome,
            warnings = [],
          }: {
            outcome: string
            warnings?: { code: string }[]
          }) => [outcome, warnings.map(({ code }) => code)]
          expect(alone.results.map(plain)).toEqual(
            sent.results.filter((_: object, i: number) => !rejected(i)).map(plain),
          )
        }
        const rows = (account: string) =>
          env.DB.prepare(
            `select customer_id, day, first_day, tracking_data, verdict, link, country_code, regtime,
               signup_date, extras, revision from customers where account = ? order by customer_id`,
          )
            .bind(account)
            .all()
        const [first, second] = await Promise.all([rows(`a-${run}`), rows(`b-${run}`)])
        expect(first.results).toEqual(second.results)
      }),
      { seed: 7, numRuns: 5 },
    )
    expect(rejections).toBeGreaterThan(7)
  })

  test('records of an erased customer never add to their extras', async () => {
    const acme = await brand()
    const part = (name: string) => ({ customerId: 'p-1', [name]: 'a'.repeat(16_000) })
    await acme.post('customers', eve)
    await askAdmin(`accounts/${acme.account}/customers/p-1/personal-data`, 'DELETE')
    const sent = ['a', 'b', 'c', 'd', 'e'].map(part)
    const { summary } = await json(acme.post('customers', sent))
    expect(summary).toMatchObject({ unchanged: 5, rejected: 0 })
  })

  test('a field name in another case gets the correct name as a hint', async () => {
    const acme = await brand()
    expect(await json(acme.post('customers', [{ CustomerID: 'p-1' }]))).toMatchObject({
      errors_total: 1,
      errors: [{ pointer: '/0/customerId', code: 'required', hint: 'Spell it `customerId`.' }],
    })
    expect(await json(acme.post('customers', [{ ...eve, customerid: 'x' }]))).toMatchObject({
      errors: [{ pointer: '/0/customerid', code: 'field_case', hint: 'Spell it `customerId`.' }],
    })
  })

  test('an extra that resembles a known field is stored with a warning', async () => {
    const acme = await brand()
    const sent = { ...eve, tracking_data: 'x', firstname: 'Eve', Country: 'SE', vip: 1 }
    expect(await warnings(acme.post('customers', sent))).toEqual([
      ['/firstname', 'field_case'],
      ['/Country', 'field_case'],
      ['/tracking_data', 'unrecognised'],
    ])
    expect(await readCustomer(acme)).toEqual(sent)
  })

  test('a data wrapper gets a hint to send the array itself', async () => {
    const acme = await brand()
    expect(await json(acme.post('customers', { data: [eve] }))).toMatchObject({
      errors: [
        {
          pointer: '/customerId',
          code: 'required',
          hint: 'Send the array itself, without a data wrapper.',
        },
      ],
    })
  })

  test('error messages never repeat a personal value', async () => {
    const acme = await brand()
    const text = await (
      await acme.post('customers', [{ ...eve, firstName: 'x'.repeat(600), lastName: 'secret\0' }])
    ).text()
    expect(text).not.toContain('xxx')
    expect(text).not.toContain('secret')
  })

  test('a body without 1 to 1000 record objects is refused with 422', async () => {
    const acme = await brand()
    for (const [body, code] of [
      [null, 'type'],
      ['x', 'type'],
      [7, 'type'],
      [[null], 'type'],
      [[[]], 'type'],
      [[], 'record_count'],
      [Array.from({ length: 1001 }, () => eve), 'record_count'],
    ] as const) {
      const response = await acme.post('customers', body)
      expect([response.status, (await errors(response))[0][1]]).toEqual([422, code])
    }
  })

  test('handling=lenient stores the valid records, and a dry run stores none', async () => {
    const acme = await brand()
    const lenient = { Prefer: 'handling=lenient' }
    const body = [eve, { customerId: 1 }]
    const dry = await acme.post('customers?dry_run=true', [eve])
    expect([dry.status, await outcomes(dry)]).toEqual([200, ['created']])
    expect(await json(acme.get('customers'))).toMatchObject({ data: [] })

    const response = await acme.post('customers', body, lenient)
    expect([response.status, await outcomes(response)]).toEqual([207, ['created', 'rejected']])
    expect(await json(acme.get('customers'))).toMatchObject({ data: [eve] })
  })
})

test('a bulk that would exceed memory when escaped is refused with 413', async () => {
  const acme = await brand()
  const bulk = Array.from({ length: 1000 }, (_, i) => ({ customerId: `${i}`, x: '"'.repeat(4000) }))
  const response = await acme.post('customers', bulk)
  expect([response.status, await json(response)]).toMatchObject([
    413,
    { code: 'payload_too_large' },
  ])
})

describe('tracking_data', () => {
  test('missing tracking_data causes a warning and never an error', async () => {
    const acme = await brand()
    expect(
      await warnings(
        acme.post('customers', [eve, { ...eve, customerId: 'b', tracking_data: null }]),
      ),
    ).toEqual([
      ['/0/tracking_data', 'unattributed'],
      ['/1/tracking_data', 'unattributed'],
    ])
  })

  test.each([['x'.repeat(51)], [''], [42], [true], [{ a: 1 }], [['x']], ['a\0b']])(
    'tracking_data of %j is stored as absent with the warning altered',
    async (tracking_data) => {
      const acme = await brand()
      const response = await acme.post('customers', { ...eve, tracking_data })
      expect(response.status).toBe(201)
      expect(await warnings(response)).toEqual([['/tracking_data', 'altered']])
      expect(await readCustomer(acme)).toEqual(eve)
    },
  )

  test('invalid and then omitted tracking_data in one bulk creates one customer', async () => {
    const acme = await brand()
    const bulk = [
      { ...eve, tracking_data: '' },
      { ...eve, crm: 1 },
    ]
    expect(await json(acme.post('customers', bulk))).toMatchObject({
      summary: { received: 2, created: 2 },
      results: [
        { outcome: 'created', warnings: [{ code: 'altered' }] },
        { outcome: 'created', warnings: [{ code: 'repeated_key' }, { code: 'altered' }] },
      ],
    })
    expect((await json(acme.get('customers'))).meta.total).toBe(1)
  })

  test('tracking_data of up to 50 characters is stored verbatim', async () => {
    const acme = await brand()
    for (const tracking_data of ['x'.repeat(50), '🎰'.repeat(50), ' a b&c=d%20 ']) {
      const response = await acme.post('customers', { ...eve, tracking_data })
      expect(await warnings(response)).toEqual([['/tracking_data', 'unrecognised']])
      expect(await readCustomer(acme)).toEqual({ ...eve, tracking_data })
    }
  })

  test('a re-send without valid tracking_data keeps the stored value', async () => {
    const acme = await brand()
    await acme.post('customers', { ...eve, tracking_data: 'abc' })
    expect(await warnings(acme.post('customers', eve))).toEqual([
      ['/tracking_data', 'unrecognised'],
    ])
    const invalid = { ...eve, tracking_data: 'x'.repeat(51) }
    expect(await warnings(acme.post('customers', invalid))).toEqual([['/tracking_data', 'altered']])
    expect(await readCustomer(acme)).toEqual({ ...eve, tracking_data: 'abc' })
  })

  const records = [{}, { tracking_data: '' }, { tracking_data: 'abc' }]
  test.each(records)(
    'after %j one request and several requests store the same, with the same last warnings',
    async (first) => {
      const [together, apart] = [await brand(), await brand({ account: 'apart' })]
      const all = records.flatMap((a) => records.flatMap((b) => records.map((c) => [a, b, c])))
      // Each of the 27 customers has three records: in one request, or in three.
      const nth = (n: number) => all.map((three, i) => ({ ...three[n], customerId: `c-${i}` }))
      for (const acme of [together, apart]) {
        await acme.post(
          'customers',
          all.map((_, i) => ({ ...first, customerId: `c-${i}` })),
        )
      }
      const bulk = await json(together.post('customers', [0, 1, 2].flatMap(nth)))
      const later = []
      for (const n of [0, 1, 2]) later.push((await json(apart.post('customers', nth(n)))).results)
      const codesOf = (results: { warnings?: { code: string }[] }[]) =>
        results.map(({ warnings = [] }, i) => [
          JSON.stringify(all[i]),
          ...warnings.map(({ code }) => code).filter((code) => code !== 'repeated_key'),
        ])
      expect(bulk.results).toHaveLength(81)
      expect(codesOf(bulk.results.slice(-27))).toEqual(codesOf(later[2]))
      const rows = async (account: string) =>
        (
          await env.DB.prepare(
            `select customer_id, tracking_data, verdict, link from customers where account = ?
             order by customer_id`,
          )
            .bind(account)
            .all()
        ).results
      expect(await rows(together.account)).toEqual(await rows('apart'))
    },
  )
})
