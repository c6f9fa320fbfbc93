import type { JsonSchema } from '../types.ts'

// The building blocks of response schemas.

/** The location of schemas in the components. */
export const AT = '#/components/schemas/'

/** Any text. */
export const TEXT: JsonSchema = { type: 'string' }

/** Describes an enumeration. */
export const oneOf = (...values: string[]): JsonSchema => ({ type: 'string', enum: values })

/** Allows null beside the type of a schema. */
export const orNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: [type, 'null'],
})
