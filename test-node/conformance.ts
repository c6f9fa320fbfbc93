import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

// Compares every response that the tests receive with openapi.json: `test/checked-fetch.ts` sends it here.

/** A response that a test received, with its request. */
export interface Exchange {
  method: string
  path: string
  status: number
  headers: Record<string, string>
  body: string
}

interface Described {
  headers?: Record<string, { $ref: string }>
  content?: Record<string, { schema: object }>
}

type Schema = { [keyword: string]: unknown }

/** Keywords whose schemas describe a part of an object. */
const PARTS = ['allOf', 'anyOf', 'not']

/** Closes the objects of a schema, so that a member that is not described is an error. */
function closeObjects(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closeObjects(one, isPart))
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      if (name === 'examples' || name === 'example' || name === 'enum') return [name, value]
      return [name, closeObjects(value, PARTS.includes(name))]
    }),
  )
  const { properties, additionalProperties, allOf, not } = inner as Schema
  if (allOf) return { ...inner, unevaluatedProperties: false }
  const isOpen =
    isPart || !properties || additionalProperties !== undefined || not || !inner.required
  return isOpen ? inner : { ...inner, additionalProperties: false }
}

/** The paths that openapi.json describes: not those of public pages and of links. */
const OPERATIONS = /^\/(api|tracking|affiliate|admin|oauth)\//

/** Headers that describe the body; openapi.json does not list them. */
const OF_BODY = ['content-type', 'content-length']

/** Returns a check of responses, and of which described responses no test has received. */
export function conformance(file: string) {
  const document = JSON.parse(readFileSync(file, 'utf8'))
  // Most validators are called a few times, so that to optimize their code takes longer than it saves,
  // and so does a copy of a schema in each that refers to it.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    code: { optimize: false },
    inlineRefs: false,
  })
  formats.default(ajv)
  ajv.addFormat('idn-email', true)
  ajv.addSchema(closeObjects({ $id: 'openapi', ...document }) as object)
  const validators = new Map<string, ValidateFunction>()
  const described = new Map<string, Described>()

  const at = (pointer: string) =>
    pointer
      .slice(2)
      .split('/')
      .reduce((found, name) => found[name.replaceAll('~1', '/').replaceAll('~0', '~')], document)
  const resolved = (value: { $ref?: string }) => (value.$ref ? at(value.$ref) : value)
  const step = (name: string) =>
    encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))

  const routes = Object.keys(document.paths)
    .map((path) => ({
      path,
      // A literal step comes before a parameter.
      rank: path.replaceAll(/\{\w+\}/g, '~'),
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))

  for (const [path, operations] of Object.entries<Record<string, { responses: object }>>(
    document.paths,
  )) {
    for (const [method, { responses }] of Object.entries(operations)) {
      for (const [status, response] of Object.entries(responses)) {
        described.set(`${method.toUpperCase()} ${path} ${status}`, resolved(response))
      }
    }
  }

  function validator(pointer: string): ValidateFunction {
    const found = validators.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` })
    validators.set(pointer, found)
    return found
  }

  /** Returns the pointer to the description of a status, or to the component that it refers to. */
  function pointerTo(path: string, method: string, status: number): string {
    const { responses } = document.paths[path][method.toLowerCase()]
    const { $ref } = responses[status]
    return $ref ? $ref.slice(1) : `/paths/${step(path)}/${method.toLowerCase()}/responses/${status}`
  }

  function bodyFlaw(pointer: string, { content }: Described, { headers, body }: Exchange) {
    const type = headers['content-type']?.split(';')[0]
    if (!content) return body === '' ? null : 'has a body, and no body is described'
    if (type === undefined || !Object.hasOwn(content, type)) return `is of type ${type}`
    if (!/json$/.test(type)) return null
    const validate = validator(`${pointer}/content/${step(type)}/schema`)
    return validate(JSON.parse(body)) ? null : ajv.errorsText(validate.errors)
  }

  function headerFlaw({ headers = {} }: Described, exchange: Exchange): string | null {
    for (const [name, ref] of Object.entries(headers)) {
      const { required, schema } = resolved(ref)
      const text = exchange.headers[name.toLowerCase()]
      if (text === undefined && required) return `has no ${name}`
      const value = schema.type === 'integer' ? Number(text) : text
      if (text !== undefined && !validator(`${ref.$ref.slice(1)}/schema`)(value)) {
        return `has ${name}: ${text}`
      }
    }
    const known = Object.keys(headers).map((name) => name.toLowerCase())
    const unknown = Object.keys(exchange.headers).find(
      (name) => ![...known, ...OF_BODY].includes(name),
    )
    return unknown ? `has the undescribed header ${unknown}` : null
  }

  /** Returns how a response differs from its description, or null. */
  function flaw(exchange: Exchange): string | null {
    const { method: sent, path, status } = exchange
    const method = sent === 'HEAD' ? 'GET' : sent
    const name = `${sent} ${path} ${status}`
    if (!OPERATIONS.test(path)) return null
    const route = routes.find(({ pattern }) => pattern.test(path))
    if (!route || !document.paths[route.path][method.toLowerCase()]) {
      return [401, 403, 404, 405, 415].includes(status) ? null : `${name} is not an operation`
    }
    const key = `${method} ${route.path} ${status}`
    const response = described.get(key)
    if (!response) return `${name} is not described: ${exchange.body.slice(0, 300)}`
    const bodiless = sent === 'HEAD' || status === 304
    const pointer = pointerTo(route.path, method, status)
    const found =
      headerFlaw(response, exchange) ?? (bodiless ? null : bodyFlaw(pointer, response, exchange))
    return found && `${name} ${found}\n${exchange.body.slice(0, 1000)}`
  }

  return { flaw }
}
