import type * as v from 'valibot'
import type { Values } from '../base/page.ts'

// Forms are made from the schemas of request bodies, so that their fields, choices and meanings are those
// of the API reference.

/** A schema of a request's member, or a part of one, as far as a form needs it. */
export interface Schema {
  readonly type: string
  readonly wrapped?: Schema
  readonly pipe?: readonly object[]
  readonly item?: Schema
  readonly options?: unknown
  readonly literal?: unknown
  readonly requirement?: unknown
  readonly entries?: Schemas
  /** The objects of which it is one, by the member that only that one has. */
  readonly forms?: Schemas
}

/** The schemas of a request's members. */
export type Schemas = Readonly<Record<string, Schema>>

/** How a form shows a member of a request. What it means is in field-words.ts. */
export interface Described {
  /** What can be chosen; empty for free text. */
  readonly choices: readonly string[]
  readonly isList: boolean
  readonly isRequired: boolean
  readonly type: string
}

/** Returns a schema and every schema and action in it. */
export function partsOf(schema: Schema): Schema[] {
  const inner = [schema.wrapped, schema.item, ...((schema.pipe ?? []) as Schema[])]
  const parts = inner.flatMap((part) => (part && part !== schema ? partsOf(part) : []))
  return [schema, ...parts]
}

/** Describes a member of a request by its schema. */
export function describe(schema: Schema): Described {
  const parts = partsOf(schema)
  const has = (type: string) => parts.some((part) => part.type === type)
  const options = parts.find(({ type }) => type === 'picklist')?.options
  const choices = Array.isArray(options) ? options : []
  const isNumber = has('number') || choices.some((choice) => typeof choice === 'number')
  return {
    choices: has('boolean') ? ['true', 'false'] : choices.map(String),
    isList: has('array'),
    isRequired: !has('optional'),
    type: has('boolean') ? 'boolean' : isNumber ? 'number' : 'text',
  }
}

/** Returns what a form sends for a value of a member. */
export const formText = (value: unknown): string =>
  Array.isArray(value) ? value.join('\n') : String(value ?? '')

/** Returns the text that a member of a form has. A list has a box for each choice, or a line for each text. */
const sentText = (values: Values, name: string, { isList, choices }: Described) =>
  isList && choices.length > 0
    ? choices.filter((choice) => values(`${name}:${choice}`)).join()
    : textOf(values(name))

const textOf = (text: string) => text.replaceAll('\r\n', '\n').trim()

function toValue(text: string, { isList, choices, type }: Described): unknown {
  if (isList) return text.split(choices.length > 0 ? ',' : '\n').filter(Boolean)
  if (text === '') return null
  // Boxes that are ticked have any other text.
  if (type === 'boolean') return text !== 'false'
  // Text that is not a number is sent unchanged, so that the API refuses it and names the field.
  return type === 'number' && Number.isFinite(Number(text)) ? Number(text) : text
}

/**
 * Returns the body of a request: the members that the form has changed. The others are left out, so that
 * the audit log has only what was changed, and so that other changes made meanwhile are kept.
 */
export function changedMembers<E extends Schemas>(
  schemas: E,
  values: Values,
): E extends v.ObjectEntries ? v.InferInput<v.ObjectSchema<E, undefined>> : object {
  const changed = Object.entries(schemas).flatMap(([name, schema]) => {
    const described = describe(schema)
    const text = sentText(values, name, described)
    if (text === textOf(values(`was:${name}`))) return []
    return [[name, toValue(text, described)] as const]
  })
  // The operation checks each member.
  return Object.fromEntries(changed) as never
}
