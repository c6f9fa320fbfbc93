import type * as v from 'valibot'
import type { DescribedOperation, OperationWords } from '../../../src/http/operation-words.ts'
import { OPERATIONS } from '../../operations.ts'
import { closedObject, componentsIn, property } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { AT, operation } from './administration/operation.ts'
import { type Operation, PAGE_HEADERS } from './operation.ts'
import { TEXT } from './shapes.ts'

// What OpenAPI says of the operations that are values.

const BASE = '/admin/v1'
const TEAM_PAGE_HEADERS = PAGE_HEADERS.filter((name) => name !== 'x-d1-bookmark')

function parameterOf(name: string, schema: v.GenericSchema, isInPath: boolean): object {
  const { description, examples = [], ...json } = property(schema, AT)
  return {
    name,
    in: isInPath ? 'path' : 'query',
    ...((isInPath || schema.type !== 'optional') && { required: true }),
    description,
    schema: json,
    ...(Array.isArray(examples) && examples.length > 0 && { example: examples[0] }),
  }
}

function bodySchema({ body, whole }: DescribedOperation): JsonSchema {
  return whole ? property(Object.values(body)[0]!, AT) : closedObject(body, AT)
}

/** Describes the responses of an operation that are no errors. */
function answersOf({ status = 200, params, words }: DescribedOperation): Operation['answers'] {
  const { answer, others = {}, csvHeaders } = words as OperationWords
  const headers = Object.hasOwn(params, 'per_page') && { headers: TEAM_PAGE_HEADERS }
  const asCsv = (schema: JsonSchema) =>
    csvHeaders && {
      type: ['application/json', 'text/csv'],
      schema: { anyOf: [schema, TEXT] },
      headers: [...TEAM_PAGE_HEADERS, ...csvHeaders],
    }
  const all = { [answer === null ? 204 : status]: answer, ...others }
  return Object.fromEntries(
    Object.entries(all).map(([code, schema]) => [
      code,
      {
        description: DONE[code] ?? 'The answer.',
        ...(schema && { schema: property(schema, AT), ...headers, ...asCsv(property(schema, AT)) }),
      },
    ]),
  )
}

/** Returns the words of an id, such as `Create link`. */
const titleOf = (id: string) => {
  const title = id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return title.charAt(0).toUpperCase() + title.slice(1)
}

const DONE: Readonly<Record<string, string>> = {
  202: 'Accepted, but not done yet.',
  204: 'Done. The response has no body.',
}

function describe(
  of: DescribedOperation,
  path: string,
  id: string,
  description: string,
): Operation {
  const { errors = [], account } = of.words as OperationWords
  const params = Object.entries<v.GenericSchema>(of.params).map(([name, schema]) =>
    parameterOf(name, schema, path.includes(`{${name}}`)),
  )
  const hasBody = of.method !== 'GET' && of.method !== 'DELETE'
  const required = Object.values<v.GenericSchema>(of.body).some(({ type }) => type !== 'optional')
  return operation({
    method: of.method.toLowerCase() as Operation['method'],
    path: `${BASE}${path}`,
    id,
    summary: titleOf(id),
    description,
    ...(hasBody && { body: { schema: bodySchema(of), required } }),
    answers: answersOf(of),
    inline: params,
    ...(account && { accountParameter: account }),
    errors,
  })
}

/** Describes the operations of a topic. */
export const derived = (topic: string): Operation[] =>
  OPERATIONS.filter((one) => one.topic === topic).flatMap((of) => {
    const { description, byQuery = BY_QUERY } = of.words as OperationWords
    const own = describe(of, of.path, of.id, description)
    if (!of.byQuery) return [own]
    const path = of.path.replace(`/{${of.byQuery}}`, '')
    return [own, describe(of, path, `${of.id}ById`, byQuery)]
  })

const BY_QUERY =
  'Does the same as the path with the id. Use this for the ids `.` and `..`, which URL parsers remove from a path.'

/** The schemas that operations name. */
export const derivedSchemas = (): Record<string, JsonSchema> =>
  componentsIn(
    OPERATIONS.flatMap(({ words }) => [
      words?.answer,
      ...Object.values(words?.others ?? {}),
    ]).filter((answer) => !!answer),
    AT,
  )
