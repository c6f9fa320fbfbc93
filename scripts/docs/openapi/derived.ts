import * as v from 'valibot'
import { igaming } from '../../../src/ingest/brand/igaming.ts'
import { forex } from '../../../src/ingest/trading/forex.ts'
import { propTrading } from '../../../src/ingest/trading/prop-trading.ts'
import type { ErrorCode } from '../../../src/platform/errors.ts'
import {
  type CallerKind,
  type DescribedOperation,
  idFor,
  isFor,
  type OperationWords,
  pascalCase,
} from '../../../src/platform/http/operation-words.ts'
import { OPERATIONS, recordOperations } from '../../operations.ts'
import { closedObject, componentsIn, property } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { AT, type Operation, ref } from './operation.ts'
import { TAGS } from './tags.ts'

// What OpenAPI says of the operations that are values.

/** An API that has operations. */
interface Api {
  readonly at: string
  readonly caller: Operation['caller']
  readonly kind: CallerKind
  /** What its ids have after the verb. */
  readonly name: string
}

const TEAM: Api = { at: '/admin/v1', caller: 'team', kind: 'team', name: '' }

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

/** Describes the body of an operation: a form, an object, or a whole, which is JSON or a CSV file. */
function bodyOf(of: DescribedOperation): NonNullable<Operation['body']> {
  const { body, whole } = of
  if (isFor(of, 'anyone'))
    return { type: 'application/x-www-form-urlencoded', schema: property(v.object(body), AT) }
  if (!whole) {
    const required = Object.values<v.GenericSchema>(body).some(({ type }) => type !== 'optional')
    return { schema: closedObject(body, AT), required }
  }
  if (of.maxBytes) return { type: '*/*', schema: { type: 'string', format: 'binary' } }
  const [[name, member] = []] = Object.entries<v.GenericSchema>(body)
  const schema = property(member!, AT)
  return name === 'csv' ? { type: 'text/csv', schema } : { schema }
}

/** Describes the response with a file of bytes. */
const binaryAnswer = (
  type: readonly string[],
  others: readonly string[],
): Operation['answers'] => ({
  200: {
    description: 'The file.',
    type,
    schema: { type: 'string', format: 'binary' },
    headers: [...others, 'ETag', 'Content-Disposition'],
  },
})

/** Describes the responses of an operation that are no errors. */
function answersOf(of: DescribedOperation, shownAs?: JsonSchema): Operation['answers'] {
  const { status, params, words } = of
  const { answer, others = {}, files = {} } = words as OperationWords
  const headers = [
    ...(Object.hasOwn(params, 'per_page') ? ['Link'] : []),
    ...(words?.headers ?? []),
    ...Object.values(files).flatMap((file) => file.headers ?? []),
  ]
  const types = Object.keys(files)
  if (answer === null && types.length > 0)
    return Object.values(files)[0]?.isBinary ? binaryAnswer(types, headers) : {}
  const also = Object.fromEntries(
    Object.entries(files).map(([type, { example = '' }]) => [
      type,
      { schema: { type: 'string' }, example },
    ]),
  )
  const all = { [status ?? (answer === null ? 204 : 200)]: answer, ...others }
  return Object.fromEntries(
    Object.entries(all).map(([code, schema]) => [
      code,
      {
        description: DONE[code] ?? 'The answer.',
        ...(schema && {
          schema: shownAs ?? property(schema, AT),
          headers,
          also,
        }),
      },
    ]),
  ) as Operation['answers']
}

/** Returns the words of an id, such as `Create link`. */
const titleOf = (id: string) => {
  const title = id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return title.charAt(0).toUpperCase() + title.slice(1)
}

const DONE: Readonly<Record<string, string>> = {
  202: 'Accepted, but not done yet.',
  207: 'The valid records are stored, and `results` lists the errors of the others.',
  204: 'Done. The response has no body.',
}

function describe(of: DescribedOperation, api: Api): Operation {
  const { id, path } = of
  const { errors = [], account = 'account', description } = of.words as OperationWords
  const own = api.kind === 'team' ? path : path.replace('/accounts/{account}', '')
  const params = Object.entries<v.GenericSchema>(of.params)
    .filter(([name]) => !of.except?.[api.kind]?.includes(name))
    .map(([name, schema]) => parameterOf(name, schema, path.includes(`{${name}}`)))
  const name = idFor(of, id, api.name)
  const shownAs = api.kind === 'affiliate' ? ref(affiliateAnswer(name)) : undefined
  return {
    method: of.method.toLowerCase() as Operation['method'],
    path: `${api.at}${own}`,
    id: name,
    tag: of.topic,
    caller: api.caller,
    summary: titleOf(id),
    description,
    ...(hasBody(of.method) && { body: { required: true, ...bodyOf(of) } }),
    answers: answersOf(of, of.words?.answer ? shownAs : undefined),
    inline: params,
    parameters: [...(own.includes('{account}') ? [account] : []), ...(of.words?.accepts ?? [])],
    errors: api.kind === 'anyone' ? errors : [...errorsOf(own, of.method), ...errors],
  }
}

/** Returns the errors that every operation of a path and method can answer with. */
const errorsOf = (path: string, method: DescribedOperation['method']): ErrorCode[] => [
  'invalid_query',
  ...(path.includes('{') ? (['not_found'] as const) : []),
  ...(method === 'GET' ? [] : (['unsupported_media_type'] as const)),
  ...(hasBody(method)
    ? (['malformed_json', 'payload_too_large', 'validation_failed'] as const)
    : []),
]

const hasBody = (method: DescribedOperation['method']) => method !== 'GET' && method !== 'DELETE'

/** Describes the operations that issue and revoke tokens. */
export const derivedForAnyone = (): Operation[] =>
  describeAll(OPERATIONS, { at: '', caller: 'anyone', kind: 'anyone', name: '' })

const affiliateAnswer = (id: string) => `${pascalCase(id)}Answer`

const describeAll = (operations: readonly DescribedOperation[], api: Api): Operation[] =>
  operations.filter((of) => isFor(of, api.kind)).map((of) => describe(of, api))

/**
 * Describes the operations of the team by topic, which is a tag. An operation comes after those that store what its
 * example names, and `customers`, which erases data, after the topics that read this data.
 */
export const derivedForTeam = (): Operation[] =>
  TAGS.flatMap(({ name }) =>
    describeAll(
      OPERATIONS.filter(({ topic }) => topic === name),
      TEAM,
    ),
  )

/** The verticals, and where their accounts call. */
const ACCOUNTS = [
  { of: propTrading, at: '/api/v1/prop-trading', caller: 'partner' },
  { of: forex, at: '/api/v1/forex', caller: 'partner' },
  { of: igaming, at: '/tracking/events', caller: 'brand' },
] as const

/** The operations on the records of all verticals. */
const RECORD_OPERATIONS = ACCOUNTS.flatMap(({ of }) => recordOperations(of))

/** Describes the operations that accounts have for themselves, with the records of their vertical. */
export const derivedForAccounts = (): Operation[] =>
  ACCOUNTS.flatMap(({ of, at, caller }) => {
    const { vertical } = of
    const name = pascalCase(vertical)
    const withOwnRecords = (answers: Operation['answers']): Operation['answers'] =>
      JSON.parse(JSON.stringify(answers).replaceAll('/AnyRecord"', `/${name}Record"`))
    const own = [...recordOperations(of), ...OPERATIONS]
    return describeAll(own, { at, caller, kind: 'account', name }).map((one) => ({
      ...one,
      tag: ['monitoring', vertical].includes(one.tag) ? vertical : `${vertical}-commissions`,
      answers: withOwnRecords(one.answers),
    }))
  })

const AFFILIATE: Api = {
  at: '/affiliate/v1',
  caller: 'affiliate',
  kind: 'affiliate',
  name: 'Affiliate',
}

/** Describes the operations that affiliates have. */
export const derivedForAffiliates = (): Operation[] =>
  describeAll(OPERATIONS, AFFILIATE).map((one) => ({
    ...one,
    tag: one.tag.startsWith('affiliate-') ? one.tag : 'affiliate-api',
  }))

/** Returns the answers of the operations that affiliates have, by the components of what they see of them. */
export const affiliateAnswers = (): (readonly [string, JsonSchema])[] =>
  OPERATIONS.filter((of) => isFor(of, 'affiliate')).flatMap((of) =>
    of.words?.answer
      ? [
          [
            affiliateAnswer(idFor(of, of.id, AFFILIATE.name)),
            property(of.words.answer, AT),
          ] as const,
        ]
      : [],
  )

/** Returns the schemas that operations name. `at` is their location. */
export const derivedSchemas = (at = AT): Record<string, JsonSchema> =>
  componentsIn(
    [...RECORD_OPERATIONS, ...OPERATIONS].flatMap(({ body, words }) =>
      [words?.answer, ...Object.values(words?.others ?? {}), ...Object.values(body)].filter(
        (schema): schema is v.GenericSchema => !!schema,
      ),
    ),
    at,
  )
