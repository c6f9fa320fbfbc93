import { CSV_COLUMNS } from '../../../src/affiliate/csv-rows.ts'
import { kindOf } from '../../../src/affiliate/members.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { affiliateAnswers, derivedForAffiliates } from './derived.ts'
import {
  type Answer,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'
import { COUNT, oneOf, orNull, TEXT } from './shapes.ts'

// The API of affiliates. Its answers are those of accounts, without what is hidden.

const AT = '#/components/schemas/'

type Schemas = Readonly<Record<string, JsonSchema>>

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members that are left out under some view. */
const MAY_BE_HIDDEN: ReadonlySet<string> = new Set(['amount', 'country'])

/** The members whose values are shown with everything in them. */
const WHOLE: ReadonlySet<string> = new Set(['whole', 'amount'])

/** What is said of a checksum, which affiliates see under a name of their own. */
const OWN_HASH =
  'It changes whenever the statement changes. A key of the account makes it, so the firm sees another one.'

/** What is made of components, and the members of which nobody has decided what they are. */
interface Showing {
  readonly all: Schemas
  readonly added: Record<string, JsonSchema>
  readonly undecided: Set<string>
}

/**
 * Returns a schema as affiliates see it: without the members that are never shown, and with those that may be
 * hidden as optional. Adds the components that it refers to, as affiliates see them.
 */
function shown(schema: JsonSchema, parent: string, showing: Showing): JsonSchema {
  const one = (value: unknown, name = parent): unknown => {
    if (Array.isArray(value)) return value.map((item) => one(item, name))
    return isSchema(value) ? shown(value, name, showing) : value
  }
  const { $ref, properties, required, ...rest } = schema
  if (typeof $ref === 'string') return { ...rest, $ref: shownRef($ref, parent, showing) }
  const seen: JsonSchema = {}
  for (const [name, value] of Object.entries(rest)) {
    const isNested = ['items', 'allOf', 'anyOf', 'oneOf'].includes(name)
    seen[name] = isNested ? one(value) : value
  }
  if (!isSchema(properties)) return { ...seen, ...(required !== undefined && { required }) }
  const members = Object.entries(properties).flatMap(([name, value]) => {
    const kind = kindOf(parent, name)
    if (kind === undefined) showing.undecided.add(`${parent}.${name}`)
    if (kind === undefined || kind === 'never') return []
    const own = kind === 'hash' ? documented(OWN_HASH) : value
    return [[name, WHOLE.has(kind) ? own : one(own, name), kind] as const]
  })
  return {
    ...seen,
    properties: Object.fromEntries(members.map(([name, value]) => [name, value])),
    required: members
      .filter(([, , kind]) => !MAY_BE_HIDDEN.has(kind))
      .map(([name]) => name)
      .filter((name) => Array.isArray(required) && required.includes(name)),
  }
}

/** Returns the reference to a component as affiliates see it. */
function shownRef($ref: string, parent: string, showing: Showing): string {
  const name = $ref.slice(AT.length)
  const schema = showing.all[name]
  if (!schema) return $ref
  const own = `Shown${name}`
  if (!(own in showing.added)) {
    showing.added[own] = {}
    showing.added[own] = shown(schema, parent, showing)
  }
  return AT + own
}

/** The answers that only affiliates have. */
const OWN = (all: Schemas): Schemas => {
  const {
    customer_id: _,
    affiliate_id: __,
    ...state
  } = (all.Qualification?.properties ?? {}) as Record<string, JsonSchema>
  return {
    CustomerState: object({
      ...state,
      status: documented(
        '`waiting`: something is `missing`. `failed`: a window closed. `refused`: a condition does not hold, or the trigger was reversed. `already_counted`: the rule has paid for the customer before the affiliate had them.',
        oneOf('qualified', 'waiting', 'failed', 'refused', 'already_counted'),
      ),
      amount: documented(
        'What a statement pays for it. Null unless it is `qualified` and a statement has it that the affiliate may see.',
        orNull(TEXT),
      ),
      currency: documented('The currency of the amount.', orNull(TEXT)),
    }),
    AffiliateLinePart: {
      anyOf: [
        ref('LinePart'),
        object({
          records: documented('The records of all customers of affiliates below.', COUNT),
          base: documented('What they add to the base.', orNull(TEXT)),
          units: documented('What they add to the units.', orNull(TEXT)),
        }),
      ],
    },
  }
}

/** Returns the schema of one page with these other members. */
const pageWith = (name: string, more: Record<string, JsonSchema> = {}): JsonSchema => ({
  type: 'object',
  properties: { data: { type: 'array', items: ref(name) }, meta: ref('Meta'), ...more },
  required: ['data', 'meta', ...Object.keys(more)],
})

/** An operation whose answer is that of an account, without what is hidden. */
interface Reading {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly string[]
  readonly errors?: readonly ErrorCode[]
  readonly answer: JsonSchema
  readonly type?: readonly string[]
}

const READINGS: readonly Reading[] = [
  {
    id: 'explainAffiliateLine',
    path: '/lines/{line_id}/explain',
    summary: 'Explain a line',
    description:
      'Returns every step from the records to the amount. With `Accept: text/plain` it returns sentences.',
    parameters: ['own_line_period'],
    errors: ['not_found', 'validation_failed'],
    answer: ref('Explanation'),
    type: ['application/json', 'text/plain'],
  },
  {
    id: 'listAffiliateLineParts',
    path: '/lines/{line_id}/parts',
    summary: 'List the parts of a line',
    description:
      'Returns what each customer adds to a line. The customers of affiliates below are one part in all, unless the account shows them.',
    parameters: [...PAGING, 'own_line_period'],
    errors: ['not_found', 'validation_failed'],
    answer: pageWith('AffiliateLinePart'),
  },
  {
    id: 'getAffiliateUnearned',
    path: '/unearned',
    summary: 'Get what earned nothing',
    description: 'Returns the records of a period that no line counts, in groups, with the reason.',
    parameters: ['period_required', 'reason_query', 'own_customer'],
    errors: ['validation_failed'],
    answer: ref('Unearned'),
  },
  {
    id: 'listAffiliateUnearnedRecords',
    path: '/unearned/facts',
    summary: 'List the records that earned nothing',
    description: 'Returns the records of a period that no line counts, each with the reason.',
    parameters: [...PAGING, 'period_required', 'reason_query', 'own_customer'],
    errors: ['validation_failed'],
    answer: pageWith('UnearnedRecord'),
  },
]

/**
 * Returns the components of answers as affiliates see them.
 *
 * @throws Error if nobody has decided what a member is: see `MEMBERS` in src/affiliate/members.ts.
 */
export function affiliateSchemas(accounts: Schemas): Record<string, JsonSchema> {
  const all = { ...accounts, ...OWN(accounts) }
  const showing: Showing = { all, added: {}, undecided: new Set() }
  const answers = [
    ...affiliateAnswers(),
    ...READINGS.map(({ id, answer }) => [`${pascalCase(id)}Answer`, answer] as const),
  ].map(([name, answer]) => [name, shown(answer, '', showing)])
  if (showing.undecided.size > 0) {
    throw new Error(`What are these members to affiliates? ${[...showing.undecided].join(', ')}`)
  }
  return { ...Object.fromEntries(answers), ...showing.added }
}

/** Returns the headers of an answer. */
const headersOf = ({ answer }: Pick<Reading, 'answer'>) =>
  JSON.stringify(answer).includes('"#/components/schemas/Meta"') ? PAGE_HEADERS : READ_HEADERS

/** Returns the CSV of a list, if it is CSV as well. */
function csvOf(path: string, answer: JsonSchema): Pick<Answer, 'also' | 'headers'> {
  const columns = CSV_COLUMNS.get(path.slice(1))
  if (!columns) return {}
  return {
    headers: [...headersOf({ answer }), 'Content-Disposition'],
    also: { 'text/csv': { schema: TEXT, example: `${columns.join()}\r\n` } },
  }
}

/** Lists the operations of affiliates. */
export const affiliateApi = (): Operation[] => [
  ...derivedForAffiliates(),
  ...READINGS.map(
    ({ id, path, summary, description, parameters = [], errors = [], ...reading }) => ({
      ...{ id, summary, description },
      method: 'get' as const,
      path: `/affiliate/v1${path}`,
      tag: 'affiliate-api',
      caller: 'affiliate' as const,
      parameters: [...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name), ...parameters],
      answers: {
        200: {
          description: 'The answer.',
          schema: ref(`${pascalCase(id)}Answer`),
          headers: headersOf(reading),
          ...(reading.type && { type: reading.type }),
          ...csvOf(path, reading.answer),
        },
      },
      errors: ['invalid_query' as const, ...errors],
    }),
  ),
]
