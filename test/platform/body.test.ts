import { describe, expect, test } from 'vitest'
import { checkRowSize } from '../../src/ingest/read-items.ts'
import { ada, deposit, json, partner } from '../partner.ts'
import { asLogged } from '../results.ts'
import { parseText } from './parse-text.ts'

type Partner = Awaited<ReturnType<typeof partner>>

const gzip = (text: string) =>
  new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()

/** Asserts that no record was stored and no delivery was logged. */
const expectNothingStored = async (acme: Partner) => {
  expect((await json(acme.get('customers'))).data).toEqual([])
  expect((await json(acme.get('deliveries'))).data).toEqual([])
}

describe('a body of malformed JSON is 400 malformed_json', () => {
  const BODIES: [string, BodyInit | null][] = [
    ['no body', null],
    ['an empty body', ''],
    ['white space', ' \n'],
    ['a single brace', '{'],
    ['a truncated array', '[{"customer_id": "secret@person'],
    ['two values', '{} {}'],
    ['a trailing comma', '[{},]'],
    ['NaN', '[NaN]'],
    ['ill-formed UTF-8', new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d])],
    ['truncated UTF-8', new Uint8Array([0x22, 0xe2, 0x82])],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x5b, 0x00, 0x5d, 0x00])],
    ['arrays nested 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['arrays nested 9 deep', '['.repeat(9) + ']'.repeat(9)],
    ['objects nested 9 deep', `${'{"a":'.repeat(9)}1${'}'.repeat(9)}`],
  ]

  test('and nothing of it is stored, logged or repeated', async () => {
    const acme = await partner()
    for (const [name, body] of BODIES) {
      const response = await acme.postText('customers', body)

      const problem = await json(response)
      expect([name, response.status, problem]).toEqual([
        name,
        400,
        {
          type: 'https://api.example/problems/malformed_json',
          title: 'The body is not valid JSON',
          status: 400,
          code: 'malformed_json',
          detail: expect.any(String),
          request_id: response.headers.get('X-Request-Id'),
        },
      ])
      expect(JSON.stringify(problem)).not.toContain('secret@person')
    }
    await expectNothingStored(acme)
  })

  test.each([
    ["[{'a': 1}]", ' at position 2 (line 1 column 3)'],
    ['[{"a": 1, }]', ' at position 10 (line 1 column 11)'],
    ['[{"customer_id": "c-1",,}]', ' at position 23 (line 1 column 24)'],
    ['[1 2]', ' at position 3 (line 1 column 4)'],
    ['[1 2]\n at position 9 (line 9 column 9)', ' at position 3 (line 1 column 4)'],
    ['[{"a": NaN}]', ''],
    ['secret at position 4111', ''],
    ['secret at position 4 (line 1 column 5)', ''],
  ])(
    'of %s, the detail says the place if the parser does, and nothing of the text',
    async (body, place) => {
      const acme = await partner()
      const detail = `The body is not valid JSON${place}.`
      expect(await json(acme.postText('customers', body))).toMatchObject({ detail })
    },
  )

  test('JSON nested eight levels deep is parsed', async () => {
    const acme = await partner()
    const response = await acme.postText('customers', '['.repeat(8) + ']'.repeat(8))

    expect(response.status).toBe(422)
  })
})

test('of a member that occurs twice in an object, the last value counts', async () => {
  const acme = await partner()
  const { customer_id, ...others } = ada
  const record = JSON.stringify(others).replace(
    '{',
    `{"customer_id":"c-0","customer_id":"${customer_id}",`,
  )

  expect(await json(acme.postText('customers', record))).toMatchObject({
    results: [{ key: { customer_id }, outcome: 'created' }],
  })
  expect((await json(acme.get('customers'))).data).toEqual([ada])
})

describe('JSON that is neither a record nor a bulk is 422', () => {
  const BODIES: [string, string, string, string][] = [
    ['null', 'null', '', 'type'],
    ['text', '"text"', '', 'type'],
    ['a number', '7', '', 'type'],
    ['true', 'true', '', 'type'],
    ['no record', '[]', '', 'record_count'],
    ['an empty array as data', '{"data": []}', '/data', 'record_count'],
    ['data that is not an array', '{"data": {}}', '/data', 'type'],
    ['data that is null', '{"data": null}', '/data', 'type'],
    ['a record that is null', '[null]', '/0', 'type'],
    ['a record that is text', '["c-1"]', '/0', 'type'],
    ['a record that is a number', '[7]', '/0', 'type'],
    ['an array in the array', '[[]]', '/0', 'type'],
    ['a record in data that is null', '{"data": [null]}', '/data/0', 'type'],
  ]

  test('with its pointer and error code', async () => {
    const acme = await partner()
    for (const [name, body, pointer, code] of BODIES) {
      const response = await acme.postText('customers', body)

      expect([name, response.status, await json(response)]).toMatchObject([
        name,
        422,
        {
          code: 'validation_failed',
          delivery_id: expect.stringMatching(/^dlv_/),
          errors_total: 1,
          errors: [{ pointer, code }],
        },
      ])
    }
    expect((await json(acme.get('customers'))).data).toEqual([])
  })

  test('1000 records pass and 1001 records are one error', async () => {
    const acme = await partner()
    const records = Array.from({ length: 1001 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))

    expect((await acme.post('customers', records.slice(1))).status).toBe(200)
    const refused = await acme.post('customers', records)
    expect(refused.status).toBe(422)
    expect(await json(refused)).toMatchObject({
      errors_total: 1,
      errors: [
        {
          pointer: '',
          code: 'record_count',
          message: 'A request must have 1 to 1000 records, not 1001.',
        },
      ],
    })
    expect((await json(acme.get('customers'))).meta.total).toBe(1000)
    expect((await json(acme.get('deliveries'))).data[0]).toMatchObject({
      status: 422,
      summary: { received: 1001, rejected: 1001 },
    })
  })

  test('only meta is allowed beside data, and it is ignored', async () => {
    const acme = await partner()

    expect((await acme.post('customers', { data: [ada], meta: { page: 7 } })).status).toBe(200)
    expect(await json(acme.post('customers', { data: [ada], 'me/ta': 1 }))).toMatchObject({
      errors: [{ pointer: '/me~1ta', code: 'unknown_field' }],
    })
  })
})

test('a Content-Type that is not JSON in UTF-8 is 415 unsupported_media_type', async () => {
  const acme = await partner()
  const body = JSON.stringify(ada)
  for (const type of [
    '',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/json, application/json',
    'application/jsonx',
    'application/json; charset=latin1',
  ]) {
    const headers = { 'Content-Type': type }
    const response = await acme.postText('customers', new Blob([body]).stream(), headers)

    expect([type, response.status]).toEqual([type, 415])
    expect(await json(response)).toMatchObject({ code: 'unsupported_media_type' })
  }
  await expectNothingStored(acme)
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json; profile=x',
  ]) {
    const { ok } = await acme.postText('customers', body, { 'Content-Type': type })
    expect([type, ok]).toEqual([type, true])
  }
})

describe('Content-Encoding', () => {
  test('gzip is decompressed and identity is not; others are 415, with Accept-Encoding', async () => {
    const acme = await partner()
    const text = JSON.stringify([ada])
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'zstd']) {
      const response = await acme.postText('customers', text, { 'Content-Encoding': encoding })

      expect([encoding, response.status]).toEqual([encoding, 415])
      expect(response.headers.get('Accept-Encoding')).toBe('gzip')
    }
    await expectNothingStored(acme)
    const zipped = await gzip(text)
    for (const encoding of ['gzip', 'x-gzip', 'GZIP', ' gzip ', 'identity', 'Identity']) {
      const body = /gzip/i.test(encoding) ? zipped : text
      const response = await acme.postText('customers', body, { 'Content-Encoding': encoding })
      expect([encoding, response.status]).toEqual([encoding, 200])
    }
    expect((await json(acme.get('customers'))).data).toEqual([ada])
  })

  test('a gzip stream that is invalid, truncated or longer than it declares is 400', async () => {
    const acme = await partner()
    const complete = new Uint8Array(await gzip(JSON.stringify([ada])))
    const squares = Array.from({ length: 10_000 }, (_, i) => i * i)
    // It declares a single byte, in its last four.
    const longer = new Uint8Array(await gzip(JSON.stringify(squares)))
    longer.set([1, 0, 0, 0], longer.length - 4)
    for (const body of [JSON.stringify([ada]), complete.slice(0, 40), longer]) {
      const response = await acme.postText('customers', body, { 'Content-Encoding': 'gzip' })
      expect(response.status).toBe(400)
    }
    await expectNothingStored(acme)
  })
})

test('a Content-Length that is not a whole number is ignored', async () => {
  const acme = await partner()
  const post = (length: string) => acme.post('customers', [ada], { 'Content-Length': length })
  for (const length of ['-1', '0.5', '1e1', '']) expect((await post(length)).status).toBe(200)
})

test('the rows of a body have at most 12,000,000 characters', () => {
  const itemsOf = (...lengths: number[]) =>
    lengths.map((length, index) => ({ cells: [index, 'x'.repeat(length), 1] as const }))
  const check =
    (...lengths: number[]) =>
    () =>
      checkRowSize(itemsOf(...lengths))
  expect(check(6_000_000, 6_000_000)).not.toThrow()
  expect(check(6_000_000, 6_000_001)).toThrow(
    expect.objectContaining({ code: 'payload_too_large' }),
  )
})

describe('the limit of 8 MiB once decompressed', () => {
  const LIMIT = 8 * 1024 * 1024
  const padded = (bytes: number) => {
    const record = JSON.stringify([ada])
    return record + ' '.repeat(bytes - record.length)
  }

  test('a body of 8 MiB is accepted, one byte more is 413', async () => {
    const acme = await partner()

    expect((await acme.postText('customers', padded(LIMIT))).status).toBe(200)
    const refused = await acme.postText('customers', padded(LIMIT + 1))
    expect(refused.status).toBe(413)
    expect(await json(refused)).toMatchObject({ code: 'payload_too_large' })
  })

  test('the limit holds for a stream without Content-Length', async () => {
    const acme = await partner()
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536
        if (sent > 24 * LIMIT) controller.close()
        else controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
    })

    expect((await acme.postText('customers', endless)).status).toBe(413)
    expect(sent).toBeLessThan(18 * LIMIT)
    await expectNothingStored(acme)
  })

  test('a gzip bomb is refused with status 413', async () => {
    const acme = await partner()
    for (const size of [LIMIT + 1, 3 * LIMIT]) {
      const bomb = await gzip(' '.repeat(size))
      expect(bomb.byteLength).toBeLessThan(100_000)

      const response = await acme.postText('customers', bomb, { 'Content-Encoding': 'gzip' })
      expect(response.status).toBe(413)
    }
    await expectNothingStored(acme)
  })

  test('a large body gets the same response as a small one', async () => {
    const acme = await partner('forex')
    await acme.post('customers', ada)
    const bulk = (note: string) => [
      'no record',
      ...Array.from({ length: 900 }, (_, i) => ({
        ...deposit,
        transaction_id: `t-${i}`,
        ...(i === 7 && { customer_id: 'nobody' }),
        ...(i === 8 && { currency: 'EUX' }),
        ...(i === 9 && { currency: 'BGN' }),
        note,
        status: note,
        transaction_subtype: note,
      })),
    ]
    const answerTo = async (note: string) => {
      const {
        delivery_id,
        delivery_url: _url,
        ...answer
      } = await json(
        acme.post('transactions?dry_run=true', bulk(note), { Prefer: 'handling=lenient' }),
      )
      return answer
    }
    expect(JSON.stringify(bulk('n'.repeat(500))).length).toBeGreaterThan(1024 * 1024)
    expect(await answerTo('n'.repeat(500))).toEqual(await answerTo('n'.repeat(50)))
  })
})

test('small compressed bodies that expand to many values are refused', async () => {
  const acme = await partner()
  for (const [name, text, status] of [
    ['millions of numbers', `[${'1,'.repeat(4_000_000)}1]`, 413],
    ['many objects', `[${'{},'.repeat(270_000)}{}]`, 413],
    ['a long number and many others', `[1234567890123456,${'1,'.repeat(400_000)}1]`, 413],
    ['many brackets', '['.repeat(800_000), 400],
    ['50,001 objects and arrays', `[${'{},'.repeat(25_000)}${'[],'.repeat(24_999)}[]]`, 413],
    ['50,000 objects and arrays', `[${'{},'.repeat(25_000)}${'[],'.repeat(24_998)}[]]`, 422],
    ['250,001 values', `[${'1,'.repeat(249_999)}1]`, 413],
    ['250,000 values', `[${'1,'.repeat(249_998)}1]`, 422],
    ['250,001 values, most of them members', `{${'"a":1,'.repeat(249_999)}"a":1}`, 413],
    ['250,000 values, most of them members', `{${'"a":1,'.repeat(249_998)}"a":1}`, 422],
    [
      '250,001 values, some of them empty',
      `[${'[ ],'.repeat(24_000)}${'{ },'.repeat(24_000)}${'1,'.repeat(201_999)}1]`,
      413,
    ],
    [
      '250,000 values, some of them empty',
      `[${'[ ],'.repeat(24_000)}${'{ },'.repeat(24_000)}${'1,'.repeat(201_998)}1]`,
      422,
    ],
    ['braces within text', JSON.stringify([{ customer_id: '{['.repeat(30_000) }]), 422],
    ['commas within text', JSON.stringify([{ customer_id: '",'.repeat(400_000) }]), 422],
    ['an unterminated string', `["${'x,'.repeat(400_000)}`, 400],
  ] as const) {
    const response = await acme.postText('customers', await gzip(text), {
      'Content-Encoding': 'gzip',
    })
    expect([name, response.status]).toEqual([name, status])
    expect((await response.text()).length).toBeLessThan(10_000)
  }
})

describe('the number', () => {
  test.each([
    ['1234567890123456', Number.NaN],
    ['123456789012345', 123456789012345],
    ['12345678901234.5', 12345678901234.5],
    ['1234567.890123456', Number.NaN],
    ['0.1234567890123456', Number.NaN],
    ['0.000000000000001', 1e-15],
    ['1000000000000000000', 1e18],
    ['-1234567890123456', Number.NaN],
    ['1234567890123456e-10', Number.NaN],
    ['1234567890123456E-10', Number.NaN],
    ['1e-400', Number.NaN],
    ['1E-400', Number.NaN],
    ['1e-200', 1e-200],
    ['0e-400', 0],
    ['0.00000000000000000', 0],
  ])('%s is parsed as %d', (text, number) => {
    expect(parseText(text)).toBe(number)
    expect(parseText(`{"a":[${text}]}`)).toEqual({ a: [number] })
  })

  test('a text or name that looks like a long number is parsed unchanged', () => {
    const record = { '1234567890123456': '1234567890123456', 'e-400': ['1e-400'] }
    expect(parseText(JSON.stringify(record))).toEqual(record)
  })
})

test.each([
  ['a small', 0],
  ['a large', 1_200_000],
])('%s body may split a character between two chunks', async (_, padding) => {
  const acme = await partner()
  const customer = { ...ada, first_name: 'Zoë' }
  const bytes = new TextEncoder().encode(JSON.stringify(customer) + ' '.repeat(padding))
  const middle = bytes.indexOf(0xc3) + 1
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.slice(0, middle))
      await scheduler.wait(20)
      controller.enqueue(bytes.slice(middle))
      controller.close()
    },
  })
  expect((await acme.postText('customers', body)).status).toBe(201)
  expect(await json(acme.get('customers/c-1'))).toEqual(customer)
})

test('an unknown member beside data does not hide record errors', async () => {
  const acme = await partner()
  const problem = await json(
    acme.post('customers', { data: [ada, { ...ada, lang_id: 'x' }], other: 1, more: 2 }),
  )

  expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/other',
    '/more',
    '/data/1/lang_id',
    '/data/1',
  ])
  const logged = await json(acme.get(`deliveries/${problem.delivery_id}`))
  expect(logged.errors).toEqual(problem.errors.map(asLogged))
  const both = await json(acme.post('customers', { data: [], other: 1 }))
  expect(both.errors).toMatchObject([{ code: 'unknown_field' }, { code: 'record_count' }])
  expect((await json(acme.get('customers'))).data).toEqual([])
})

test('values after a string with an escaped backslash count toward the limits', async () => {
  const acme = await partner()
  const lists = Array.from({ length: 50_001 }, () => '[]').join()
  const response = await acme.postText('customers', `["\\\\",${lists}]`)

  expect([response.status, (await json(response)).code]).toEqual([413, 'payload_too_large'])
})

describe('limits on listed errors', () => {
  test('at most 10 errors of a record are listed, all are counted', async () => {
    const acme = await partner()
    const members = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x${i}`, i]))
    const problem = await json(acme.post('customers', [{ ...ada, ...members }]))

    expect(problem.errors_total).toBe(50_000)
    expect(problem.errors).toHaveLength(10)
    expect(problem.errors[0]).toMatchObject({ pointer: '/0/x0', code: 'unknown_field' })
  })

  test('at most 1000 errors are listed, the first of every record before any second', async () => {
    const acme = await partner()
    const records = Array.from({ length: 1000 }, (_, i) => ({ customer_id: `c-${i}`, email: 7 }))
    const problem = await json(acme.post('customers', records))

    expect(problem.errors_total).toBe(4000)
    expect(problem.errors.map(({ index }: { index: number }) => index)).toEqual([...records.keys()])
    expect(problem.detail).toBe('1000 of 1000 records are invalid. Nothing was stored.')
  })

  test('further errors are listed in record order while there is room', async () => {
    const acme = await partner()
    const records = Array.from({ length: 400 }, (_, i) => ({ customer_id: `c-${i}`, email: 7 }))
    const { errors } = await json(acme.post('customers', records))

    const expected = [...records.keys()].flatMap((index) => Array(index < 200 ? 3 : 2).fill(index))
    expect(errors.map(({ index }: { index: number }) => index)).toEqual(expected)
  })

  test('the delivery log lists 100 errors, the first of every record before any second', async () => {
    const acme = await partner()
    const records = Array.from({ length: 60 }, (_, i) => ({ customer_id: `c-${i}`, email: 7 }))
    const { delivery_id } = await json(acme.post('customers', records))
    const { errors, errors_total } = await json(acme.get(`deliveries/${delivery_id}`))

    const expected = [...records.keys()].flatMap((index) => Array(index < 40 ? 2 : 1).fill(index))
    expect(errors.map(({ index }: { index: number }) => index)).toEqual(expected)
    expect(errors_total).toBe(240)
  })

  test('with handling=lenient each rejected record has at least one error', async () => {
    const acme = await partner()
    const records = Array.from({ length: 999 }, (_, i) => ({ customer_id: `c-${i}`, email: 7 }))
    const answer = await json(
      acme.post('customers', [...records, { ...ada, customer_id: 'good' }], {
        Prefer: 'handling=lenient',
      }),
    )
    expect(answer.summary).toMatchObject({ created: 1, rejected: 999 })
    // Each of the 999 records has one error, which leaves room for one more.
    expect(answer.results[0].errors).toHaveLength(2)
    for (const { errors } of answer.results.slice(1, 999)) expect(errors).toHaveLength(1)
    expect(answer.results[998].outcome).toBe('rejected')
  })
})

test('members named like Object.prototype properties are unknown fields', async () => {
  const acme = await partner()
  const body = `[{"__proto__": 1, "constructor": 2, "toString": 3, ${JSON.stringify(ada).slice(1)}]`
  const problem = await json(acme.postText('customers', body))

  expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/0/__proto__',
    '/0/constructor',
    '/0/toString',
  ])
})

test('an empty key, and a key after a record without one, can be repeated, too', async () => {
  const acme = await partner()
  const { transaction_id: _, ...withoutKey } = deposit
  const empty = { ...deposit, transaction_id: '' }
  for (const bulk of [
    [deposit, withoutKey, deposit],
    [empty, withoutKey, empty],
  ]) {
    const { errors } = await json(acme.post('transactions', bulk))
    expect(errors).toContainEqual(expect.objectContaining({ index: 2, code: 'duplicate_key' }))
  }
})
