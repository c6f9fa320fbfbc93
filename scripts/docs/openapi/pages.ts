import type { JsonSchema } from '../types.ts'
import type { Operation } from './operation.ts'

// What anyone may read, and what visitors follow.

const PAGE_HEADERS = ['ETag', 'Cache-Control', 'Content-Security-Policy', 'Referrer-Policy']

/** A page, and the same as Markdown. */
const TWINS = ['text/html', 'text/markdown']

const page = (
  path: string,
  id: string,
  summary: string,
  description: string,
  parameters: readonly string[],
  type: string | readonly string[] = 'text/html',
  schema: JsonSchema = { type: 'string' },
): Operation => ({
  method: 'get',
  path,
  id,
  tag: 'documents',
  summary,
  description,
  who: 'anyone',
  parameters: [...parameters, 'If-None-Match'],
  answers: {
    200: { description: 'The document.', type, schema, headers: PAGE_HEADERS },
    304: { description: 'It is what you have.', headers: PAGE_HEADERS },
  },
  fails: [
    'https_required',
    ...(parameters.length > 0 ? (['not_found'] as const) : []),
    'unavailable',
  ],
})

/** Documents, the state of the service, and the links that visitors follow. */
export const pages = (): Operation[] => [
  page('/', 'getStart', 'Where to begin', 'Leads to all that is here.', []),
  page('/docs', 'getReference', 'The reference', 'Each operation, to be tried.', []),
  page(
    '/docs/{page}',
    'getGuide',
    'The guide',
    'One page of the guide; with `.md` the same as Markdown.',
    ['page_name'],
    TWINS,
  ),
  page(
    '/problems/{code}',
    'getProblem',
    'What a code means',
    'Cause and cure of a problem; with `.md` the same as Markdown.',
    ['code'],
    TWINS,
  ),
  page(
    '/llms.txt',
    'getLlms',
    'What there is to read',
    'All documents, for tools that read them.',
    [],
    'text/plain',
  ),
  page(
    '/openapi.json',
    'getOpenapi',
    'This document',
    'The service as OpenAPI 3.1.',
    [],
    'application/json',
    { type: 'object' },
  ),
  page(
    '/schemas/v1/{file}',
    'getEnvelopeSchema',
    'The schema of an envelope',
    'A JSON Schema at its `$id`.',
    ['envelope_file'],
    'application/schema+json',
    { type: 'object' },
  ),
  page(
    '/schemas/v1/{vertical}/{file}',
    'getEntitySchema',
    'The schema of an entity',
    'A JSON Schema at its `$id`.',
    ['vertical', 'entity_file'],
    'application/schema+json',
    { type: 'object' },
  ),
  page(
    '/assets/{file}',
    'getAsset',
    'A part of a page',
    'Styles and scripts of the pages.',
    ['file'],
    ['text/css', 'text/javascript', 'image/svg+xml'],
  ),
  {
    method: 'get',
    path: '/go/{link_id}',
    id: 'followLink',
    tag: 'links',
    summary: 'Follow a link',
    description:
      'Leads a visitor to the landing page, with `tracking_data` added to its query, and records the click without making anyone wait.',
    who: 'anyone',
    parameters: ['link_id'],
    answers: {
      302: {
        description: 'To the landing page.',
        headers: ['Location', 'Cache-Control', 'Referrer-Policy'],
      },
    },
    fails: ['https_required', 'not_found', 'internal_error', 'unavailable'],
    failsAs: 'page',
  },
  {
    method: 'get',
    path: '/healthz',
    id: 'getHealth',
    tag: 'documents',
    summary: 'Is it there',
    description: 'Whether the Worker answers. It asks no database.',
    who: 'anyone',
    answers: {
      200: {
        description: 'It is.',
        schema: { type: 'object', properties: { status: { const: 'ok' } }, required: ['status'] },
      },
    },
    fails: ['https_required'],
  },
]
