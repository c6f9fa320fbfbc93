import * as v from 'valibot'
import { converted, type JsonSchema, TYPES } from './types.ts'

/** Any field of a record. */
type Field = v.GenericSchema & { pipe?: readonly unknown[]; wrapped?: v.GenericSchema }

const partsOf = ({ pipe }: Field): readonly unknown[] => pipe ?? []

/** What is said of a field: see `about`. */
interface Said {
  description?: string
  examples?: readonly unknown[]
}

/** The type that a field is of: the one that has most in common with its beginning. */
function typeOf(field: Field): string | null {
  const own = partsOf(field)
  const isBegun = (type: Field) =>
    type.pipe
      ? partsOf(type).every((part, i) => part === own[i])
      : type === field || type === own[0]
  const found = Object.entries(TYPES)
    .filter(([, type]) => isBegun(type.field))
    .sort(([, a], [, b]) => partsOf(b.field).length - partsOf(a.field).length)
  return found[0]?.[0] ?? null
}

/** A field as JSON Schema: a reference to its type where it has one, and what is said of it. */
export function property(field: v.GenericSchema, at: string): JsonSchema {
  const { type, wrapped } = field as Field
  if (type === 'optional') return property(wrapped!, at)
  if (type === 'nullable') return nullable(property(wrapped!, at))
  const name = typeOf(field)
  const { description, examples = [] } = v.getMetadata(field as never) as Said
  return {
    ...(name ? { $ref: `${at}${name}` } : converted(field)),
    ...(description && { description }),
    ...(examples.length > 0 && { examples }),
  }
}

/** The same, or null. */
export function nullable({ description, examples, ...schema }: JsonSchema): JsonSchema {
  return {
    anyOf: [schema, { type: 'null' }],
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
  }
}

/** An object with these members and no others. */
export const closedObject = (entries: v.ObjectEntries, at: string): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(entries).map(([name, field]) => [name, property(field as Field, at)]),
  ),
  required: Object.entries(entries)
    .filter(([, field]) => (field as Field).type !== 'optional')
    .map(([name]) => name),
  additionalProperties: false,
})

/**
 * An object with these members, and others. Null is as good as left out, and what is forgiven may
 * be anything.
 */
export const openObject = (
  entries: v.ObjectEntries,
  required: readonly string[],
  forgiven: readonly string[],
  at: string,
): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(entries).map(([name, field]) => {
      const { $ref, ...said } = property(field as Field, at)
      if (forgiven.includes(name)) return [name, said]
      const known = { $ref, ...said }
      return [name, required.includes(name) ? known : nullable(known)]
    }),
  ),
  required: [...required],
})
