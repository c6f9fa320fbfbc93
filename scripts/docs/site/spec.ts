// What of OpenAPI and JSON Schema the pages read.

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

/** A body of one media type. */
export interface Media {
  schema: Schema
  examples?: Record<string, Example>
}

/** Something that goes along with a request. */
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

/** An operation. */
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

/** The service, as OpenAPI 3.1 has it. */
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

/** The last word of a reference: the name of a component. */
export const nameOf = (ref: string) => ref.split('/').at(-1)!
