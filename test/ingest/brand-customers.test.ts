import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { storedBrand as brand, eve } from '../brand.ts'
import { json } from '../partner.ts'

type Brand = Awaited<ReturnType<typeof brand>>

const outcomes = async (response: Response | Promise<Response>) => {
  const { results } = await json(response)
  return results.map(({ outcome }: { outcome: string }) => outcome)
}
const errors = async (response: Response | Promise<Response>) => {
  const { errors } = await json(response)
  return errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code])
}
const readCustomer = (acme: Brand, id = eve.customerId) => json(acme.get(`customers/${id}`))

describe('§7 customers', () => {
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

  test('extras that grow beyond 40 KiB in total are refused', async () => {
    const acme = await brand()
    const part = (i: number) => ({ customerId: 'p-1', [`x${i}`]: 'a'.repeat(10_000) })
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
          'There can be at most 64 additional fields of 40 KiB in all, counting all that were sent for this customer.',
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

  test('a customer grows to exactly 64 additional fields, whose names differ by case', async () => {
    const acme = await brand()
    const sent = (count: number, from: number, value?: unknown) => ({
      customerId: 'p-1',
      ...numbered(count, from, value),
    })
    expect(await outcomes(acme.post('customers', [sent(63, 0)]))).toEqual(['created'])
    const over = { customerId: 'p-1', 'FIELD 0': 1, 'Field 0': 1 }
    const status = async (...records: object[]) => [
      (await acme.post('customers?dry_run=true', records)).status,
      (await acme.post('customers', records)).status,
    ]
    expect(await status(over)).toEqual([422, 422])
    expect(await status({ customerId: 'p-1', 'FIELD 0': 1 })).toEqual([200, 200])
    expect(await status(over)).toEqual([422, 422])
    // Stored fields can be sent again and changed.
    expect(await outcomes(acme.post('customers', [sent(63, 0)]))).toEqual(['unchanged'])
    expect(await outcomes(acme.post('customers', [sent(63, 0, 2)]))).toEqual(['updated'])
    expect(Object.keys(await readCustomer(acme))).toHaveLength(1 + 64)
  })

  describe('a customer whose additional fields are nearly full', () => {
    const lenient = { Prefer: 'handling=lenient' }
    const p = (fields: object) => ({ customerId: 'p-1', ...fields })
    /** A brand with a customer whose fields a to d have 37 KB. */
    const nearlyFull = async (account = 'acme-casino') => {
      const acme = await brand({ account })
      const parts = ['a', 'b', 'c', 'd'].map((name) => p({ [name]: 'x'.repeat(9400) }))
      await acme.post('customers', parts)
      return acme
    }
    const note = 'n'.repeat(9400)

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
  })

  test('any lenient bulk stores and answers the same as its accepted records alone', async () => {
    const sizes = [1, 5600, 9400, 10_000]
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
      [name]: name.repeat(9400),
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
