import * as v from 'valibot'
import { converted, type JsonSchema, TYPES } from './types.ts'

/** The schema of a field. */
type Field = v.GenericSchema & { pipe?: readonly unknown[]; wrapped?: v.GenericSchema }

const partsOf = ({ pipe }: Field): readonly unknown[] => pipe ?? []

/** The documentation of a field: see `src/validation/fields.ts`. */
interface Metadata {
  description?: string
  examples?: readonly unknown[]
}

/** Returns the name of the type that a field extends: the one with the longest common beginning. */
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

/** Converts a field to JSON Schema: a reference to its type, if it has one, with its description. */
export function property(field: v.GenericSchema, at: string): JsonSchema {
  const { type, wrapped } = field as Field
  if (type === 'optional') return property(wrapped!, at)
  if (type === 'nullable') return nullable(property(wrapped!, at))
  const name = typeOf(field)
  const { description, examples = [] } = v.getMetadata(field as never) as Metadata
  return {
    ...(name ? { $ref: `${at}${name}` } : converted(field)),
    ...(description && { description }),
    ...(examples.length > 0 && { examples }),
  }
}

/** Allows null beside a schema. Keeps the description outside. */
export function nullable({ description, examples, ...schema }: JsonSchema): JsonSchema {
  return {
    anyOf: [schema, { type: 'null' }],
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
  }
}

/** Describes an object with these members and no others. */
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
 * Describes an object with these members and others. An optional member may be null. A forgiven
 * member may have any value.
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
      const { $ref, ...metadata } = property(field as Field, at)
      if (forgiven.includes(name)) return [name, metadata]
      const known = { $ref, ...metadata }
      return [name, required.includes(name) ? known : nullable(known)]
    }),
  ),
  required: [...required],
})
