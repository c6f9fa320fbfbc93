import type { ErrorCode } from '../../../src/errors.ts'
import type { JsonSchema } from '../types.ts'

/** Who may call an operation. */
export type Who = 'partner' | 'brand' | 'team' | 'anyone'

/** What a request is answered with, where all is well. */
export interface Answer {
  description: string
  /** Left out: the answer has no body. */
  schema?: JsonSchema
  /** The media type of the body, or all that there are; JSON if left out. */
  type?: string | readonly string[]
  /** Headers beside those that every answer has, by name. */
  headers?: readonly string[]
}

/** One operation, before it is written as OpenAPI. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  id: string
  tag: string
  summary: string
  description: string
  who: Who
  /** Names of parameters among the components. */
  parameters?: readonly string[]
  body?: { schema: JsonSchema; type?: string; required?: boolean }
  answers: Readonly<Record<number, Answer>>
  /** How it may fail beside what `who` implies. */
  fails: readonly ErrorCode[]
  /** The address speaks another language of failure. */
  failsAs?: 'oauth' | 'page'
}

/** A reference to a component. */
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** A page of a list. */
export const listOf = (item: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { data: { type: 'array', items: item }, meta: ref('Meta') },
  required: ['data', 'meta'],
})

/** All there is, in one answer. */
export const allOf = (item: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { data: { type: 'array', items: item } },
  required: ['data'],
})

/** The parameters that every list knows. */
export const PAGING = ['page', 'per_page', 'cursor'] as const

/** What an answer that was read from a database has beside the rest. */
export const READ = ['x-d1-bookmark'] as const

/** What a list has beside the rest. */
export const LISTED = ['x-d1-bookmark', 'Link'] as const

/** `prop-trading` as it stands within a name: `PropTrading`. */
export const pascal = (text: string) =>
  text.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())
