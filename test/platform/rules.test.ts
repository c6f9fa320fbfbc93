import { describe, expect, test } from 'vitest'
import forexCustomer from '../../schemas/v1/forex/customer.json'
import forexActivity from '../../schemas/v1/forex/trading-activity.json'
import forexTransaction from '../../schemas/v1/forex/transaction.json'
import propCustomer from '../../schemas/v1/prop-trading/customer.json'
import propActivity from '../../schemas/v1/prop-trading/trading-activity.json'
import propTransaction from '../../schemas/v1/prop-trading/transaction.json'
import { country } from '../../src/platform/validation/fields.ts'
import { quote } from '../../src/platform/validation/quote.ts'
import { validateField } from '../../src/platform/validation/strict-object.ts'
import { eve, storedBrand } from '../brand.ts'
import { ada, deposit, json, partner, traded, type Vertical } from '../partner.ts'

// Each rule has two lists: the values that pass, and the values that are refused with its code.
// Values are JSON text, because JavaScript cannot express all of them.

interface Case {
  resource: string
  field: string
  code: string
  valid: string[]
  invalid: string[]
}

const textOf = (count: number, char = 'x') => JSON.stringify(char.repeat(count))
const base: Record<string, object> = {
  customers: ada,
  transactions: deposit,
  'trading-activity': traded,
}

/** A schema of a field, as far as its type is read. */
interface FieldSchema {
  type?: string
  $ref?: string
}

/** A schema of a resource. */
interface ResourceSchema {
  properties: Record<string, FieldSchema>
  required: string[]
  examples: Record<string, unknown>[]
  $defs: Record<string, FieldSchema>
}

/** The schemas of each vertical. */
const SCHEMAS: Record<'forex' | 'prop-trading', Record<string, ResourceSchema>> = {
  forex: {
    customers: forexCustomer,
    transactions: forexTransaction,
    'trading-activity': forexActivity,
  },
  'prop-trading': {
    customers: propCustomer,
    transactions: propTransaction,
    'trading-activity': propActivity,
  },
}

const TEXT: Pick<Case, 'code' | 'valid' | 'invalid'> = {
  code: 'length',
  valid: [textOf(1), textOf(500), textOf(500, '😀'), '"a b\\nc"', '"toString"'],
  invalid: ['""', textOf(501), textOf(501, '😀')],
}
const INSTANT: Pick<Case, 'code' | 'valid' | 'invalid'> = {
  code: 'date_time',
  valid: [
    '"2026-10-01T08:30:00Z"',
    '"2026-10-01T08:30:00.1Z"',
    '"2026-10-01T08:30:00.123456789Z"',
    '"2026-10-01T08:30:00+02:00"',
    '"2026-10-01T08:30:00-23:59"',
    '"2026-10-01t08:30:00z"',
    '"2024-02-29T00:00:00Z"',
    '"2000-02-29T00:00:00Z"',
    '"1993-01-01T23:59:59Z"',
    '"0000-01-01T00:00:00Z"',
    '"9999-12-31T23:59:59.999Z"',
  ],
  invalid: [
    '""',
    '"garbage"',
    '"2026-10-01"',
    '"2026-10-01T08:30:00"',
    '"2026-10-01T08:30Z"',
    '"2026-10-01 08:30:00Z"',
    '"2026-10-01T08:30:00+02"',
    '"2026-10-01T08:30:00+0200"',
    '"2026-10-01T08:30:00+24:00"',
    '"2026-10-01T08:30:00+02:60"',
    '"2026-10-01T24:00:00Z"',
    '"2026-10-01T23:60:00Z"',
    '"2026-12-31T23:59:60Z"',
    '"2026-10-01T08:30:00.Z"',
    '"2026-02-29T00:00:00Z"',
    '"1900-02-29T00:00:00Z"',
    '"2026-04-31T00:00:00Z"',
    '"2026-13-01T00:00:00Z"',
    '"2026-00-01T00:00:00Z"',
    '"2026-10-00T00:00:00Z"',
    '"0000-01-01T00:00:00+01:00"',
    '"9999-12-31T23:59:59-01:00"',
    '"+2026-10-01T08:30:00Z"',
    '" 2026-10-01T08:30:00Z"',
    '"2026-10-01T08:30:00Z\\n"',
    '"２026-10-01T08:30:00Z"',
    '"2026-10-01T08:60:00.000Z"',
    '"2026-10-01T08:30:60.000Z"',
    textOf(500, '😀'),
    // A letter in place of each digit.
    ...Array.from('2026-10-15T18:30:45.123Z', (_, i) => i)
      .filter((i) => /\d/.test('2026-10-15T18:30:45.123Z'[i]!))
      .map((i) =>
        JSON.stringify('2026-10-15T18:30:45.123Z'.replace(/./g, (c, at) => (at === i ? 'x' : c))),
      ),
  ],
}

/** Returns a case for each field that is any text and refers to nothing. */
const textFields = (): Case[] =>
  Object.entries(SCHEMAS.forex).flatMap(([resource, { properties }]) =>
    Object.entries(properties)
      .filter(([, { $ref }]) => $ref === '#/$defs/Text')
      .filter(([field]) => resource === 'customers' || field !== 'customer_id')
      .map(([field]) => ({ resource, field, ...TEXT })),
  )

const cases: Case[] = [
  ...textFields(),
  {
    resource: 'customers',
    field: 'tracking_data',
    code: 'length',
    valid: [textOf(1), textOf(50), textOf(50, '😀')],
    invalid: ['""', textOf(51), textOf(51, '😀')],
  },
  {
    resource: 'customers',
    field: 'first_name',
    code: 'text',
    valid: ['"\\ud83d\\ude00"', '"\\t"'],
    invalid: ['"\\ud83d"', '"a\\ude00b"', '"a\\u0000b"'],
  },
  {
    resource: 'customers',
    field: 'customer_id',
    code: 'pattern',
    valid: ['"..."', '"a/b"', '"%2e"'],
    invalid: ['"."', '".."'],
  },
  { resource: 'customers', field: 'signup_date', ...INSTANT },
  { resource: 'customers', field: 'last_modified_date', ...INSTANT },
  {
    resource: 'customers',
    field: 'signup_date',
    code: 'length',
    valid: [`"2026-10-01T08:30:00.${'1'.repeat(479)}Z"`],
    invalid: [`"2026-10-01T08:30:00.${'1'.repeat(480)}Z"`, textOf(501), textOf(501, '😀')],
  },
  { resource: 'transactions', field: 'transaction_date', ...INSTANT },
  {
    resource: 'trading-activity',
    field: 'date',
    code: 'date',
    valid: ['"2026-10-01"', '"2024-02-29"', '"0001-01-01"'],
    invalid: [
      '""',
      '"2026-02-30"',
      '"2026-13-01"',
      '"26-01-01"',
      '"2026-1-1"',
      '"20261001"',
      '"12026-10-01"',
    ],
  },
  {
    resource: 'trading-activity',
    field: 'date',
    code: 'date',
    valid: [],
    invalid: ['"2026-10-01T00:00:00Z"', '"2026-10-01 "', '"1900-02-29"', '"2026-04-31"'],
  },
  {
    resource: 'customers',
    field: 'lang_id',
    code: 'pattern',
    valid: ['"en"', '"zz"'],
    invalid: ['"EN"', '"eng"', '"e"', '"en\\n"', '"é1"'],
  },
  {
    resource: 'customers',
    field: 'country_code',
    code: 'pattern',
    valid: ['"DE"'],
    invalid: ['"de"', '"DEU"', '"D1"'],
  },
  {
    resource: 'customers',
    field: 'leverage',
    code: 'pattern',
    valid: ['"1:1"', '"1:100"', '"1:33.3"', '"1:33.33"'],
    invalid: [
      '"100"',
      '"11:100"',
      '"1:"',
      '"1:x"',
      '"2:100"',
      '"1:1."',
      '"1:-5"',
      '"1:100 "',
      '"1:١٠"',
    ],
  },
  {
    resource: 'customers',
    field: 'email',
    code: 'email',
    valid: [
      '"ada@person.org"',
      '"a.b+c@x-y.example.org"',
      '"o\'neil@x.org"',
      '"a@1x2y3.org"',
      '"a@b.c"',
      '"a@b.info"',
      '"a@b.1x2y3"',
      '"ü@b.co"',
      '"a@bücher.de"',
    ],
    invalid: [
      '"secret@person"',
      '"@"',
      '"a b@person.org"',
      '"a@b@c.org"',
      '"a@-b.org"',
      '"a@b-.org"',
      '"a@x_y.org"',
      '"a@b.-c"',
      '"a@b.c-"',
      '"a@b.x_y"',
      '".a@b.org"',
      '"a@\u202eb.org"',
      '"ada@person.org!"',
    ],
  },
  {
    resource: 'transactions',
    field: 'currency',
    code: 'currency',
    valid: ['"EUR"', '"JPY"', '"XAU"'],
    invalid: ['"EUX"', '"eur"', '"EURO"', '"978"', '"toString"'],
  },
  {
    resource: 'transactions',
    field: 'transaction_type',
    code: 'enum',
    valid: ['"deposit"', '"withdrawal"', '"bonus"', '"adjustment"', '"ib_rebate"', '"other"'],
    invalid: ['"challenge_fee"', '"Deposit"', '""', '"toString"'],
  },
  {
    resource: 'transactions',
    field: 'amount_currency',
    code: 'decimals',
    valid: [
      '0.07',
      '19.99',
      '1234567.89',
      '-0.01',
      '0',
      '-5',
      '1e3',
      '1.10',
      '1.1000',
      '9999999999999.99',
      '12345678901234.5',
      '99999999999999.5',
      '-99999999999999.9',
      '999999999999999',
    ],
    invalid: ['0.001', '1.005', '19.999', '1e-3', '-0.001', '1234567.891'],
  },
  {
    resource: 'transactions',
    field: 'amount_usd',
    code: 'digits',
    valid: [
      '0.000000000001',
      '1234.56789012345',
      '123456789012345',
      '1000000000000000',
      '-1e15',
      '1.000000000000000000',
      '100000000000000.0000000000',
      '0.000000000000',
    ],
    invalid: [
      '19.990000000000000001',
      '1.234567890123456',
      '1234567.0000000001',
      '1234567890123456',
      '1000000000000001',
      '1000000000000000.1',
      '1e16',
      '-1e16',
      '1e-13',
      '0.0000000000001',
      '1.5e-12',
      '0.10000000000000001',
      '1.2345678901234',
      '1e-400',
      '-1E-400',
      `0.${'0'.repeat(400)}1`,
      '5e-324',
    ],
  },
  {
    resource: 'transactions',
    field: 'amount_usd',
    code: 'number',
    valid: [],
    invalid: ['1e400', '-1e400'],
  },
  {
    resource: 'trading-activity',
    field: 'lots_traded',
    code: 'minimum',
    valid: ['0', '-0', '0.01'],
    invalid: ['-0.01', '-1'],
  },
  {
    resource: 'trading-activity',
    field: 'lots_traded',
    code: 'decimals',
    valid: ['1.1', '19.99', '4.35', '1.15'],
    invalid: ['0.001', '19.990000001'],
  },
  {
    resource: 'trading-activity',
    field: 'pnl',
    code: 'digits',
    valid: ['-2478.06972', '27.85520327', '-0.00000001', '1e-8', '1234567.89012345'],
    invalid: ['27.855203270000001', '-0.000000001', '1e-9', '1.5e-8', '1234.567890123'],
  },
  ...['volume_usd', 'spread_cost', 'commission'].map((field) => ({
    resource: 'trading-activity',
    field,
    code: 'minimum',
    valid: ['0', '27.85520327'],
    invalid: ['-0.362176'],
  })),
]

/** Creates a partner that has sent customer c-1. */
const partnerWithCustomer = async (vertical: Vertical = 'forex') => {
  const acme = await partner(vertical)
  await acme.post('customers', ada)
  return acme
}

/** The key of each resource of which a bulk has a value of its own for each record. */
const KEYS: Record<string, string> = {
  customers: 'customer_id',
  transactions: 'transaction_id',
  'trading-activity': 'instrument',
}

/** Returns the text of a record in which a field has this value, given as JSON text. */
function recordOf(resource: string, field: string, value: string | undefined, i: number): string {
  const { [field]: _, ...others } = { ...base[resource], [KEYS[resource]!]: `k-${i}` } as Record<
    string,
    unknown
  >
  const member = value === undefined ? '' : `, ${JSON.stringify(field)}: ${value}`
  return `{${JSON.stringify(others).slice(1, -1)}${member}}`
}

const bodyOf = ({ resource, field }: Case, values: readonly string[]) =>
  `[${values.map((value, i) => recordOf(resource, field, value, i))}]`

type ListedError = { index: number; pointer: string; code: string }

/** Returns the index, the pointer and the code of each error. */
const listed = ({ errors }: { errors: ListedError[] }) =>
  errors.map(({ index, pointer, code }) => [index, pointer, code])

/** Returns the bodies that test these values: a long number decides how all of a body are parsed. */
const bulksOf = ({ field }: Case, values: readonly string[]) =>
  isNumeric(field) ? values.map((value) => [value]) : values.length > 0 ? [values] : []

const isNumeric = (field: string) =>
  Object.values(SCHEMAS.forex).some(({ properties, $defs }) => {
    const { $ref, type } = properties[field] ?? {}
    return ($ref ? $defs[$ref.replace('#/$defs/', '')]?.type : type) === 'number'
  })

const RESOURCES = Object.keys(base)

test.each(RESOURCES)(
  '%s: valid values pass and invalid ones are refused with the code',
  async (of) => {
    const acme = await partnerWithCustomer()
    // A text that a note had is personal in each later answer.
    const ofText = ({ code }: Case) => Number(code === 'length')
    const own = cases.filter(({ resource }) => resource === of)
    for (const rule of own.sort((a, b) => ofText(a) - ofText(b))) {
      const named = (...found: unknown[]) => [rule.resource, rule.field, rule.code, ...found]
      const send = (values: readonly string[]) =>
        acme.postText(`${rule.resource}?dry_run=true`, bodyOf(rule, values))
      for (const values of bulksOf(rule, rule.valid)) {
        const response = await send(values)
        const { errors = [] } = await json(response)
        const refused = errors.map(({ index }: ListedError) => values[index])
        expect(named(refused, response.status)).toEqual(named([], 200))
      }
      for (const values of bulksOf(rule, rule.invalid)) {
        const response = await send(values)
        const body = await json(response)
        expect(named(values, response.status, body.errors_total, ...listed(body))).toEqual(
          named(
            ...[values, 422, values.length],
            ...values.map((_, i) => [i, `/${i}/${rule.field}`, rule.code]),
          ),
        )
      }
    }
  },
)

test('an array in an object is refused with what to send, in both APIs', async () => {
  const firm = await partnerWithCustomer()
  const casino = await storedBrand()
  const refusedFor = async (name: string, response: Promise<Response>) => {
    const message = `Expected an array, not an object with the array \`${name}\`.`
    const error = { pointer: '', code: 'type', message, hint: 'Send the array itself.' }
    expect(await json(response)).toMatchObject({ summary: { received: 0 }, errors: [error] })
  }
  for (const more of [{}, { meta: { total: 1 } }]) {
    const posted = { transactions: [deposit], ...more }
    await refusedFor('transactions', firm.post('transactions', posted))
    await refusedFor('transactions', firm.post('transactions', { transactions: [], ...more }))
    for (const name of ['data', 'customers']) {
      await refusedFor(name, casino.post('customers', { [name]: [eve], ...more }))
    }
    expect((await firm.post('transactions', { data: [deposit], ...more })).status).toBe(200)
  }
  expect((await casino.post('customers', { data: [eve], ...eve })).status).toBe(201)
})

test.each(['100.25', ' -7 ', '1,000.25', '1,5', '5 EUR', ''])(
  'a number that is sent as the text %j has how to send numbers in its hint',
  async (text) => {
    const acme = await partnerWithCustomer()
    const sent = { ...deposit, amount_currency: text }
    const { errors } = await json(acme.post('transactions', [sent]))
    expect(errors).toMatchObject([{ hint: expect.stringContaining('`1000.25`') }])
  },
)

test('an id that is sent as a number has how to send it in its hint, a time has not', async () => {
  const acme = await partnerWithCustomer()
  const hints = async (field: string) =>
    (await json(acme.post('transactions', [{ ...deposit, [field]: 1001 }]))).errors.map(
      ({ hint }: { hint?: string }) => hint,
    )
  expect(await hints('transaction_id')).toEqual(['Send ids in quotes, as text.'])
  expect(await hints('transaction_date')).toEqual([undefined])
})

test.each([
  ['transactions', 'amount_currency', '0.1234567890123456', 'The number', 2],
  ['transactions', 'amount_currency', '1e16', '`10000000000000000`', 2],
  ['transactions', 'amount_usd', '0.1234567890123', '`0.1234567890123`', 12],
  ['trading-activity', 'lots_traded', '0.1234567890123456', 'The number', 2],
  ['trading-activity', 'pnl', '-0.000000125', '`-1.25e-7`', 8],
  ['trading-activity', 'pnl', '0.1234567890123456', 'The number', 8],
])('`digits` of %s says the places of %s', async (resource, field, value, what, places) => {
  const acme = await partnerWithCustomer()
  const { errors } = await json(acme.postText(resource, `[${recordOf(resource, field, value, 0)}]`))
  expect(errors).toMatchObject([
    {
      pointer: `/0/${field}`,
      code: 'digits',
      message: `${what} must be within ±10^15 and have at most 15 significant digits and ${places} decimal places.`,
    },
  ])
})

/** Asserts that each record in which one of these fields has one of these values has this error alone. */
async function expectEachRefused(
  resource: string,
  fields: readonly string[],
  valuesOf: (field: string) => readonly (string | undefined)[],
  code: string,
) {
  const acme = await partnerWithCustomer()
  const pairs = fields.flatMap((field) => valuesOf(field).map((value) => ({ field, value })))
  const records = pairs.map(({ field, value }, i) => recordOf(resource, field, value, i))
  const body = await json(acme.postText(resource, `[${records}]`))
  expect([body.errors_total, ...listed(body)]).toEqual([
    pairs.length,
    ...pairs.map(({ field }, i) => [i, `/${i}/${field}`, code]),
  ])
}

describe('every field', () => {
  const required = (resource: string) => SCHEMAS.forex[resource]!.required
  const all = (resource: string) => Object.keys(SCHEMAS.forex[resource]!.properties)
  const optional = (resource: string) =>
    all(resource).filter((name) => !required(resource).includes(name))

  test.each(RESOURCES)('%s: a required field that is absent or null is refused', (resource) =>
    expectEachRefused(resource, required(resource), () => [undefined, 'null'], 'required'),
  )

  test.each(RESOURCES)('%s: an optional field may be omitted but not null', (resource) =>
    expectEachRefused(resource, optional(resource), () => ['null'], 'type'),
  )

  test.each(RESOURCES)('%s: every field refuses values of another JSON type', (resource) =>
    expectEachRefused(
      resource,
      all(resource),
      (field) => [isNumeric(field) ? '"1"' : '1', 'true', '[]', '{}', '["x"]'],
      'type',
    ),
  )

  const ofOneVertical = Object.keys(base).flatMap((resource) =>
    (['forex', 'prop-trading'] as const).flatMap((vertical) => {
      const own = SCHEMAS[vertical][resource]!
      const others = SCHEMAS[vertical === 'forex' ? 'prop-trading' : 'forex'][resource]!.properties
      const fields = Object.keys(own.properties).filter((field) => !(field in others))
      return fields.map((field) => ({ resource, field, vertical, value: own.examples[0]![field] }))
    }),
  )

  test('a field of one vertical is unknown to the other', async () => {
    const firms = {
      forex: await partnerWithCustomer('forex'),
      'prop-trading': await partnerWithCustomer('prop-trading'),
    }
    expect(ofOneVertical.length).toBeGreaterThan(4)
    for (const { resource, field, vertical, value } of ofOneVertical) {
      const record = { ...base[resource], [field]: value }
      const taken = await firms[vertical].post(`${resource}?dry_run=true`, [record])
      expect([resource, field, taken.status]).toEqual([resource, field, 200])
      const other = firms[vertical === 'forex' ? 'prop-trading' : 'forex']
      expect([field, await json(other.post(resource, [record]))]).toMatchObject([
        field,
        { errors: [{ pointer: `/0/${field}`, code: 'unknown_field' }] },
      ])
    }
  })

  test('prop trading refuses a negative account size or drawdown', async () => {
    const acme = await partner('prop-trading')
    await acme.post('customers', ada)
    for (const [resource, field] of [
      ['customers', 'account_size'],
      ['trading-activity', 'drawdown'],
      ['trading-activity', 'max_drawdown'],
    ] as const) {
      const at = (value: number) => acme.post(resource, { ...base[resource], [field]: value })
      expect(await json(at(-0.01))).toMatchObject({
        errors: [{ pointer: `/${field}`, code: 'minimum' }],
      })
      expect((await at(0)).status).toBeLessThan(300)
    }
  })

  test('prop trading has its own transaction types and requires pnl', async () => {
    const acme = await partner('prop-trading')
    await acme.post('customers', ada)
    for (const type of ['challenge_fee', 'payout', 'reset_fee', 'refund', 'adjustment', 'other']) {
      const sent = { ...deposit, transaction_type: type }
      expect((await acme.post('transactions?dry_run=true', sent)).status).toBe(201)
    }
    expect((await acme.post('transactions', deposit)).status).toBe(422)
    const { pnl: _, ...without } = traded
    expect(await json(acme.post('trading-activity', without))).toMatchObject({
      errors: [{ pointer: '/pnl', code: 'required' }],
    })
  })
})

test('a date-time is returned in UTC, truncated to milliseconds', async () => {
  const acme = await partner()
  const dates = [
    ['2026-10-01t08:30:00.123Z', '2026-10-01T08:30:00.123Z'],
    ['2026-10-01T08:30:00.123z', '2026-10-01T08:30:00.123Z'],
    ['2026-10-01T08:30:00.5Z', '2026-10-01T08:30:00.500Z'],
    ['2026-10-01T01:30:00.98765+02:00', '2026-09-30T23:30:00.987Z'],
    ['2026-10-01T08:30:00+05:30', '2026-10-01T03:00:00.000Z'],
    ['2026-10-01T20:30:00-03:45', '2026-10-02T00:15:00.000Z'],
  ]
  const sent = dates.map(([signup_date], i) => ({ ...ada, customer_id: `c-${i}`, signup_date }))
  await acme.post('customers', sent)
  const { data } = await json(acme.get('customers'))
  expect(data.map((one: { signup_date: string }) => one.signup_date)).toEqual(
    dates.map(([, returned]) => returned),
  )
})

test('a withdrawn currency is stored with a warning', async () => {
  const acme = await partner()
  await acme.post('customers', ada)

  expect(await json(acme.post('transactions', [{ ...deposit, currency: 'HRK' }]))).toMatchObject({
    results: [
      {
        outcome: 'created',
        warnings: [
          {
            code: 'withdrawn_currency',
            pointer: '/0/currency',
            message: '`HRK` was withdrawn from ISO 4217 in `2023-01`.',
          },
        ],
      },
    ],
  })
})

describe('error messages', () => {
  test.each([
    ['GER', 'GER'],
    [7, 7],
    [true, undefined],
    [['DE'], undefined],
    [{ code: 'DE' }, undefined],
  ])('the error of %j has the value %j', (sent, value) => {
    expect(validateField('country_code', sent, country).issue?.value).toBe(value)
  })

  test.each([
    ['x'.repeat(40), `\`${'x'.repeat(40)}\``],
    ['x'.repeat(41), `\`${'x'.repeat(40)}…\``],
    ['😀'.repeat(41), `\`${'😀'.repeat(40)}…\``],
    ['a"b\\c\n', '`a"b\\\\c\\n`'],
    ['\u009b31m\u202e\u2028\u007f', '`\\u009b31m\\u202e\\u2028\\u007f`'],
    [7, '`7`'],
    [null, '`null`'],
    [undefined, '`undefined`'],
    [{ a: ['b'] }, '`{"a":["b"]}`'],
  ])('%j is quoted with at most 40 characters', (value, quoted) => {
    expect(quote(value)).toBe(quoted)
  })

  test('neither messages nor the delivery log quote personal values', async () => {
    const acme = await partner()
    const secret = 'secret@person'
    const personal = { first_name: [secret], last_name: { secret }, email: secret }
    const bodies = [
      [{ ...ada, ...personal }, secret, [secret]],
      [{ ...ada, first_name: `${secret}${'x'.repeat(500)}`, last_name: `${secret}\0` }],
    ]
    for (const body of bodies) {
      const response = await acme.post('customers', body)
      expect(response.status).toBe(422)
      expect(await response.text()).not.toContain(secret)
    }
    const { data } = await json(acme.get('deliveries'))
    for (const { delivery_id } of data) {
      expect(await (await acme.get(`deliveries/${delivery_id}`)).text()).not.toContain(secret)
    }
  })
})
