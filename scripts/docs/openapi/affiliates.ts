import { kindOf } from '../../../src/affiliates/members.ts'
import { documented } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { affiliateAnswers } from './derived.ts'
import { AT } from './operation.ts'

// The API of affiliates. Its answers are those of accounts, without what is hidden.

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

/**
 * Returns the components of answers as affiliates see them.
 *
 * @throws Error if nobody has decided what a member is: see `MEMBERS` in src/affiliates/members.ts.
 */
export function affiliateSchemas(all: Schemas): Record<string, JsonSchema> {
  const showing: Showing = { all, added: {}, undecided: new Set() }
  const answers = affiliateAnswers().map(([name, answer]) => [name, shown(answer, '', showing)])
  if (showing.undecided.size > 0) {
    throw new Error(`What are these members to affiliates? ${[...showing.undecided].join(', ')}`)
  }
  return { ...Object.fromEntries(answers), ...showing.added }
}
