import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'

// The building blocks of response schemas.

/** The location of schemas in the components. */
export const AT = '#/components/schemas/'

/** Any text. */
export const TEXT: JsonSchema = { type: 'string' }

/** A date-time. */
export const TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** A day. */
export const DAY: JsonSchema = { type: 'string', format: 'date' }

/** A count. */
export const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

/** A boolean. */
export const FLAG: JsonSchema = { type: 'boolean' }

/** Describes an enumeration. */
export const oneOf = (...values: string[]): JsonSchema => ({ type: 'string', enum: values })

/** Describes a list. */
export const listed = (description: string, items: JsonSchema) =>
  documented(description, { type: 'array', items })

/** Allows null beside the type of a schema. */
export const orNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: [type, 'null'],
})

/** The vertical of an account. */
export const vertical = documented(
  'The vertical, which determines the API.',
  oneOf('prop-trading', 'forex', 'igaming'),
)

/** A public key. */
export const jwk = object({ kty: TEXT, n: TEXT, e: TEXT, alg: TEXT, use: TEXT, kid: TEXT })

/** The scope of credentials. */
export const scope = documented('The granted scopes: a subset of `read write`.')
