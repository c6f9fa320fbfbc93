import { addressOfCode, EXPLAINED } from '../../explained.ts'
import { type Html, html, type Part } from '../html.ts'
import { inline } from '../markdown.ts'
import { nameOf, type Schema } from '../spec.ts'

/** Enumerations above this size are listed only with the schema itself. */
const MAX_INLINE_VALUES = 8

const code = (value: unknown) =>
  html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`

const joined = (parts: readonly Part[], separator: string) =>
  parts.map((part, i) => (i === 0 ? part : [separator, part]))

/** The members of a schema that say of which type a value is. Others only narrow a type. */
const TYPE_KEYWORDS = ['$ref', 'type', 'const', 'enum', 'anyOf', 'oneOf', 'items'] as const

const hasType = (schema: Schema) => TYPE_KEYWORDS.some((keyword) => schema[keyword] !== undefined)

/** Returns the types of which a value has one. Empty if the schema has a single type. */
const alternativesOf = ({ anyOf, oneOf }: Schema): Schema[] =>
  (oneOf ?? anyOf ?? []).filter(hasType)

/** Describes the types of which a value has one, each once: all objects are called so. */
function typesOf(schemas: readonly Schema[], separator: string): Part {
  const types = schemas.map((schema) => html`${typeOf(schema)}`)
  const distinct = new Map(types.map((type) => [type.html, type]))
  return joined([...distinct.values()], separator)
}

function range(from: number | undefined, to: number | undefined, unit = ''): Part {
  if (from === undefined && to === undefined) return null
  if (to === undefined) return `, ${from} or more${unit}`
  if (from === undefined) return `, at most ${to}${unit}`
  // A symmetric range is the exact range of a double, which the text of the rule explains.
  return from === -to ? null : `, ${from} to ${to}${unit}`
}

function objectType({ type, additionalProperties }: Schema): Part {
  return type === 'object' && typeof additionalProperties === 'object'
    ? ['map of ', typeOf(additionalProperties)]
    : null
}

/** Describes the type of a value in words. A named type is a link to its schema. */
export function typeOf(schema: Schema): Part {
  const { $ref, allOf = [], items, type, format, minimum, maximum } = schema
  if ($ref) return html`<a href="#schema-${nameOf($ref)}">${nameOf($ref)}</a>`
  if (schema.const !== undefined) return code(schema.const)
  if (schema.enum && schema.enum.length <= MAX_INLINE_VALUES) {
    return joined(schema.enum.map(code), ' or ')
  }
  if (schema.enum) return `one of ${schema.enum.length} values`
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) return typesOf(alternatives, ' or ')
  if (!type && allOf.some(hasType)) return typesOf(allOf.filter(hasType), ' with ')
  if (items) return ['array', range(schema.minItems, schema.maxItems), ' of ', typeOf(items)]
  const words = [type ?? 'any value'].flat()
  const isFormat = format !== undefined && words[0] === 'string'
  const hasLength = (schema.minLength ?? 0) > 1 || schema.maxLength !== undefined
  return (
    objectType(schema) ?? [
      isFormat ? [format, ...words.slice(1)].join(' or ') : words.join(' or '),
      range(minimum, maximum),
      hasLength && range(schema.minLength, schema.maxLength, ' characters'),
    ]
  )
}

const example = ({ examples = [] }: Schema) =>
  examples.length > 0 && html` <span class="example">Example: ${code(examples[0])}</span>`

/** Returns the member by whose value an object can be told from its alternatives, and this value. */
const discriminatorOf = ({ properties = {} }: Schema): [name: string, value: unknown] | undefined =>
  Object.entries(properties)
    .map(([name, field]): [string, unknown] => [
      name,
      field.enum?.length === 1 ? field.enum[0] : field.const,
    ])
    .find(([, value]) => value !== undefined)

/** Says to which objects the members below it belong. */
function alternativeLabel(schema: Schema): Html {
  const [name, value] = discriminatorOf(schema) ?? []
  const { required = [] } = schema
  const condition = name
    ? ['If ', code(name), ' is ', code(value)]
    : ['With ', joined(required.map(code), ', ')]
  return html`<p class="alternative">${condition}:</p>\n`
}

/** Lists the members of an object, and the members of the objects inside it. */
export function fieldsOf(schema: Schema): Part {
  const objects = alternativesOf(schema)
    .map((one) => one.items ?? one)
    .filter(({ properties }) => properties)
  return [
    memberList(schema),
    objects.map((one) => [objects.length > 1 && alternativeLabel(one), memberList(one)]),
  ]
}

function memberList({ properties = {}, required = [] }: Schema): Part {
  const fields = Object.entries(properties)
  if (fields.length === 0) return null
  return html`<dl class="fields">
${fields.map(
  ([name, field]) => html`<div><dt><code>${name}</code> <span class="type">${typeOf(field)}</span>${
    required.includes(name) && html` <span class="required">required</span>`
  }</dt><dd>${field.description && inline(field.description)}${example(field)}${fieldsOf(
    field.items ?? field,
  )}</dd></div>
`,
)}</dl>
`
}

/** Returns the key if each of its members is required. Other keys need the explanation in the text. */
const requiredKey = ({ 'x-key': key = [], required = [] }: Schema) =>
  key.every((name) => required.includes(name)) ? key : []

/** Renders a named schema, folded below its name: its description, its members and the rules that no keyword expresses. */
export function schemaSection(name: string, schema: Schema): Html {
  const { description, properties, enum: values = [] } = schema
  const key = requiredKey(schema)
  return html`<details class="folded"><summary><h3>${name}</h3></summary>
<section class="schema" id="schema-${name}">
${description && html`<p>${inline(description)}</p>`}
${!properties && values.length <= MAX_INLINE_VALUES && html`<p class="type">${typeOf(schema)}</p>`}
${values.length > MAX_INLINE_VALUES && html`<p class="values">${joined(values.map(code), ' ')}</p>`}
${key.length > 0 && html`<p>Key: ${joined(key.map(code), ', ')}.</p>`}
${fieldsOf(schema)}
${rulesOf(schema)}
</section></details>
`
}

/** Lists the rules that no keyword of JSON Schema expresses. */
export function rulesOf(schema: Schema): Part {
  const { additionalProperties: others } = schema
  const extraRules = typeof others === 'object' && others['x-rules']
  return [
    extraRules && html`<p>Other members are accepted and kept:</p>\n${ruleList(extraRules)}`,
    schema['x-rules'] && html`<p>Additional rules:</p>\n${ruleList(schema['x-rules'])}`,
  ]
}

const ruleList = (rules: Record<string, string>) => html`<ul>${Object.entries(rules).map(
  ([rule, text]) =>
    html`<li><a href="${ruleAddress(rule)}"><code>${rule}</code></a> ${inline(text)}</li>`,
)}</ul>
`

/** Rules for the request as a whole are problems. */
const ruleAddress = (rule: string) =>
  addressOfCode(rule in EXPLAINED.rule ? 'rule' : 'problem', rule)
