import type * as v from 'valibot'
import type { DescribedOperation, OperationWords } from '../../../src/http/operation-words.ts'
import { OPERATIONS } from '../../operations.ts'
import { closedObject, componentsIn, property } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { AT, operation } from './administration/operation.ts'
import { type Operation, PAGE_HEADERS } from './operation.ts'

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

/** Returns the schemas of the answers: of what is done, and of what waits. */
function formsOf({ words }: DescribedOperation): readonly v.GenericSchema[] {
  const { answer, accepted } = words as { answer: v.GenericSchema; accepted?: string }
  const { options } = answer as { options?: readonly v.GenericSchema[] }
  return accepted && options ? options : [answer]
}

function bodySchema({ body, whole }: DescribedOperation): JsonSchema {
  return whole ? property(Object.values(body)[0]!, AT) : closedObject(body, AT)
}

function describe(
  of: DescribedOperation,
  path: string,
  id: string,
  description: string,
): Operation {
  const {
    summary,
    returns,
    answer,
    accepted,
    created,
    existing,
    errors = [],
  } = of.words as OperationWords
  const params = Object.entries<v.GenericSchema>(of.params).map(([name, schema]) =>
    parameterOf(name, schema, path.includes(`{${name}}`)),
  )
  const hasBody = of.method !== 'GET' && of.method !== 'DELETE'
  const isList = Object.hasOwn(of.params, 'cursor')
  const required = Object.values<v.GenericSchema>(of.body).some(({ type }) => type !== 'optional')
  return operation({
    method: of.method.toLowerCase() as Operation['method'],
    path: `${BASE}${path}`,
    id,
    summary,
    description,
    ...(hasBody && { body: { schema: bodySchema(of), required } }),
    answers:
      answer === null
        ? { 204: { description: returns } }
        : {
            [of.status ?? 200]: {
              description: returns,
              schema: property(formsOf(of)[0]!, AT),
              ...(isList && { headers: TEAM_PAGE_HEADERS }),
            },
            ...(existing && { 200: { description: existing, schema: property(answer, AT) } }),
            ...(created && { 201: { description: created, schema: property(answer, AT) } }),
            ...(accepted && {
              202: { description: accepted, schema: property(formsOf(of).at(-1)!, AT) },
            }),
          },
    inline: params,
    errors,
  })
}

/** Describes the operations of a topic. */
export const derived = (topic: string): Operation[] =>
  OPERATIONS.filter((one) => one.topic === topic).flatMap((of) => {
    const { description, byQuery } = of.words as OperationWords
    const own = describe(of, of.path, of.id, description)
    if (!of.byQuery) return [own]
    const path = of.path.replace(`/{${of.byQuery}}`, '')
    const twin = describe(of, path, `${of.id}ById`, byQuery ?? BY_QUERY)
    return [own, { ...twin, summary: `${own.summary} by query parameter` }]
  })

const BY_QUERY =
  'Does the same as the path with the id. Use this for the ids `.` and `..`, which URL parsers remove from a path.'

/** The schemas that operations name. */
export const derivedSchemas = (): Record<string, JsonSchema> =>
  componentsIn(
    OPERATIONS.flatMap(({ words }) => [words?.answer, words?.acceptedAnswer]).filter(
      (answer) => !!answer,
    ),
    AT,
  )
