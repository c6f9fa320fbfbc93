import { type Html, html, type Part } from '../html.ts'
import { inline } from '../markdown.ts'
import { nameOf, type Schema } from '../spec.ts'

const NAMES: Record<string, string> = { string: 'text', 'date-time': 'date-time' }

/** Longer lists of values stand with the schema alone. */
const FEW = 8

const code = (value: unknown) =>
  html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`

/** Parts with a word between them. */
const joined = (parts: readonly Part[], word: string) =>
  parts.map((part, i) => (i === 0 ? part : [word, part]))

const range = (from: number | undefined, to: number | undefined, of = ''): Part =>
  from === undefined && to === undefined
    ? null
    : to === undefined
      ? `, ${from} or more${of}`
      : from === undefined
        ? `, at most ${to}${of}`
        : from === -to
          ? null // The range of a double that is exact says nothing to a reader.
          : `, ${from} to ${to}${of}`

/** What a value is, in words; what has a name is a link to it. */
export function typeOf(schema: Schema): Part {
  const { $ref, anyOf, allOf, items, type, format, minimum, maximum, additionalProperties } = schema
  if ($ref) return html`<a href="#schema-${nameOf($ref)}">${nameOf($ref)}</a>`
  if (schema.const !== undefined) return code(schema.const)
  if (schema.enum && schema.enum.length <= FEW) return joined(schema.enum.map(code), ' or ')
  if (schema.enum) return `one of ${schema.enum.length} values`
  if (anyOf) return joined(anyOf.map(typeOf), ' or ')
  if (allOf) return joined(allOf.map(typeOf), ' with ')
  if (items) return [`array`, range(schema.minItems, schema.maxItems), ' of ', typeOf(items)]
  if (type === 'object' && typeof additionalProperties === 'object') {
    return ['object of ', typeOf(additionalProperties), ' by name']
  }
  const words = [type ?? 'any value'].flat().map((name) => NAMES[name] ?? name)
  const isPlain = format === undefined || words[0] !== 'text'
  return [
    isPlain ? words.join(' or ') : (NAMES[format] ?? format),
    range(minimum, maximum),
    (schema.minLength ?? 0) > 1 || schema.maxLength !== undefined
      ? range(schema.minLength, schema.maxLength, ' characters')
      : null,
  ]
}

const example = ({ examples = [] }: Schema) =>
  examples.length > 0 && html` <span class="example">Example: ${code(examples[0])}</span>`

/** The members of an object, and of the objects in it. */
export function fieldsOf(schema: Schema): Part {
  const { properties = {}, required = [] } = schema
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

/** Whether its key is always there: otherwise what tells it from others takes more words. */
const isKnownBy = ({ 'x-key': key, required = [] }: Schema) =>
  key?.every((name) => required.includes(name)) ?? false

/** A schema by its name: what it is, its members, and what no keyword can say. */
export function schemaSection(name: string, schema: Schema): Html {
  const { description, properties, enum: values = [] } = schema
  const key = schema['x-key']
  return html`<section class="schema" id="schema-${name}">
<h3><a href="#schema-${name}">${name}</a></h3>
${description && html`<p>${inline(description)}</p>`}
${!properties && values.length <= FEW && html`<p class="type">${typeOf(schema)}</p>`}
${values.length > FEW && html`<p class="values">${joined(values.map(code), ' ')}</p>`}
${isKnownBy(schema) && html`<p>Its key: ${joined(key!.map(code), ', ')}.</p>`}
${fieldsOf(schema)}
${rulesOf(schema)}
</section>
`
}

/** What no keyword says of a record, and of members that are not listed. */
export function rulesOf(schema: Schema): Part {
  const { additionalProperties: others } = schema
  const open = typeof others === 'object' && others['x-rules']
  return [
    open && html`<p>Any other name may be there, and is kept:</p>\n${listed(open)}`,
    schema['x-rules'] && html`<p>Rules beside the types:</p>\n${listed(schema['x-rules'])}`,
  ]
}

const listed = (rules: Record<string, string>) => html`<ul>${Object.entries(rules).map(
  ([rule, says]) =>
    html`<li><a href="${ruleAt(rule)}"><code>${rule}</code></a> ${inline(says)}</li>`,
)}</ul>
`

/** Some of the rules are of a request as a whole, and have a page. */
const ruleAt = (rule: string) =>
  ['payload_too_large', 'malformed_json'].includes(rule)
    ? `/problems/${rule}`
    : `/docs/errors#rule-${rule}`
