import type { ErrorCode } from '../../../src/platform/errors.ts'
import type { JsonSchema } from '../types.ts'

/** The caller of an operation. */
export type CallerKind = 'partner' | 'brand' | 'affiliate' | 'team' | 'anyone'

/** A response with a status below 400. */
export interface Answer {
  description: string
  /** The schema of the body. Absent if there is no body. */
  schema?: JsonSchema
  /** The media types of the body. Defaults to JSON. */
  type?: string | readonly string[]
  /** Other media types of the body, with their schemas. */
  also?: Readonly<Record<string, { schema: JsonSchema; example: string }>>
  /** The names of headers beyond those that every response has. */
  headers?: readonly string[]
}

/** An operation, before it is written as OpenAPI. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  id: string
  tag: string
  summary: string
  description: string
  caller: CallerKind
  /** The names of parameters in the components. */
  parameters?: readonly string[]
  /** Parameters that are described here. */
  inline?: readonly object[]
  body?: {
    schema: JsonSchema
    type?: string
    required?: boolean
  }
  answers: Readonly<Record<number, Answer>>
  /** The error codes beyond those that every operation of the caller has. */
  errors: readonly ErrorCode[]
}

/** The location of schemas in the components. */
export const AT = '#/components/schemas/'

/** Refers to a schema in the components. */
export const ref = (name: string): JsonSchema => ({ $ref: AT + name })
