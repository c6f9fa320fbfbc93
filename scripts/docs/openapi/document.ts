import { readFileSync } from 'node:fs'
import { ORIGIN } from '../../../src/docs/origin.ts'
import { ENTITIES } from '../entities.ts'
import { type JsonSchema, types } from '../types.ts'
import { answerSchemas } from './answers.ts'
import { described } from './described.ts'
import { type Described, PROBLEMS } from './failures.ts'
import { oauth } from './oauth.ts'
import type { Operation } from './operation.ts'
import { pages } from './pages.ts'
import { HEADERS, PARAMETERS } from './parameters.ts'
import { bodyOf, senders } from './senders.ts'
import { team } from './team.ts'

const AT = '#/components/schemas/'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const INFO = {
  title: 'Tributary',
  version,
  summary: 'Customers, transactions and activity, so that affiliates are paid what they earned.',
  description: `The edge API through which proprietary trading firms, forex brokers and iGaming brands send
their customers, transactions and daily activity. The [guide](${ORIGIN}/docs/start) goes from
credentials to the first reconciled day; each [problem](${ORIGIN}/docs/errors) has a page of its own.

What was sent right is never lost, doubled or guessed; what is wrong is named: which record, which
field, why. To repeat a request is safe as long as nothing newer was sent under its keys.`,
  license: { name: 'MIT', identifier: 'MIT' },
  contact: {
    name: 'Integrations team',
    email: 'integrations@tributary.example',
    url: `${ORIGIN}/docs`,
  },
}

const TAGS = [
  { name: 'tokens', description: 'How partners say who they are: OAuth 2.0 client credentials.' },
  { name: 'prop-trading', description: 'What proprietary trading firms send, and read back.' },
  { name: 'forex', description: 'What forex brokers send, and read back.' },
  { name: 'igaming', description: 'What iGaming brands send, and read back.' },
  { name: 'links', description: 'What visitors follow.' },
  { name: 'administration', description: 'What the integrations team sets up, and looks into.' },
  { name: 'documents', description: 'What anyone may read.' },
]

const SECURITY_SCHEMES = {
  oauth: {
    type: 'oauth2',
    description:
      'A token of `POST /oauth/token`, as `Authorization: Bearer`. It lives for an hour.',
    flows: {
      clientCredentials: {
        tokenUrl: `${ORIGIN}/oauth/token`,
        scopes: { read: 'Read what was sent.', write: 'Send records.' },
      },
    },
  },
  brandToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The Brand Token of one brand. A secret: not for browsers, repositories or logs.',
  },
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The admin key of the service, as `Authorization: Bearer`.',
  },
  access: {
    type: 'apiKey',
    in: 'header',
    name: 'Cf-Access-Jwt-Assertion',
    description: 'What Cloudflare Access adds for whom it has let through.',
  },
}

/** Beside `properties`, generators of clients take `anyOf` for all there is: it stands apart. */
const composed = ({ anyOf, ...schema }: JsonSchema): JsonSchema =>
  anyOf ? { ...schema, allOf: [{ anyOf }] } : schema

function schemasOf(): Record<string, JsonSchema> {
  const entities = ENTITIES.flatMap((entity) => [
    [entity.component, { ...composed(entity.schema(AT)), examples: [entity.example] }],
    [`${entity.component}Body`, bodyOf(entity)],
  ])
  return { ...types(), ...Object.fromEntries(entities), ...answerSchemas() }
}

/** All operations of the service, in the order in which they are documented. */
export const operations = (): Operation[] => [...oauth(), ...senders(), ...pages(), ...team()]

/** The components that are used: what nothing refers to would only be read. */
function used(all: Record<string, Record<string, object>>, paths: object) {
  const text = JSON.stringify([paths, all])
  const isUsed = (kind: string, name: string) => text.includes(`"#/components/${kind}/${name}"`)
  return Object.fromEntries(
    Object.entries(all).map(([kind, of]) => [
      kind,
      Object.fromEntries(Object.entries(of).filter(([name]) => isUsed(kind, name))),
    ]),
  )
}

/** The service as OpenAPI 3.1. */
export function openapi() {
  const responses: Record<string, Described> = {}
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations()) {
    const path = paths[operation.path] ?? {}
    paths[operation.path] = path
    path[operation.method] = described(operation, responses)
  }
  const components = used(
    {
      schemas: schemasOf(),
      parameters: PARAMETERS,
      headers: HEADERS,
      responses,
      examples: PROBLEMS,
    } as never,
    paths,
  )
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: INFO,
    servers: [{ url: ORIGIN, description: 'The service that serves this document.' }],
    tags: TAGS,
    paths,
    components: { ...components, securitySchemes: SECURITY_SCHEMES },
    externalDocs: { description: 'The guide', url: `${ORIGIN}/docs/start` },
  }
}
