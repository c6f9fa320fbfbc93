import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { DECIMAL_LIMITS } from '../../src/commission/plans/decimals.ts'
import { DECIMAL_PATTERN, decimal, MAX_CHARACTERS } from '../../src/ingest/brand/decimal.ts'
import { time } from '../../src/ingest/brand/fields.ts'
import { LOCAL_TIME_PATTERN } from '../../src/ingest/brand/time.ts'
import { DAY_PATTERN, INSTANT_PATTERN } from '../../src/platform/validation/calendar.ts'
import * as f from '../../src/platform/validation/fields.ts'
import { CURRENCIES, WITHDRAWN } from '../../src/platform/validation/iso-4217.ts'
import type { IssueCode } from '../../src/platform/validation/issue.ts'

/** A JSON Schema. */
export type JsonSchema = { [keyword: string]: unknown }

const CALENDAR = 'The day must exist, in a year from 0000 to 9999.'

const digitsRule = (places: string) =>
  `At most 15 significant digits and ${places}. Zeros at either end do not count.`

/** The rule of amounts that are summed. */
const DIGITS = digitsRule(`${f.SUMMED_PLACES} decimal places`)

/** The pattern of a decimal as text, without its sign. */
const UNSIGNED = `(?:0|[1-9]\\d*)(?:\\.\\d{1,${DECIMAL_LIMITS.places}})?`

/**
 * Expresses each rule in JSON Schema. `x-rules` holds what no keyword can express exactly: the code
 * of the error, and the rule in words. `expected` is the parameter of the rule.
 */
const KEYWORDS: Partial<Record<IssueCode, (expected: string, json: JsonSchema) => JsonSchema>> = {
  length: (expected) => {
    const [minLength, maxLength] = expected.split(' to ').map(Number)
    return { minLength, maxLength }
  },
  text: () => ({ pattern: '^[^\\u0000\\ud800-\\udfff]*$' }),
  currency: () => ({ enum: [...CURRENCIES, ...WITHDRAWN.keys()].sort() }),
  date: () => ({ format: 'date', pattern: DAY_PATTERN.source, 'x-rules': { date: CALENDAR } }),
  date_time: () => ({
    format: 'date-time',
    pattern: INSTANT_PATTERN.source,
    maxLength: f.MAX_TEXT,
    'x-rules': { date_time: CALENDAR },
  }),
  number: () => ({}),
  pattern: (expected) => ({ 'x-rules': { pattern: `Must be ${expected}.` } }),
  digits: (expected) =>
    expected.endsWith('places')
      ? {
          minimum: -f.MAX_AMOUNT,
          maximum: f.MAX_AMOUNT,
          'x-rules': { digits: digitsRule(expected) },
        }
      : { 'x-rules': { digits: `At most ${expected} significant digits.` } },
  decimals: (expected) =>
    expected
      ? { pattern: `^-?${UNSIGNED}$` }
      : { 'x-rules': { decimals: 'At most 2 decimal places.' } },
  minimum: (expected, { type, format }) => {
    if (format === 'date') return { 'x-rules': { minimum: `On ${expected} or later.` } }
    return type === 'string' ? { pattern: `^${UNSIGNED}$` } : { minimum: Number(expected) }
  },
  maximum: (expected, { format }) =>
    format === 'date' || expected !== '0'
      ? { 'x-rules': { maximum: `At most ${expected}.` } }
      : { pattern: `^(?:-${UNSIGNED}|0(?:\\.0{1,${DECIMAL_LIMITS.places}})?)$` },
}

interface Type {
  field: v.GenericSchema
  /** The description of the type. */
  description: string
  /** The schema, if no rule of the field expresses it. */
  schema?: JsonSchema
}

/** The types of the fields of records, by their names in documents. */
export const TYPES: Record<string, Type> = {
  Text: {
    field: f.text,
    description: 'Text without NUL characters. Lengths count Unicode code points.',
  },
  Id: {
    field: f.id,
    description: 'An id that its sender chose: text other than `.` and `..`.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: f.MAX_TEXT,
      pattern: '^(?!\\.{1,2}$)[^\\u0000\\ud800-\\udfff]*$',
    },
  },
  TrackingData: {
    field: f.tracking,
    description: 'The value that the landing page received, unchanged.',
  },
  Language: { field: f.language, description: 'An ISO 639-1 language code.' },
  Country: { field: f.country, description: 'An ISO 3166-1 alpha-2 country code.' },
  Leverage: { field: f.leverage, description: 'A ratio to 1.' },
  Email: { field: f.email, description: 'An e-mail address.' },
  Currency: {
    field: f.currency,
    description: 'An ISO 4217 currency code. A recently withdrawn code is accepted with a warning.',
  },
  Day: { field: f.day, description: 'A day in the form YYYY-MM-DD.' },
  Instant: {
    field: f.instant,
    description:
      'An RFC 3339 date-time with an offset or Z. It is stored and returned in UTC, truncated to milliseconds.',
  },
  Figure: { field: f.figure, description: 'A number that is never summed.' },
  NotNegativeFigure: { field: f.notNegativeFigure, description: 'A figure of at least zero.' },
  Amount: { field: f.amount, description: 'A number that is summed.' },
  Money: { field: f.money, description: 'An amount with at most 2 decimal places.' },
  NotNegative: { field: f.notNegative, description: 'An amount of at least zero.' },
  Lots: { field: f.lots, description: 'A number of lots with at most 2 decimal places.' },
  // Brands may write these values in several forms, which no rule of the field expresses.
  BrandTime: {
    field: time,
    description: "A time in the account's time zone, a day, or an RFC 3339 date-time.",
    schema: {
      type: 'string',
      maxLength: f.MAX_TEXT,
      anyOf: [
        { title: 'local time', pattern: LOCAL_TIME_PATTERN.source },
        { title: 'a day', format: 'date', pattern: DAY_PATTERN.source },
        { title: 'RFC 3339', format: 'date-time', pattern: INSTANT_PATTERN.source },
      ],
      'x-rules': { date_time: CALENDAR },
    },
  },
  Decimal: {
    field: decimal,
    description:
      'A decimal, as a number or as text without separators. It is compared as a number.',
    schema: {
      anyOf: [
        { type: 'number', minimum: -f.MAX_AMOUNT, maximum: f.MAX_AMOUNT },
        { type: 'string', pattern: DECIMAL_PATTERN.source, maxLength: MAX_CHARACTERS },
      ],
      'x-rules': {
        digits: `${DIGITS} The value is within ±10^15, as text too.`,
        number: 'The value must be within the range of a double.',
      },
    },
  },
}

/** Expresses a pattern, with its format if it has one. */
function patternSchema({ source }: RegExp, message: unknown): JsonSchema {
  // Many validators do not support Unicode classes.
  if (source.includes('\\p{')) {
    return { 'x-rules': { pattern: `Must consist of ${String(message).replace('pattern ', '')}.` } }
  }
  return { pattern: source, ...(message === 'email' && { format: 'idn-email' }) }
}

const typeIn = (message: unknown) =>
  String(message).replace('type ', '') as 'number' | 'object' | 'array'

/** How schemas of Valibot are converted, rule by rule. A rule without a conversion throws. */
const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'output',
  errorMode: 'throw',
  overrideAction: ({ valibotAction, jsonSchema }) => {
    const { type, message, requirement } = valibotAction as {
      type: string
      message?: unknown
      requirement?: RegExp
    }
    // If a field has two patterns, the later one is stricter.
    if (type === 'regex') return { ...jsonSchema, ...patternSchema(requirement!, message) }
    if (type === 'transform' || type === 'readonly') return jsonSchema
    // The only check of items is that each is there once.
    if (type === 'check_items') return { ...jsonSchema, uniqueItems: true }
    if (type !== 'check' && type !== 'raw_transform') return null
    const [code = '', ...expected] = String(message ?? 'date_time').split(' ')
    const keywords = KEYWORDS[code as IssueCode]
    if (!keywords) throw new Error(`The rule ${code} has no conversion to JSON Schema.`)
    const rule = keywords(expected.join(' '), jsonSchema as JsonSchema)
    return 'enum' in rule
      ? { type: 'string', ...rule }
      : { ...jsonSchema, ...rule, ...rulesOf(jsonSchema as JsonSchema, rule) }
  },
  overrideSchema: ({ valibotSchema, jsonSchema }) =>
    // A custom schema names its type in its message: see `number` in fields.ts.
    valibotSchema.type === 'custom'
      ? { ...jsonSchema, type: typeIn((valibotSchema as { message?: unknown }).message) }
      : null,
}

/** Returns the `x-rules` of both schemas. */
function rulesOf(...schemas: JsonSchema[]): JsonSchema {
  const all = Object.assign({}, ...schemas.map((schema) => schema['x-rules']))
  return Object.keys(all).length > 0 ? { 'x-rules': all } : {}
}

/** Converts a schema of Valibot, rule by rule. Throws on a rule without a conversion. */
export function converted(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, ...json } = toJsonSchema(schema, CONVERSION)
  return json as JsonSchema
}

/** Converts schemas of Valibot that contain each other. `at` is the location of their names. */
export function convertedTogether(
  schemas: Record<string, v.GenericSchema>,
  at: string,
  typeMode: ConversionConfig['typeMode'] = 'output',
): Record<string, JsonSchema> {
  const names = new Map<unknown, string>(
    Object.entries(schemas).map(([name, schema]) => [schema, name]),
  )
  // Copies, which are not among the names, so that only what contains a schema refers to it.
  const copies = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, { ...schema }]),
  )
  return toJsonSchemaDefs(copies, {
    ...CONVERSION,
    typeMode,
    overrideSchema: (context) => {
      const name = names.get(context.valibotSchema)
      return name ? { $ref: at + name } : CONVERSION.overrideSchema?.(context)
    },
  }) as Record<string, JsonSchema>
}

/** Returns the types by name, for `$defs` or for the components of OpenAPI. */
export const types = (): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(TYPES).map(([name, { field, description, schema }]) => {
      const { description: _, examples: __, ...json } = schema ?? converted(field)
      const rules = Object.values((json['x-rules'] ?? {}) as object)
      return [name, { description: [description, ...rules].join(' '), ...json }]
    }),
  )
