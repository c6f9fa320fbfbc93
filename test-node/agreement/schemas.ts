import { readFileSync } from 'node:fs'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

// Validates records with the committed schemas and a validator that knows nothing of the service.

/** A JSON Schema, as far as the tests look into it. */
export interface Schema {
  $ref?: string
  anyOf?: Schema[]
  enum?: string[]
  maxLength?: number
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  examples?: Record<string, unknown>[]
  $defs?: Record<string, Schema>
  'x-key'?: string[]
  'x-rules'?: Record<string, string>
}

// Strict mode knows no other keywords than these two, and those of draft 2020-12.
const ajv = new Ajv2020({ strict: true, allErrors: true })
addFormats.default(ajv, { mode: 'full' })
// ajv-formats has no pattern for it; that of the schema decides.
ajv.addFormat('idn-email', true)
ajv.addVocabulary(['x-key', 'x-rules'])

/** A schema file and its validator. */
export interface SchemaValidator {
  schema: Schema
  validate: ValidateFunction
}

/** Reads a schema file: `forex/customer`. */
export function readSchemaValidator(file: string): SchemaValidator {
  const schema = JSON.parse(readFileSync(`schemas/v1/${file}.json`, 'utf8'))
  return { schema, validate: ajv.compile(schema) }
}

/** Returns the name of a member's type, or null if it has none or may be anything. */
export function typeOf(member: Schema): string | null {
  const { $ref } = member.anyOf?.find((one) => one.$ref) ?? member
  return $ref?.replace('#/$defs/', '') ?? null
}

/** One step of a pointer (RFC 6901). */
const step = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Returns the pointer to the member that a pointer leads to or into; '' is the record itself. */
export const memberOf = (pointer: string) => /^(?:\/[^/]*)?/.exec(pointer)![0]

/** Returns the name in such a pointer. */
export const nameOf = (member: string) =>
  member.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')

/** Returns the member that an error of Ajv is about. */
function memberInError({ instancePath, params }: ErrorObject): string {
  const name = params.missingProperty ?? params.additionalProperty
  return instancePath === '' && name !== undefined ? step(name) : memberOf(instancePath)
}

/** The codes that the service may report for a keyword: of several broken rules it reports the first. */
const CODES: Record<string, string[]> = {
  required: ['required'],
  additionalProperties: ['unknown_field'],
  // The validator does not count 1e400 as a number, and the service counts null as left out.
  type: ['type', 'required', 'number'],
  minLength: ['length', 'date_time'],
  maxLength: ['length', 'date_time', 'number'],
  pattern: ['text', 'pattern', 'email', 'date', 'date_time', 'number'],
  format: ['email', 'date', 'date_time'],
  enum: ['enum', 'currency', 'length', 'text'],
  minimum: ['minimum', 'digits'],
  maximum: ['digits'],
  anyOf: ['no_kpi'],
}

/** Returns the codes for an error of Ajv. A name of the wrong case may only have the value null. */
const codesFor = ({ keyword, params }: ErrorObject) =>
  params.type === 'null' ? ['field_case'] : (CODES[keyword] ?? [])

/**
 * Returns the members that a schema refuses, or '' for the record, each with the codes that explain it;
 * none if it accepts the value.
 */
export function refusedBy({ validate }: SchemaValidator, value: unknown): Map<string, Set<string>> {
  const refused = new Map<string, Set<string>>()
  if (validate(value)) return refused
  for (const error of validate.errors!) {
    // Of `anyOf` only the failure as a whole is an error, not that of each alternative.
    if (error.schemaPath.startsWith('#/anyOf/')) continue
    const member = memberInError(error)
    refused.set(member, new Set([...(refused.get(member) ?? []), ...codesFor(error)]))
  }
  return refused
}

/** Rules of the whole record and its references, which stand at the top of a schema. */
const AT_TOP = ['duplicate_key', 'unknown_customer', 'unknown_affiliate', 'required']

/** Whether a code is in the `x-rules` of this member. */
export function isInRules({ schema }: SchemaValidator, member: string, code: string): boolean {
  const { properties, $defs, additionalProperties: others } = schema
  const top = schema['x-rules'] ?? {}
  if (member === '') return Object.hasOwn(top, code)
  if (AT_TOP.includes(code)) return Object.hasOwn(top, code)
  const name = nameOf(member)
  const isListed = Object.hasOwn(properties!, name)
  const type = isListed ? typeOf(properties![name]!) : null
  const rules = isListed ? $defs![type ?? ''] : typeof others === 'object' ? others : undefined
  return Object.hasOwn(rules?.['x-rules'] ?? {}, code)
}
