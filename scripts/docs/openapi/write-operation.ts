import { recorded } from '../examples.ts'
import type { JsonSchema } from '../types.ts'
import {
  COMMON_HEADERS,
  failures,
  headerRefs,
  isNeverCached,
  NO_CACHE_HEADERS,
  RATE_LIMITED,
  type ResponseObject,
} from './failures.ts'
import type { Answer, CallerKind, Operation } from './operation.ts'

const SECURITY: Record<CallerKind, (operation: Operation) => object[]> = {
  anyone: () => [],
  partner: ({ method }) => [{ oauth: [method === 'get' ? 'read' : 'write'] }],
  brand: () => [{ brandToken: [] }],
  affiliate: () => [{ affiliateKey: [] }],
  team: () => [{ adminKey: [] }, { access: [] }],
}

/** A named example. */
interface Example {
  name: string
  summary: string
  description?: string
  value: unknown
}

const examplesOf = (examples: readonly Example[]): { examples?: object } =>
  examples.length > 0
    ? { examples: Object.fromEntries(examples.map(({ name, ...example }) => [name, example])) }
    : {}

function answerObject(operation: Operation, status: string, answer: Answer) {
  const { description, schema, type = 'application/json', also = {}, headers = [] } = answer
  const rate = RATE_LIMITED.includes(operation.caller) ? ['RateLimit', 'RateLimit-Policy'] : []
  const caching = isNeverCached(operation) ? NO_CACHE_HEADERS : []
  const examples = recorded(operation.id, status)
    .filter((one) => one.answer !== null)
    .map(({ name, summary, request, answer: value }) => ({
      name,
      summary,
      ...(status === '207' && { description: wrongRequest(request) }),
      value,
    }))
  return {
    description,
    headers: headerRefs([...new Set([...COMMON_HEADERS, ...rate, ...headers, ...caching])]),
    ...(schema && {
      content: {
        ...Object.fromEntries(
          [type].flat().map((one) => [one, { schema, ...examplesOf(examples) }]),
        ),
        ...also,
      },
    }),
  }
}

/** The content of an error response. */
interface ErrorContent {
  schema: JsonSchema
  examples: Record<string, object>
}

/** Replaces a shared error response by one with the recorded examples of the operation. */
function recordedFailures(
  { id }: Operation,
  failed: Record<string, { $ref: string }>,
  shared: Record<string, ResponseObject>,
) {
  return Object.fromEntries(
    Object.entries(failed).map(([status, { $ref }]) => {
      const examples = recorded(id, status)
      const response = shared[$ref.split('/').at(-1) ?? '']
      if (examples.length === 0 || !response?.content) return [status, { $ref }]
      const [[type, content] = []] = Object.entries(response.content) as [[string, ErrorContent]]
      if (!type || !content) return [status, { $ref }]
      const own = examples.map(({ name, summary, request, answer: value }) => {
        return { name, summary, description: wrongRequest(request), value }
      })
      const codes = examples.map(({ answer }) => (answer as { code: string }).code)
      const others = Object.entries(content.examples).filter(([code]) => !codes.includes(code))
      const all = { ...examplesOf(own).examples, ...Object.fromEntries(others) }
      const replaced = { [type]: { schema: content.schema, examples: all } }
      return [status, { ...response, content: replaced }]
    }),
  )
}

/** Shows the request beside its answer: its schema refuses it. */
const wrongRequest = (request: unknown) =>
  typeof request === 'string'
    ? `Request body, wrong on purpose:\n\n\`\`\`csv\n${request}\`\`\``
    : `Request body, wrong on purpose:\n\n\`\`\`json\n${JSON.stringify(request, null, 2)}\n\`\`\``

/** Writes an operation as OpenAPI. Adds the responses that operations share to `responses`. */
export function writeOperation(operation: Operation, responses: Record<string, ResponseObject>) {
  const {
    id,
    tag,
    summary,
    description,
    caller,
    parameters = [],
    inline = [],
    body,
    answers,
  } = operation
  const bodies = recorded(id)
    // The schema must accept every example of a request. One with a wrong record is shown with its answer.
    .filter(({ request, status }) => request !== null && status < 207)
    .map((one) => ({ name: one.name, summary: one.summary, value: one.request }))
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: SECURITY[caller](operation),
    ...(parameters.length + inline.length > 0 && {
      parameters: [
        ...parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
        ...inline,
      ],
    }),
    ...(body && {
      requestBody: {
        required: body.required ?? true,
        content: {
          [body.type ?? 'application/json']: { schema: body.schema, ...examplesOf(bodies) },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [
          status,
          answerObject(operation, status, answer),
        ]),
      ),
      ...recordedFailures(operation, failures(operation, responses), responses),
    },
  }
}
