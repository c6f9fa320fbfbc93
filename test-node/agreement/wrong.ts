import fc from 'fast-check'
import { igaming } from '../../src/ingest/brand/igaming.ts'
import { forex } from '../../src/ingest/trading/forex.ts'
import { propTrading } from '../../src/ingest/trading/prop-trading.ts'
import { ANY_CHARACTER } from '../../test/platform/any-character.ts'
import { FORMATS } from './formats.ts'
import type { Text } from './values.ts'

// Values that are wrong for some types. The schema and the service decide for which, and must agree.

const tabled = (type: string) => {
  const { valid, invalid, refused } = FORMATS.find((format) => format.type === type)!
  const data = [...valid, ...invalid, ...refused]
  return fc.constantFrom(...data.map((value) => JSON.stringify(value)))
}

const one = (...texts: string[]): Text => fc.constantFrom(...texts)

const OTHER_TYPES = one(
  'null',
  'true',
  'false',
  '0',
  '1',
  '"1"',
  '""',
  '[]',
  '{}',
  '["x"]',
  '{"a":1}',
  '{"toString":1}',
  '[{"toString":null,"valueOf":0}]',
  '{"__proto__":null,"constructor":1,"toJSON":1,"length":1,"then":1}',
)

const TEXTS = one(
  '"a\\u0000b"',
  '"\\u0000"',
  '"\\ud83d"',
  '"a\\ude00b"',
  '"\\ude00\\ud83d"',
  '"\\ud83d\\ude00"',
  '"en "',
  '" en"',
  '"EN"',
  '"de"',
  '"eng"',
  '"e"',
  '"en\\n"',
  '"é1"',
  '"ｅｎ"',
  '"DEU"',
  '"D1"',
  '"100"',
  '"1:"',
  '"1:x"',
  '"2:100"',
  '"1:1."',
  '"1:-5"',
  '"1:100 "',
  '"1:١٠"',
  '"1:1e2"',
  '"XXA"',
  '"eur"',
  '"Eur"',
  '"EURO"',
  '"EU"',
  '"978"',
  '"DEM"',
  '"EUR "',
  '"valueOf"',
  '"Deposit"',
  '"PAYOUT"',
  '"deposit "',
  '"toString"',
  '"deposit\\u0000"',
)

const tooLong = (max: number): Text =>
  fc
    .tuple(fc.constantFrom('x', '😀', '\ud83d', '\0', '1'), fc.constantFrom(0, 1, 2, max, max + 1))
    .map(([char, more]) => JSON.stringify(char.repeat(max + more)))

const NUMBERS = one(
  '1e400',
  '-1e400',
  '1e16',
  '-1e16',
  '1000000000000001',
  '1000000000000000.1',
  '1e-9',
  '1.5e-8',
  '1e-13',
  '1.5e-12',
  '19.990000000000000001',
  '1234567890123456',
  '0.001',
  '1e-3',
  '-0.01',
  '-1',
  '-0',
  '5e-324',
  '1e-400',
  '-1E-400',
  '1.005',
  '1234567.891',
  '1.10',
  '0.10000000000000001',
  '1e15000',
  '"1"',
  '"1.0"',
  '"-0.01"',
  '"1,000.00"',
  '"1e3"',
  '"+1"',
  '"1."',
  '".5"',
  '"0x1"',
  '"NaN"',
  '"12345678901234567"',
  '"10000000000000000"',
  '"0.0000000000001"',
  `"${'1'.repeat(501)}"`,
  '" 1"',
  '"1\\n"',
  '"١"',
  '"-"',
  '"Infinity"',
  `"${'0'.repeat(501)}"`,
)

const isText = (text: string) => text.startsWith('"')

/** A good text with one character that is not; a number keeps to JSON, and so gets a digit. */
const altered = (good: Text): Text =>
  fc
    .tuple(good, fc.nat(600), fc.constantFrom(...'0159-+:.TtZz @eEx\0é😀'.split(''), ''), fc.nat(1))
    .map(([text, at, char, cut]) => {
      if (!isText(text)) return /^-?0/.test(text) ? text : text.replace(/\d/, (n) => `${n}${n}`)
      const plain = [...JSON.parse(text)]
      plain.splice(at % (plain.length + 1), cut, char)
      return JSON.stringify(plain.join(''))
    })

const OF_FORMAT: Record<string, string[]> = {
  Email: ['Email'],
  Day: ['Day', 'Instant'],
  Instant: ['Instant', 'Day', 'BrandTime'],
  BrandTime: ['BrandTime', 'Day', 'Instant'],
}

const NUMERIC = ['Figure', 'NotNegativeFigure', 'Amount', 'Money', 'NotNegative', 'Lots', 'Decimal']

/** What might be wrong of a type, as JSON text: a list of it, or a good one with a mistake. */
export function wrongOf(type: string, good: Text, max: number): Text {
  const own = (OF_FORMAT[type] ?? []).map(tabled)
  const usual = NUMERIC.includes(type) ? NUMBERS : fc.oneof(TEXTS, tooLong(max))
  return fc.oneof(
    { weight: 2, arbitrary: OTHER_TYPES },
    { weight: 3, arbitrary: usual },
    { weight: 2, arbitrary: altered(good) },
    ...own.map((arbitrary) => ({ weight: 3, arbitrary })),
  )
}

/** The members that the code knows: a schema that forgets one of its own would refuse it. */
const KNOWN = [...propTrading.resources, ...forex.resources]
  .map(({ fields }): object => fields)
  .concat(igaming.resources.map(({ fields }) => fields))
  .flatMap(Object.keys)

const NAMES = one(
  ...new Set(KNOWN),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'a/b',
  'a~b',
  '~1',
  '0',
  'é',
  'customer_id ',
  'Customer_Id',
  'phase',
  'leverage',
  'volume_usd',
  'drawdown',
  'data',
  'meta',
  'customerId',
  'customerid',
  'eventid',
  'Value',
  'value',
  'VALUE',
  'Product',
  'PRODUCT',
  'EventName',
  'CreateTime',
  'currency',
  'CustomerID',
  'Regtime',
  'GGR',
  'NGR',
  'a\0b',
  '\ud83d',
  '\ude00x',
  'ﬃ',
  'ſ',
  'K',
  '$ref',
  'x-rules',
  'length',
  'x'.repeat(600),
)

/** What a member may be called that is not listed. */
export const names: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: NAMES },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: ANY_CHARACTER }) },
)

const LEAVES = fc.oneof(
  OTHER_TYPES,
  TEXTS,
  NUMBERS,
  one('5', '"5.50"', '1e2', '-3', '"card"', '"x"'),
)

/** The biggest extras that may be sent, and one byte more: `{"x":"…"}` of 16 KiB. */
export const big: Text = fc
  .constantFrom(16_384, 16_385)
  .map((bytes) => `"${'y'.repeat(bytes - 8)}"`)

/** Any JSON, not deep, with what can be wrong within it. */
export const anything: Text = fc.oneof(
  { weight: 6, arbitrary: LEAVES },
  { weight: 1, arbitrary: fc.array(LEAVES, { maxLength: 3 }).map((all) => `[${all}]`) },
  {
    weight: 1,
    arbitrary: fc.tuple(names, LEAVES).map(([name, text]) => `[{${JSON.stringify(name)}:${text}}]`),
  },
)
