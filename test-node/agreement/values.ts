import fc from 'fast-check'
import { CURRENCIES, WITHDRAWN } from '../../src/platform/validation/iso-4217.ts'
import { ANY_CHARACTER } from '../../test/platform/any-character.ts'

// Values as JSON text, by the type that the schemas name: some of them no JavaScript value can say.
// Most are valid. The schema and the service decide which ones are not, and must agree.

/** JSON text. */
export type Text = fc.Arbitrary<string>

const quoted = (arbitrary: fc.Arbitrary<string>): Text =>
  arbitrary.map((text) => JSON.stringify(text))

const one = (...texts: string[]) => fc.constantFrom(...texts)

const AWKWARD = one(
  'toString',
  '__proto__',
  'constructor',
  'null',
  '0',
  ' ',
  '\t\r\n',
  '"',
  '\\',
  '/',
  '\u007f',
  '\u2028',
  '\ufeff',
  '\uffff',
  '\ufdd0',
  'e\u0301',
  'ﬃ',
  '👩‍👩‍👧',
  '\u{10ffff}',
  '\u202e',
  '٣',
)

const CHARACTERS = one('x', 'é', '\u2028', '"', '😀', '\u{10ffff}')

/** Text of 1 to `max` characters, the longest and the shortest often enough. */
export const textOf = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 12, unit: ANY_CHARACTER }) },
    { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 20 }) },
    { weight: 2, arbitrary: AWKWARD },
    {
      weight: 1,
      arbitrary: fc
        .tuple(CHARACTERS, one('1', `${max - 1}`, `${max}`))
        .map(([char, count]) => char.repeat(Number(count))),
    },
  )

const two = (max: number, min = 0) =>
  fc.integer({ min, max }).map((n) => String(n).padStart(2, '0'))

const YEAR = fc.oneof(
  one('0000', '0001', '0099', '1582', '1900', '1999', '2000', '2024', '2026', '2100', '9999'),
  fc.integer({ min: 0, max: 9999 }).map((year) => String(year).padStart(4, '0')),
)
const MONTH_DAY = fc.oneof(
  { weight: 9, arbitrary: one('01-01', '02-28', '02-29', '04-30', '12-31') },
  { weight: 9, arbitrary: fc.tuple(two(12, 1), two(28, 1)).map((both) => both.join('-')) },
  { weight: 1, arbitrary: fc.tuple(two(13), two(32)).map((both) => both.join('-')) },
  { weight: 1, arbitrary: one('02-30', '04-31', '06-31', '09-31', '11-31') },
)

const day = fc.tuple(YEAR, MONTH_DAY).map((both) => both.join('-'))

const seconds = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: one('00:00:00', '23:59:59') },
      { weight: 9, arbitrary: fc.tuple(two(24), two(60), two(60)).map((t) => t.join(':')) },
      { weight: 1, arbitrary: one('24:00:00', '23:60:00', '23:59:60') },
    ),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant('') },
      { weight: 3, arbitrary: fc.stringMatching(/^\.\d{1,12}$/) },
      { weight: 1, arbitrary: one('.0', '.999', '.9999999', `.${'7'.repeat(479)}`) },
    ),
  )
  .map((parts) => parts.join(''))

const offset = fc.oneof(
  {
    weight: 3,
    arbitrary: one('Z', 'z', '+00:00', '-00:00', '+23:59', '-23:59', '+05:30', '+14:00'),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(one('+', '-'), two(23), two(59)).map(([sign, h, m]) => `${sign}${h}:${m}`),
  },
)

const instant = fc.tuple(day, one('T', 'T', 't'), seconds, offset).map((parts) => parts.join(''))

const clock = fc
  .tuple(
    day,
    two(24),
    two(60),
    fc.oneof(
      fc.constant(''),
      two(60).map((s) => `:${s}`),
    ),
  )
  .map(([date, hours, minutes, rest]) => `${date} ${hours}:${minutes}${rest}`)

const digits = (max: number, min = 1) =>
  fc.string({ minLength: min, maxLength: max, unit: fc.constantFrom(...'0123456789') })

const whole = digits(13).map((text) => text.replace(/^0+(?=\d)/, ''))

/** Zero or more, as JSON writes it, of at most `places` decimal places; 15 digits in most cases. */
const plain = (places: number) =>
  fc
    .tuple(
      whole,
      fc.oneof(
        fc.constant(''),
        digits(places).map((text) => `.${text}`),
      ),
    )
    .map((parts) => parts.join(''))

const EXPONENTS = one('e0', 'E2', 'e+2', 'e-1', 'e-2', 'e5', 'e-400', 'e-12', 'e-13')

/** Any number: most doubles have too many digits. */
const ANY_NUMBER = fc.oneof(
  fc.tuple(plain(15), EXPONENTS).map((parts) => parts.join('')),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
)

const BOUNDARIES = one(
  '0',
  '0.0',
  '0e5',
  '0.000000000000',
  '1e15',
  '1E+15',
  '999999999999999',
  '0.07',
  '19.99',
  '1.10',
  '1.1000',
  '9999999999999.99',
  '12345678901234.5',
  '1000000000000000',
  '1e-2',
  '4.35',
)
const FINE = one('1e-8', '0.00000001', '1234567.89012345', '123456789012345', '0.005', '1e-3')
const FINEST = one('1e-12', '0.000000000001', '1234.56789012345', '1.5e-9')

const negated = (number: Text) =>
  fc.tuple(one('', '-'), number).map((parts) => parts.join('').replace('--', ''))

const amount = fc.oneof(
  { weight: 4, arbitrary: plain(2) },
  { weight: 2, arbitrary: BOUNDARIES },
  { weight: 2, arbitrary: FINE },
  { weight: 1, arbitrary: ANY_NUMBER },
)
const inHundredths = fc.oneof(
  { weight: 6, arbitrary: plain(2) },
  { weight: 4, arbitrary: BOUNDARIES },
  { weight: 1, arbitrary: FINE },
)

/** Decimal text, as brands write it; JSON would refuse the zeros before some of them. */
const decimalText = fc
  .tuple(
    one('', '-'),
    digits(13),
    fc.oneof(
      fc.constant(''),
      digits(6).map((text) => `.${text}`),
    ),
  )
  .map((parts) => parts.join(''))
const LONG_DECIMALS = one(
  '0'.repeat(500),
  `1.${'0'.repeat(498)}`,
  '-0',
  '00.10',
  '1'.repeat(15),
  `1${'0'.repeat(400)}`,
)

const email = fc.oneof(
  fc.emailAddress(),
  one(
    "o'neil@x.org",
    'a.b+c@x-y.example.org',
    'A@B.CO',
    '!#$%&*+/=?^_`{|}~-@a.b',
    '1@2.3',
    'ü@b.co',
    'a@bücher.de',
  ),
)

const letters = (unit: string, count: number) =>
  fc.string({ minLength: count, maxLength: count, unit: fc.constantFrom(...unit) })
const LOWER = 'abcdefghijklmnopqrstuvwxyz'

/** Good values of each type, all as JSON text. */
export const GOOD: Record<string, (max: number) => Text> = {
  Text: (max) => quoted(textOf(max)),
  Id: (max) => quoted(textOf(max).filter((text) => !/^\.{1,2}$/.test(text))),
  TrackingData: (max) => quoted(textOf(max)),
  Language: () => quoted(letters(LOWER, 2)),
  Country: () => quoted(letters(LOWER.toUpperCase(), 2)),
  Leverage: () => quoted(fc.stringMatching(/^1:\d{1,4}(\.\d{1,3})?$/)),
  Email: () => quoted(email),
  Currency: () => quoted(fc.constantFrom(...CURRENCIES, ...WITHDRAWN.keys())),
  Day: () => quoted(day),
  Instant: () => quoted(instant),
  Figure: () => negated(fc.oneof(amount, FINEST)),
  NotNegativeFigure: () => fc.oneof(amount, FINEST),
  Amount: () => negated(amount),
  Money: () => negated(inHundredths),
  NotNegative: () =>
    fc.oneof({ weight: 9, arbitrary: amount }, { weight: 1, arbitrary: one('-0') }),
  Lots: () => fc.oneof({ weight: 9, arbitrary: inHundredths }, { weight: 1, arbitrary: one('-0') }),
  BrandTime: () => quoted(fc.oneof(clock, clock, day, instant)),
  Decimal: () =>
    fc.oneof(negated(amount), quoted(fc.oneof(decimalText, decimalText, LONG_DECIMALS))),
}
