import type { JsonSchema } from '../types.ts'
import type { Operation } from './operation.ts'

// Public operations: the documents, the health check and the links that visitors follow.

const DOCUMENT_HEADERS = ['ETag', 'Cache-Control', 'Content-Security-Policy', 'Referrer-Policy']

const PAGE_OR_MARKDOWN = ['text/html', 'text/markdown']

type Document = Pick<Operation, 'path' | 'id' | 'summary' | 'description'> & {
  parameters?: readonly string[]
  type?: string | readonly string[]
  schema?: JsonSchema
}

function document({
  parameters = [],
  type = 'text/html',
  schema = { type: 'string' },
  ...operation
}: Document): Operation {
  return {
    ...operation,
    method: 'get',
    tag: 'documents',
    caller: 'anyone',
    parameters: [...parameters, 'If-None-Match'],
    answers: {
      200: { description: 'The document.', type, schema, headers: DOCUMENT_HEADERS },
      304: {
        description: 'The document has not changed since the `ETag` in `If-None-Match`.',
        headers: DOCUMENT_HEADERS,
      },
    },
    errors: [
      'https_required',
      ...(parameters.length > 0 ? (['not_found'] as const) : []),
      'unavailable',
    ],
  }
}

const pages = (): Operation[] => [
  document({
    path: '/',
    id: 'getStart',
    summary: 'Home page',
    description: 'Returns the home page, which leads to the guide and the reference.',
  }),
  document({
    path: '/docs',
    id: 'getReference',
    summary: 'API reference',
    description: 'Returns the overview of the reference. `/docs/reference` returns the same page.',
  }),
  document({
    path: '/docs/reference/{page}',
    id: 'getReferencePage',
    summary: 'Page of the API reference',
    description: 'Returns the operations of one topic, each with a sample.',
    parameters: ['reference_page'],
  }),
  document({
    path: '/docs/{page}',
    id: 'getGuide',
    summary: 'Guide page',
    description: 'Returns a page of the guide. With `.md` after its name, returns it as Markdown.',
    parameters: ['page_name'],
    type: PAGE_OR_MARKDOWN,
  }),
]

const files = (): Operation[] => [
  document({
    path: '/llms.txt',
    id: 'getLlms',
    summary: 'List of documents',
    description: 'Lists all documents for language models, in the format of llmstxt.org.',
    type: 'text/plain',
  }),
  document({
    path: '/openapi.json',
    id: 'getOpenapi',
    summary: 'OpenAPI document',
    description: 'Returns this API description as OpenAPI 3.1.',
    type: 'application/json',
    schema: { type: 'object' },
  }),
  document({
    path: '/schemas/v1/{file}',
    id: 'getEnvelopeSchema',
    summary: 'JSON Schema of an envelope',
    description: 'Returns the JSON Schema of a bulk, a result, a list or a problem.',
    parameters: ['envelope_file'],
    type: 'application/schema+json',
    schema: { type: 'object' },
  }),
  document({
    path: '/schemas/v1/{vertical}/{file}',
    id: 'getEntitySchema',
    summary: 'JSON Schema of a record',
    description: 'Returns the JSON Schema of a record of one vertical.',
    parameters: ['vertical', 'entity_file'],
    type: 'application/schema+json',
    schema: { type: 'object' },
  }),
  document({
    path: '/assets/{file}',
    id: 'getAsset',
    summary: 'Asset of a page',
    description: 'Returns a style sheet, script, image or search index of the pages.',
    parameters: ['file'],
    type: ['text/css', 'text/javascript', 'image/svg+xml', 'application/json'],
    schema: { type: ['string', 'object'] },
  }),
]

const problem: Operation = {
  method: 'get',
  path: '/problems/{code}',
  id: 'getProblem',
  tag: 'documents',
  summary: 'Error code',
  description: 'Redirects to the cause of an error code and what to do, in the guide.',
  caller: 'anyone',
  parameters: ['code'],
  answers: { 302: { description: 'A redirect to the errors page.', headers: ['Location'] } },
  errors: ['https_required', 'not_found', 'unavailable'],
}

const followLink: Operation = {
  method: 'get',
  path: '/go/{link_id}',
  id: 'followLink',
  tag: 'links',
  summary: 'Follow a link',
  description:
    'Redirects a visitor to the landing page with `tracking_data` added to its query, after the parameters of the visitor if the link has `pass_query`. The click is recorded after the response, so that the visitor does not wait for it. Link previews, bots that name themselves and prefetches get the redirect and no click.',
  caller: 'anyone',
  parameters: ['link_id'],
  answers: {
    302: {
      description: 'A redirect to the landing page.',
      headers: ['Location', 'Cache-Control', 'Referrer-Policy'],
    },
  },
  errors: ['https_required', 'not_found', 'internal_error', 'unavailable'],
  errorFormat: 'page',
}

const health: Operation = {
  method: 'get',
  path: '/healthz',
  id: 'getHealth',
  tag: 'documents',
  summary: 'Health check',
  description: 'Reports that the Worker responds. It does not query the database.',
  caller: 'anyone',
  answers: {
    200: {
      description: 'The Worker responds.',
      schema: { type: 'object', properties: { status: { const: 'ok' } }, required: ['status'] },
    },
  },
  errors: ['https_required'],
}

/** Lists the public operations. */
export const documents = (): Operation[] => [...pages(), problem, ...files(), followLink, health]
