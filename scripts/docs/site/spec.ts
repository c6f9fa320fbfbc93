// The parts of OpenAPI and JSON Schema that the pages use.

/** A schema, or a reference to one. */
export interface Schema {
  $ref?: string
  title?: string
  description?: string
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  examples?: unknown[]
  'x-key'?: string[]
  'x-rules'?: Record<string, string>
}

/** An example, or a reference to one. */
export interface Example {
  $ref?: string
  summary?: string
  description?: string
  value?: unknown
}

/** A body in one media type. */
export interface Media {
  schema: Schema
  examples?: Record<string, Example>
}

/** A parameter of a request, or a reference to one. */
export interface Parameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description: string
  schema: Schema
  example?: string | number | boolean
}

/** An answer, or a reference to one. */
export interface Answer {
  $ref?: string
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, Media>
}

/** An operation of the API. */
export interface Operation {
  operationId: string
  tags: [string]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, Answer>
}

/** The OpenAPI 3.1 document. */
export interface Spec {
  info: { title: string; version: string; summary: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    headers: Record<string, { description: string }>
    responses: Record<string, Answer>
    examples: Record<string, Example>
    securitySchemes: Record<string, { description: string }>
  }
}

/** Returns the name of the component that a reference names. */
export const nameOf = (ref: string) => ref.split('/').at(-1)!
