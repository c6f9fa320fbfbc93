import { readFileSync } from 'node:fs'
import { ORIGIN } from '../../../src/platform/documents/origin.ts'
import { ENTITIES } from '../entities.ts'
import { fraudSchemas } from '../fraud-rules.ts'
import { planSchemas } from '../plans.ts'
import { type JsonSchema, types } from '../types.ts'
import { affiliateSchemas } from './affiliates.ts'
import { answerSchemas } from './answers.ts'
import { referredTo } from './components.ts'
import {
  derivedForAccounts,
  derivedForAffiliates,
  derivedForAnyone,
  derivedForTeam,
  derivedSchemas,
} from './derived.ts'
import { PROBLEMS, type ResponseObject } from './failures.ts'
import { HEADERS } from './headers.ts'
import { AT, type Operation } from './operation.ts'
import { PARAMETERS } from './parameters.ts'
import { TAGS } from './tags.ts'
import { writeOperation } from './write-operation.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const INFO = {
  title: 'Tributary',
  version,
  summary: 'Receives the customers, transactions and activity from which affiliates are paid.',
  description: `Proprietary trading firms, forex brokers and iGaming brands use this API to send their
customers, transactions and daily activity. Start with the [guide](${ORIGIN}/docs/start), and look up
error codes on the [errors page](${ORIGIN}/docs/errors).

Valid records are stored exactly once. For an invalid record, the response names the record, the field
and the reason. You can repeat a request safely until you send a newer version of the same records.`,
  license: { name: 'MIT', identifier: 'MIT' },
  contact: {
    name: 'Integrations team',
    email: 'integrations@tributary.example',
    url: `${ORIGIN}/docs`,
  },
}

const SECURITY_SCHEMES = {
  oauth: {
    type: 'oauth2',
    description:
      'An access token from `POST /oauth/token`, sent as `Authorization: Bearer`. It is valid for one hour.',
    flows: {
      clientCredentials: {
        tokenUrl: `${ORIGIN}/oauth/token`,
        scopes: { read: 'Read your records.', write: 'Send records.' },
      },
    },
  },
  brandToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description:
      'The Brand Token of a brand. It is a secret: keep it out of browsers, repositories and logs.',
  },
  affiliateKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of an affiliate, sent as `Authorization: Bearer`.',
  },
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The admin key of the service, sent as `Authorization: Bearer`.',
  },
  access: {
    type: 'apiKey',
    in: 'header',
    name: 'Cf-Access-Jwt-Assertion',
    description: 'The JWT that Cloudflare Access adds to requests of authenticated users.',
  },
}

/** Moves `anyOf` into `allOf`: client generators ignore the properties beside an `anyOf`. */
const composed = ({ anyOf, ...schema }: JsonSchema): JsonSchema =>
  anyOf ? { ...schema, allOf: [{ anyOf }] } : schema

function schemas(): Record<string, JsonSchema> {
  const entities = ENTITIES.map((entity) => [
    entity.component,
    { ...composed(entity.schema(AT)), examples: [entity.example] },
  ])
  const answers = { ...derivedSchemas(), ...answerSchemas() }
  return {
    ...derivedSchemas(),
    ...types(),
    ...Object.fromEntries(entities),
    ...planSchemas(AT),
    ...fraudSchemas(AT),
    ...answers,
    ...affiliateSchemas(answers),
  }
}

/** Lists all operations of the service, in the order in which they are documented. */
export const operations = (): Operation[] => [
  ...derivedForAnyone(),
  ...derivedForAccounts(),
  ...derivedForAffiliates(),
  ...derivedForTeam(),
]

/** Describes the service as OpenAPI 3.1. */
export function openapi() {
  const responses: Record<string, ResponseObject> = {}
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations()) {
    const path = paths[operation.path] ?? {}
    paths[operation.path] = path
    path[operation.method] = writeOperation(operation, responses)
  }
  const components = referredTo(
    {
      schemas: schemas(),
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: { ...responses },
      examples: PROBLEMS,
    },
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
    externalDocs: { description: 'Guide', url: `${ORIGIN}/docs/start` },
  }
}
