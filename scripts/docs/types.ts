import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { DECIMAL_PATTERN, decimal, MAX_CHARACTERS } from '../../src/brand/decimal.ts'
import { time } from '../../src/brand/fields.ts'
import { LOCAL_TIME_PATTERN } from '../../src/brand/time.ts'
import * as f from '../../src/validation/fields.ts'
import { CURRENCIES, WITHDRAWN } from '../../src/validation/iso-4217.ts'
import type { IssueCode } from '../../src/validation/issue.ts'

/** A JSON Schema, as a value. */
export type JsonSchema = { [keyword: string]: unknown }

const CALENDAR =
  'There is such a day in the calendar, and the instant is of the years 0000 to 9999.'

const DIGITS =
  'At most 15 significant digits as written, of which at most 12 after the point; zeros at either end do not count.'

/**
 * What each rule is in JSON Schema. What it cannot say exactly stands under `x-rules`: the code that
 * an error would have, and the rule in words. `expected` is what the rule says of itself.
 */
const KEYWORDS: Partial<Record<IssueCode, (expected: string) => JsonSchema>> = {
  length: (expected) => {
    const [minLength, maxLength] = expected.split(' to ').map(Number)
    return { minLength, maxLength }
  },
  text: () => ({ pattern: '^[^\\u0000\\ud800-\\udfff]*$' }),
  currency: () => ({ enum: [...CURRENCIES, ...WITHDRAWN.keys()].sort() }),
  date: () => ({ format: 'date', pattern: f.DAY_PATTERN.source, 'x-rules': { date: CALENDAR } }),
  date_time: () => ({
    format: 'date-time',
    pattern: f.INSTANT_PATTERN.source,
    maxLength: f.MAX_TEXT,
    'x-rules': { date_time: CALENDAR },
  }),
  number: () => ({}),
  pattern: (expected) => ({ 'x-rules': { pattern: `It is ${expected}.` } }),
  digits: () => ({ minimum: -f.MAX_AMOUNT, maximum: f.MAX_AMOUNT, 'x-rules': { digits: DIGITS } }),
  decimals: () => ({ 'x-rules': { digits: DIGITS, decimals: 'At most 2 decimal places.' } }),
  minimum: (expected) => ({ minimum: Number(expected) }),
}

interface Type {
  field: v.GenericSchema
  /** What it is, for its readers. */
  says: string
  /** How it is written, where no rule of the field says it. */
  schema?: JsonSchema
}

/** The types that records are made of: the contract's words, by their names in documents. */
export const TYPES: Record<string, Type> = {
  Text: { field: f.text, says: 'Any text without NUL; characters are Unicode code points.' },
  TrackingData: { field: f.tracking, says: 'What the service gave out, unchanged.' },
  Language: { field: f.language, says: 'A language, as ISO 639-1.' },
  Country: { field: f.country, says: 'A country, as ISO 3166-1 alpha-2.' },
  Leverage: { field: f.leverage, says: 'A ratio.' },
  Email: { field: f.email, says: 'An e-mail address.' },
  Currency: {
    field: f.currency,
    says: 'A currency of ISO 4217. A code that was withdrawn lately is taken, with a warning.',
  },
  Day: { field: f.day, says: 'A day of the calendar, written YYYY-MM-DD.' },
  Instant: {
    field: f.instant,
    says: 'An RFC 3339 date-time with an offset or Z. It is kept and returned in UTC, cut to milliseconds.',
  },
  Amount: { field: f.amount, says: 'A number of at most 15 significant digits.' },
  Money: { field: f.money, says: 'An amount of at most 2 decimal places.' },
  NotNegative: { field: f.notNegative, says: 'An amount of zero or more.' },
  Lots: { field: f.lots, says: 'Lots, of at most 2 decimal places.' },
  // What brands write in more than one way is read by hand; the forms are those that the code knows.
  BrandTime: {
    field: time,
    says: "A time on the clock of the account's time zone, a day, or an RFC 3339 date-time.",
    schema: {
      type: 'string',
      maxLength: f.MAX_TEXT,
      anyOf: [
        { title: 'on the clock of the time zone', pattern: LOCAL_TIME_PATTERN.source },
        { title: 'a day', format: 'date', pattern: f.DAY_PATTERN.source },
        { title: 'RFC 3339', format: 'date-time', pattern: f.INSTANT_PATTERN.source },
      ],
      'x-rules': { date_time: CALENDAR },
    },
  },
  Decimal: {
    field: decimal,
    says: 'A decimal, as a number or as text without separators. Compared as a number.',
    schema: {
      anyOf: [
        { type: 'number', minimum: -f.MAX_AMOUNT, maximum: f.MAX_AMOUNT },
        { type: 'string', pattern: DECIMAL_PATTERN.source, maxLength: MAX_CHARACTERS },
      ],
      'x-rules': {
        digits: `${DIGITS} As text, too, it is within ±10^15.`,
        number: 'What is beyond the range of a double is no number.',
      },
    },
  },
}

/** A pattern, and the format that it stands for. */
function written({ source }: RegExp, message: unknown): JsonSchema {
  // Not every validator knows the classes of Unicode.
  if (source.includes('\\p{')) {
    return { 'x-rules': { pattern: `It has ${String(message).replace('pattern ', '')} only.` } }
  }
  return { pattern: source, ...(message === 'email' && { format: 'email' }) }
}

const typeSaid = (message: unknown) =>
  String(message).replace('type ', '') as 'number' | 'object' | 'array'

/** A schema of Valibot as JSON Schema, rule by rule; an unknown rule is an error. */
export function converted(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, ...json } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'output',
    errorMode: 'throw',
    overrideAction: ({ valibotAction, jsonSchema }) => {
      const { type, message, requirement } = valibotAction as {
        type: string
        message?: unknown
        requirement?: RegExp
      }
      // Of two patterns the later one is the stricter.
      if (type === 'regex') return { ...jsonSchema, ...written(requirement!, message) }
      if (type === 'transform') return jsonSchema
      if (type !== 'check' && type !== 'raw_transform') return null
      const [code = '', ...expected] = String(message ?? 'date_time').split(' ')
      const keywords = KEYWORDS[code as IssueCode]
      if (!keywords) throw new Error(`No keyword says the rule ${code}.`)
      const said = keywords(expected.join(' '))
      return 'enum' in said ? { type: 'string', ...said } : { ...jsonSchema, ...said }
    },
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      // What is judged by hand says its type: see `number` in fields.ts.
      valibotSchema.type === 'custom'
        ? { ...jsonSchema, type: typeSaid((valibotSchema as { message?: unknown }).message) }
        : null,
  })
  return json as JsonSchema
}

/** The types by name, for `$defs` or for the components of OpenAPI. */
export const types = (): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(TYPES).map(([name, { field, says, schema }]) => {
      const { description: _, examples: __, ...json } = schema ?? converted(field)
      const rules = Object.values((json['x-rules'] ?? {}) as object)
      return [name, { description: [says, ...rules].join(' '), ...json }]
    }),
  )
