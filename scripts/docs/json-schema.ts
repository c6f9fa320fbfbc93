import * as v from 'valibot'
import { converted, type JsonSchema, TYPES } from './types.ts'

/** The schema of a field. */
type Field = v.GenericSchema & { pipe?: readonly unknown[]; wrapped?: v.GenericSchema }

const partsOf = ({ pipe }: Field): readonly unknown[] => pipe ?? []

/** The documentation of a member: see `src/platform/validation/fields.ts`. */
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

/** A schema, or a part of one, as far as documents need it. */
type Part = Field & {
  component?: string
  entries?: v.ObjectEntries
  item?: v.GenericSchema
  items?: readonly v.GenericSchema[]
  value?: v.GenericSchema
  options?: readonly (v.GenericSchema | string)[]
}

const isOptional = ({ type }: v.GenericSchema) => type === 'optional' || type === 'exact_optional'

const documentationOf = (field: v.GenericSchema) => {
  const { description, examples = [] } = v.getMetadata(field as never) as Metadata
  return {
    ...(description && { description }),
    ...(examples.length > 0 && { examples }),
  }
}

/** Converts an object, a list or a choice of schemas, without its description; null if it is neither. */
function composed(field: Part, at: string): JsonSchema | null {
  const { type, entries, item, items, value, options } = field
  if ((type === 'object' || type === 'strict_object') && entries) {
    const members = Object.entries(entries)
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, one]) => [name, property(one, at)])),
      required: members.filter(([, one]) => !isOptional(one)).map(([name]) => name),
      ...(type === 'strict_object' && { additionalProperties: false }),
    }
  }
  if (item) return { type: 'array', items: property(item, at) }
  // The items of our tuples have one schema.
  if (type === 'tuple' && items?.[0]) {
    const { length } = items
    return { type: 'array', items: property(items[0], at), minItems: length, maxItems: length }
  }
  if (type === 'record' && value)
    return { type: 'object', additionalProperties: property(value, at) }
  if ((type === 'union' || type === 'variant') && options)
    return { anyOf: options.map((one) => property(one as v.GenericSchema, at)) }
  return null
}

const LENGTHS: Readonly<Record<string, string>> = { min_length: 'minItems', max_length: 'maxItems' }

/** Returns the least and the greatest length of a list. */
const lengthsOf = (field: Field): JsonSchema =>
  Object.fromEntries(
    partsOf(field).flatMap((part) => {
      const { type, requirement } = part as { type: string; requirement?: number }
      return LENGTHS[type] ? [[LENGTHS[type], requirement]] : []
    }),
  )

/** Converts a field to JSON Schema: a reference to its type, if it has one, with its description. */
export function property(field: v.GenericSchema, at: string): JsonSchema {
  const { type, wrapped, component } = field as Part
  if (component) return { $ref: `${at}${component}`, ...documentationOf(field) }
  if (isOptional(field)) return property(wrapped!, at)
  if (type === 'nullable') return nullable(property(wrapped!, at))
  const name = typeOf(field)
  if (name) return { $ref: `${at}${name}`, ...documentationOf(field) }
  // What has rules of its own is converted rule by rule, but for a list that has only a length.
  const rules = partsOf(field)
    .slice(1)
    .filter((one) => (one as { kind: string }).kind === 'validation')
  const isComposed = rules.every((one) => LENGTHS[(one as { type: string }).type])
  const json = (isComposed && composed(field as Part, at)) || converted(field)
  if ('item' in field) Object.assign(json, lengthsOf(field))
  return { ...json, ...documentationOf(field) }
}

/** Returns the schemas with a name in these schemas, by their names. */
export function componentsIn(
  schemas: readonly v.GenericSchema[],
  at: string,
): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = {}
  const visit = (schema: v.GenericSchema) => {
    const { type, component, wrapped, entries, item, value, options } = schema as Part
    if (component) {
      // See `referred`.
      if (found[component] || type === 'custom') return
      // The description is that of a member with this schema.
      const {
        description: _,
        examples: __,
        ...own
      } = property({ ...schema, component: undefined } as never, at)
      found[component] = own
    }
    for (const one of [wrapped, item, value, ...Object.values(entries ?? {}), ...(options ?? [])])
      if (typeof one === 'object') visit(one as v.GenericSchema)
  }
  for (const schema of schemas) visit(schema)
  return found
}

/** Allows null beside a schema. Keeps the description outside. */
export function nullable({ description, examples, ...schema }: JsonSchema): JsonSchema {
  const types = ['string', 'number', 'integer', 'boolean', 'object']
  const isSimple = types.includes(String(schema.type)) && !schema.enum
  return {
    ...(isSimple
      ? { ...schema, type: [schema.type, 'null'] }
      : { anyOf: [schema, { type: 'null' }] }),
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
  }
}

/** Describes an object with these members and no others. */
export const closedObject = (entries: v.ObjectEntries, at: string): JsonSchema =>
  property(v.strictObject(entries), at)

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
