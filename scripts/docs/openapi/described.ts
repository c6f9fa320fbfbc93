import { recorded } from '../examples.ts'
import type { JsonSchema } from '../types.ts'
import { ALWAYS, type Described, failures, headers, isUnkept, UNKEPT } from './failures.ts'
import type { Answer, Operation, Who } from './operation.ts'

const SECURITY: Record<Who, (operation: Operation) => object[]> = {
  anyone: () => [],
  partner: ({ method }) => [{ oauth: [method === 'get' ? 'read' : 'write'] }],
  brand: () => [{ brandToken: [] }],
  team: () => [{ adminKey: [] }, { access: [] }],
}

interface Shown {
  name: string
  summary: string
  description?: string
  value: unknown
}

/** Examples by name; a list of one kind, since a request has one body. */
const examplesOf = (list: readonly Shown[]): { examples?: object } =>
  list.length > 0
    ? { examples: Object.fromEntries(list.map(({ name, ...shown }) => [name, shown])) }
    : {}

const AUTHENTICATED: readonly Who[] = ['partner', 'brand']

function answered(operation: Operation, status: string, answer: Answer) {
  const { description, schema, type = 'application/json', headers: own = [] } = answer
  const rate = AUTHENTICATED.includes(operation.who) ? ['RateLimit', 'RateLimit-Policy'] : []
  const unkept = isUnkept(operation) ? UNKEPT : []
  const examples = recorded(operation.id, status)
    .filter(({ answer: said }) => said !== null)
    .map(({ name, summary, answer: value }) => ({ name, summary, value }))
  return {
    description,
    headers: headers([...new Set([...ALWAYS, ...rate, ...own, ...unkept])]),
    ...(schema && {
      content: Object.fromEntries(
        [type].flat().map((one) => [one, { schema, ...examplesOf(examples) }]),
      ),
    }),
  }
}

/** A failure that a test was answered is shown as it was, in place of what all have in common. */
function refusals(
  { id }: Operation,
  failed: Record<string, { $ref: string }>,
  shared: Record<string, Described>,
) {
  return Object.fromEntries(
    Object.entries(failed).map(([status, { $ref }]) => {
      const seen = recorded(id, status)
      if (seen.length === 0) return [status, { $ref }]
      const { content, ...rest } = shared[$ref.split('/').at(-1)!]!
      const [[type, { schema, examples }]] = Object.entries(content!) as [[string, Content]]
      const shown = seen.map(({ name, summary, request, answer: value }) => {
        return { name, summary, description: sentAs(request), value }
      })
      const codes = seen.map(({ answer }) => (answer as { code: string }).code)
      const others = Object.entries(examples).filter(([code]) => !codes.includes(code))
      const all = { ...examplesOf(shown).examples, ...Object.fromEntries(others) }
      return [status, { ...rest, content: { [type]: { schema, examples: all } } }]
    }),
  )
}

/** The content of an answer, with its examples. */
interface Content {
  schema: JsonSchema
  examples: Record<string, object>
}

const sentAs = (request: unknown) =>
  `Sent was:\n\n\`\`\`json\n${JSON.stringify(request, null, 2)}\n\`\`\``

/** An operation as OpenAPI has it; what several have in common is in `responses`. */
export function described(operation: Operation, responses: Record<string, Described>) {
  const { id, tag, summary, description, who, parameters = [], body, answers } = operation
  const sent = recorded(id)
    // What is wrong is shown where it is answered: here all is as the schema has it.
    .filter(({ request, status }) => request !== null && status < 400)
    .map(({ name, summary: said, request: value }) => ({ name, summary: said, value }))
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: SECURITY[who](operation),
    ...(parameters.length > 0 && {
      parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    }),
    ...(body && {
      requestBody: {
        required: body.required ?? true,
        content: {
          [body.type ?? 'application/json']: { schema: body.schema, ...examplesOf(sent) },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [
          status,
          answered(operation, status, answer),
        ]),
      ),
      ...refusals(operation, failures(operation, responses), responses),
    },
  }
}
