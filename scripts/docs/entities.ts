import { MAX_CHARACTERS } from '../../src/brand/decimal.ts'
import { igaming } from '../../src/brand/igaming.ts'
import { KNOWN_MEMBERS } from '../../src/db/directory/event-definitions.ts'
import type { Resource } from '../../src/ingest/resource.ts'
import { forex } from '../../src/trading/forex.ts'
import { propTrading } from '../../src/trading/prop-trading.ts'
import { MAX_TEXT } from '../../src/validation/fields.ts'
import { closedObject, openObject } from './json-schema.ts'
import type { JsonSchema } from './types.ts'

/** An entity of a vertical: its resource, and what it is called in documents. */
export interface Entity {
  vertical: string
  /** The noun in its address. */
  resource: string
  /** What one record is called. */
  title: string
  /** The file of its schema: `forex/customer`. */
  file: string
  /** Its name among the components of OpenAPI: `ForexCustomer`. */
  component: string
  /** Its schema; `at` is where the types are. */
  schema: (at: string) => JsonSchema
  /** A record with each field that it may have. */
  example: Record<string, unknown>
}

const kebab = (title: string) => title.toLowerCase().replaceAll(' ', '-')

const pascal = (text: string) =>
  kebab(text).replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())

const named = (vertical: string, { name, title }: { name: string; title: string }) => ({
  vertical,
  resource: name,
  title,
  file: `${vertical}/${kebab(title)}`,
  component: pascal(vertical) + pascal(title),
})

const examplesIn = (schema: JsonSchema): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) => [
      name,
      (property.examples as unknown[] | undefined)?.[0] ?? (property.enum as unknown[])[0],
    ]),
  )

/** What only a request as a whole, or the database, can tell. */
const REFERS: Record<string, Record<string, string>> = {
  customers: {
    unknown_affiliate:
      'The affiliate is configured; otherwise it is a warning, or an error where the account wants that.',
  },
  transactions: {
    unknown_customer: 'The customer was sent before, unless the account has such records held.',
  },
}

function partnerEntity(vertical: string, resource: Resource): Entity {
  const { name, title, description, key, fields } = resource
  const closed = (at: string): JsonSchema => ({
    title: `${title} (${vertical})`,
    description,
    ...closedObject(fields, at),
    'x-key': key,
    'x-rules': {
      duplicate_key: `No two records of one request have the same ${key.join(', ')}.`,
      ...(REFERS[name] ?? REFERS.transactions),
    },
  })
  return { ...named(vertical, resource), schema: closed, example: examplesIn(closed('')) }
}

const caseless = (name: string) =>
  name.replace(/[a-z]/gi, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`)

/**
 * Names that differ only by case from those that nobody would look for under another: none of them
 * may say anything, and null says nothing.
 */
const misspelt = (names: readonly string[]): JsonSchema => ({
  [`^(?!(?:${names.join('|')})$)(?:${names.map(caseless).join('|')})$`]: {
    description: 'The wrong case of a name.',
    type: 'null',
  },
})

/** What members of the sender's own may be; null says nothing, whatever its name. */
const EXTRAS = {
  text: 'No name or text in them, however deep, has a NUL or a lone surrogate.',
  number: 'No number in them is beyond the range of a double.',
  digits: 'No number in them has more than 15 significant digits as written.',
}

/** What they may be where they are KPIs: that hangs on `Value`, and on the event definition. */
const KPIS = {
  ...EXTRAS,
  number: `${EXTRAS.number} KPIs are decimals of at most ${MAX_CHARACTERS} characters.`,
  digits: `${EXTRAS.digits} KPIs are within ±10^15, and not finer than 10^-12.`,
  type: 'Text, where an event definition says that it names the product line.',
  length: `That has 1 to ${MAX_TEXT} characters.`,
}

/** Which events the schema is of: a definition is the account's own. */
const UNDEFINED =
  'This is an event without a definition: one may name another member for the product line, so that `product` is a detail, and KPIs that differ from these names only by case.'

/** What an event must have beside its name and its customer: at least one amount. */
const anAmount = (at: string): JsonSchema => ({
  anyOf: [
    { title: 'a Value', required: ['Value'], properties: { Value: { not: { type: 'null' } } } },
    {
      title: 'a KPI field',
      not: {
        properties: Object.fromEntries(KNOWN_MEMBERS.map((name) => [name, true])),
        patternProperties: { [`^${caseless('product')}$`]: true },
        additionalProperties: { not: { $ref: `${at}Decimal` } },
      },
    },
  ],
})

function brandEntity(resource: Resource): Entity {
  const { name, title, description, key, fields, required, neverRejected } = resource
  const isActivity = name === 'activities'
  const open = (at: string): JsonSchema => ({
    title: `${title} (${igaming.vertical})`,
    description: isActivity ? `${description} ${UNDEFINED}` : description,
    ...openObject(fields, required, neverRejected, at),
    patternProperties: misspelt(isActivity ? KNOWN_MEMBERS : required),
    additionalProperties: { 'x-rules': isActivity ? KPIS : EXTRAS },
    ...(isActivity && anAmount(at)),
    'x-key': key,
    'x-rules': {
      length: isActivity
        ? 'Members that are not listed come to at most 16 KiB of JSON.'
        : 'Members that are not listed come to at most 16 KiB of JSON a record, and 64 KiB of one customer in all.',
      ...(isActivity && {
        required: 'An event definition may require `eventid`.',
        no_kpi: 'With an event definition the KPIs are those that it names.',
        unknown_customer:
          'The customer was sent before, where the account does not have such records held.',
      }),
    },
  })
  return {
    ...named(igaming.vertical, resource),
    schema: open,
    example: exampleOf(open(''), isActivity),
  }
}

/** An event has a `Value`, and details of its own; a customer additional fields. */
const exampleOf = (schema: JsonSchema, isActivity: boolean) => ({
  ...examplesIn(schema),
  ...(isActivity ? { deposit_type: 'card' } : { crm_status: 'vip' }),
})

/** All entities, in the order in which they are documented. */
export const ENTITIES: readonly Entity[] = [
  ...[propTrading, forex].flatMap(({ vertical, resources }) =>
    resources.map((resource) => partnerEntity(vertical, resource)),
  ),
  ...igaming.resources.map(brandEntity),
]
