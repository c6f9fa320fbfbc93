import { kindOf } from '../../../src/affiliate/members.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { type Operation, READ_HEADERS } from './operation.ts'
import { oneOf, orNull, TEXT } from './shapes.ts'

// The API of affiliates. Its answers are those of accounts, without what is hidden.

const AT = '#/components/schemas/'

type Schemas = Readonly<Record<string, JsonSchema>>

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members that are left out under some view. */
const MAY_BE_HIDDEN: ReadonlySet<string> = new Set(['amount', 'country'])

/**
 * Returns a schema as affiliates see it: without the members that are never shown, and with those that may be
 * hidden as optional. Adds the components that it refers to, as affiliates see them, to `added`.
 *
 * @throws Error if nobody has decided what a member is: see `MEMBERS` in src/affiliate/members.ts.
 */
function shown(
  schema: JsonSchema,
  parent: string,
  all: Schemas,
  added: Record<string, JsonSchema>,
) {
  const one = (value: unknown, name = parent): unknown => {
    if (Array.isArray(value)) return value.map((item) => one(item, name))
    return isSchema(value) ? shown(value, name, all, added) : value
  }
  const { $ref, properties, required, ...rest } = schema
  if (typeof $ref === 'string') return { ...rest, $ref: shownRef($ref, parent, all, added) }
  const seen: JsonSchema = {}
  for (const [name, value] of Object.entries(rest)) {
    const isNested = ['items', 'allOf', 'anyOf', 'oneOf'].includes(name)
    seen[name] = isNested ? one(value) : value
  }
  if (!isSchema(properties)) return { ...seen, ...(required !== undefined && { required }) }
  const members = Object.entries(properties).flatMap(([name, value]) => {
    const kind = kindOf(parent, name)
    if (kind === undefined) throw new Error(`What is the member ${parent}.${name} to affiliates?`)
    if (kind === 'never') return []
    return [[name, kind === 'whole' ? value : one(value, name), kind] as const]
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
function shownRef($ref: string, parent: string, all: Schemas, added: Record<string, JsonSchema>) {
  const name = $ref.slice(AT.length)
  const schema = all[name]
  if (!schema) return $ref
  const own = `Shown${name}`
  if (!(own in added)) {
    added[own] = {}
    added[own] = shown(schema, parent, all, added)
  }
  return AT + own
}

const ME = object({
  affiliate_id: documented('The id of the affiliate.'),
  display_name: documented('What the account calls the affiliate.', orNull(TEXT)),
  contact_email: documented('The e-mail address of the affiliate.', orNull(TEXT)),
  account: object({
    name: documented('The display name of the account.'),
    time_zone: documented('The time zone of its days and periods.'),
    mode: documented('Whether the account is a test.', oneOf('live', 'test')),
  }),
  plans: documented(
    'The plans under which the affiliate earns: the one that governs customers who sign up today, and later ones.',
    {
      type: 'array',
      items: object({
        plan: documented('The id of the plan.'),
        name: documented('The name of the plan.'),
        from: documented('The first day on which it governs.', { type: 'string', format: 'date' }),
        customers: documented(
          'Whether it governs all customers, or those who sign up from that day on.',
          oneOf('new', 'all'),
        ),
        version: documented('The version in force.', { type: 'integer', minimum: 1 }),
        rules: documented('Each rule in words.', {
          type: 'array',
          items: object({
            id: TEXT,
            pays: documented('What it pays, and for what.'),
            limits: documented('Its conditions and limits.', { type: 'array', items: TEXT }),
          }),
        }),
        in_words: documented('What holds for all rules, in words.', { type: 'array', items: TEXT }),
        terms: documented('The version as JSON.', { type: 'object' }),
      }),
    },
  ),
  affiliate_view: documented('What the account shows.', { type: 'object' }),
  scope: documented('What the key may do.', oneOf('read', 'read links')),
})

/** An operation whose answer is that of an account. */
interface Reading {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly string[]
  readonly errors?: readonly ErrorCode[]
  readonly answer: JsonSchema
}

const READINGS: readonly Reading[] = [
  {
    id: 'getAffiliateSelf',
    path: '/me',
    summary: 'Get the affiliate',
    description:
      'Returns who the affiliate is, under which plans they earn, in words and as JSON, and what they may see.',
    answer: ME,
  },
]

/** Lists the operations of affiliates. */
export const affiliateApi = (): Operation[] =>
  READINGS.map(({ id, path, summary, description, parameters = [], errors = [], answer }) => ({
    ...{ id, summary, description },
    method: 'get',
    path: `/affiliate/v1${path}`,
    tag: 'affiliate-api',
    caller: 'affiliate',
    parameters: [...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name), ...parameters],
    answers: { 200: { description: 'The answer.', schema: answer, headers: READ_HEADERS } },
    errors: ['invalid_query', ...errors],
  }))
