import { MAX_CHARACTERS } from '../../src/ingest/brand/decimal.ts'
import { igaming } from '../../src/ingest/brand/igaming.ts'
import { KNOWN_MEMBERS } from '../../src/ingest/db/record-table.ts'
import type { Resource } from '../../src/ingest/resource/resource.ts'
import { forex } from '../../src/ingest/trading/forex.ts'
import { propTrading } from '../../src/ingest/trading/prop-trading.ts'
import { componentOf } from '../../src/platform/http/operation-words.ts'
import { MAX_TEXT } from '../../src/platform/validation/fields.ts'
import { closedObject, nullable, openObject, property } from './json-schema.ts'
import type { JsonSchema } from './types.ts'

/** A record type of a vertical, with its names in documents. */
export interface Entity {
  vertical: string
  /** The resource, as it is named in the address. */
  resource: string
  /** The title of one record. */
  title: string
  /** The file of its schema, such as `forex/customer`. */
  file: string
  /** Its component in OpenAPI, such as `ForexCustomer`. */
  component: string
  /** Returns its schema. `at` is the location of the types. */
  schema: (at: string) => JsonSchema
  /** A record with every optional field. */
  example: Record<string, unknown>
}

/** What the records of partners are. */
const PARTNERS: Record<string, string> = {
  customers:
    'A trader account, identified by `customer_id`. Sending it again replaces the whole record.',
  transactions:
    'A financial event on a trader account, identified by `transaction_id`. Sending it again replaces the whole record.',
  'trading-activity':
    'The activity of one trader on one day, in one instrument and one currency. Sending it again replaces the whole record.',
}

/** What the records of brands are. */
const BRANDS: Record<string, string> = {
  customers:
    'A player, identified by `customerId`. When you send a customer again, fields that you leave out keep their stored values. Fields that are not listed here are stored as sent.',
  activities:
    'One event, or one day of one customer with several KPIs. An activity is identified by its `eventid`. Without one, a daily aggregate is identified by `eventname`, `customerid`, day, `Currency` and product, and any other record is an event of its own. Fields that are not listed here are KPI fields if they are decimals and details otherwise; all are stored.',
}

const kebab = (title: string) => title.toLowerCase().replaceAll(' ', '-')

const namesOf = (vertical: string, { name, title }: { name: string; title: string }) => ({
  vertical,
  resource: name,
  title,
  file: `${vertical}/${kebab(title)}`,
  component: componentOf(vertical, title),
})

const examplesIn = (schema: JsonSchema): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) => [
      name,
      (property.examples as unknown[] | undefined)?.[0] ?? (property.enum as unknown[])[0],
    ]),
  )

/** Rules that need the whole request or the database. */
const REFERENCE_RULES: Record<string, Record<string, string>> = {
  customers: {
    unknown_affiliate:
      'The affiliate must be configured. Otherwise the record has a warning, or an error if the policy of the account is `reject`.',
  },
  transactions: {
    unknown_customer:
      'The customer must have been sent before, unless the policy of the account is `hold`.',
  },
}

function partnerEntity(vertical: string, resource: Resource): Entity {
  const { name, title, key, fields } = resource
  const schemaAt = (at: string): JsonSchema => ({
    title: `${title} (${vertical})`,
    description: PARTNERS[name],
    ...closedObject(fields, at),
    'x-key': key,
    'x-rules': {
      duplicate_key: `Two records of a request must not have the same ${key.join(', ')}.`,
      ...(REFERENCE_RULES[name] ?? REFERENCE_RULES.transactions),
    },
  })
  return { ...namesOf(vertical, resource), schema: schemaAt, example: examplesIn(schemaAt('')) }
}

const anyCase = (name: string) =>
  name.replace(/[a-z]/gi, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`)

/** Returns the pattern of names that differ from these only by case. */
const caseVariantsOf = (names: readonly string[]) =>
  `^(?!(?:${names.join('|')})$)(?:${names.map(anyCase).join('|')})$`

/** Forbids members whose names differ from these only by case, unless they are null. */
const forbidCaseVariants = (names: readonly string[]): JsonSchema => ({
  [caseVariantsOf(names)]: { description: 'A name with the wrong case.', type: 'null' },
})

/** The rules of additional members. */
const EXTRAS = {
  text: 'Names and text, at any depth, must not contain NUL characters or unpaired surrogates.',
  number: 'Numbers must be within the range of a double.',
  digits: 'Numbers have at most 15 significant digits.',
}

/** The rules of additional members of an activity, which may be KPIs. */
const KPIS = {
  ...EXTRAS,
  number: `${EXTRAS.number} KPIs are decimals of at most ${MAX_CHARACTERS} characters.`,
  digits: `${EXTRAS.digits} KPIs are within ±10^15 and have at most 8 decimal places.`,
  field_case: 'A record has at most one member whose name is `product` in any letter case.',
  type: 'Must be text if an event definition names the member as the product line.',
  length: `The product line has 1 to ${MAX_TEXT} characters.`,
}

/** The scope of the schema: event definitions belong to accounts. */
const WITHOUT_DEFINITION =
  'This schema applies to events without an event definition. A definition can name another member as the product line, and KPIs that differ from these names only by case.'

/** Requires `Value` or at least one KPI. */
const requireAmount = (at: string): JsonSchema => ({
  anyOf: [
    { title: 'with Value', required: ['Value'], properties: { Value: { not: { type: 'null' } } } },
    {
      title: 'with a KPI',
      not: {
        properties: Object.fromEntries(KNOWN_MEMBERS.map((name) => [name, true])),
        patternProperties: { [`^${anyCase('product')}$`]: true },
        additionalProperties: { not: { $ref: `${at}Decimal` } },
      },
    },
  ],
})

/** The product line, which has a name in any letter case. */
const productOf = ({ product }: Resource['fields'], at: string): JsonSchema => {
  const { examples: _, ...schema } = nullable(property(product!, at))
  return schema
}

function brandEntity(resource: Resource): Entity {
  const { name, title, key, fields, required, neverRejected } = resource
  const description = BRANDS[name]
  const isActivity = name === 'activities'
  const open = (at: string): JsonSchema => ({
    title: `${title} (${igaming.vertical})`,
    description: isActivity ? `${description} ${WITHOUT_DEFINITION}` : description,
    ...openObject(fields, required, neverRejected, at),
    patternProperties: {
      ...forbidCaseVariants(isActivity ? KNOWN_MEMBERS : required),
      ...(isActivity && { [caseVariantsOf(['product'])]: productOf(fields, at) }),
    },
    additionalProperties: { 'x-rules': isActivity ? KPIS : EXTRAS },
    ...(isActivity && requireAmount(at)),
    'x-key': key,
    'x-rules': {
      length: isActivity
        ? 'There are at most 64 additional members, in 16 KiB of JSON; at most 32 of them are KPIs.'
        : 'There are at most 64 additional members in a record, in 16 KiB of JSON, and 64 for a customer in total, in 40 KiB.',
      ...(isActivity && {
        required: 'An event definition can require `eventid`.',
        no_kpi: 'With an event definition, only the members that it names are KPIs.',
        unknown_customer:
          'The customer must have been sent before if the policy of the account is `reject`.',
      }),
    },
  })
  return {
    ...namesOf(igaming.vertical, resource),
    schema: open,
    example: exampleOf(open(''), isActivity),
  }
}

/** Adds an additional member to the example of a brand's record. */
const exampleOf = (schema: JsonSchema, isActivity: boolean) => ({
  ...examplesIn(schema),
  ...(isActivity ? { deposit_type: 'card' } : { crm_status: 'vip' }),
})

/** All record types, in the order in which they are documented. */
export const ENTITIES: readonly Entity[] = [
  ...[propTrading, forex].flatMap(({ vertical, resources }) =>
    resources.map((resource) => partnerEntity(vertical, resource)),
  ),
  ...igaming.resources.map(brandEntity),
]
