import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ACCOUNT_PATH, operation } from './administration/operation.ts'
import {
  type CallerKind,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'
import { COUNT, orNull, TEXT, TIME } from './shapes.ts'

/** The schemas of exports. */
export const EXPORT_SCHEMAS: Record<string, JsonSchema> = {
  Export: object({
    id: documented('The id of the file.'),
    resource: documented('The resource whose records it has, such as `transactions`.'),
    month: documented(
      'The month of the records. Null of a resource that is exported as a whole.',
      orNull(TEXT),
    ),
    part: documented('The number of the file, from 1, among those of its month.', COUNT),
    records: documented('The number of records.', COUNT),
    bytes: documented('The size of the file.', COUNT),
    sha256: documented('The SHA-256 of the file, in hex.', {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
    }),
    sums: documented('Control totals: the sum of each column of decimals, over all currencies.', {
      type: 'object',
      additionalProperties: TEXT,
    }),
    first_delivery: documented(
      'The first of the deliveries that wrote its records. Null of what is not delivered.',
      orNull(TEXT),
    ),
    last_delivery: documented('The last of these deliveries.', orNull(TEXT)),
    version: documented('The version of its columns.', COUNT),
    written_at: documented('When it was written.', TIME),
  }),
  Exports: {
    type: 'object',
    properties: {
      data: { type: 'array', items: ref('Export') },
      meta: ref('Meta'),
      exported_at: documented(
        'When the last complete export began: the files have everything up to then. Null before the first.',
        orNull(TIME),
      ),
    },
    required: ['data', 'meta', 'exported_at'],
  },
}

const LIST = {
  path: '/exports',
  verb: 'list',
  noun: 'Exports',
  summary: 'List the files of an export',
  description:
    'Lists the Parquet files of the records and books, by resource, month and part. They are written each morning, if the account is exported. A file never changes; another one takes its place.',
}

const GET = {
  path: '/exports/{export_id}',
  verb: 'get',
  noun: 'Export',
  summary: 'Download a file of an export',
  description:
    'Returns a Parquet file, or the range of it that `Range` asks for. `ETag` is its SHA-256. A file that was replaced stays for a day.',
}

const PARAMETERS = [...PAGING, 'export_resource', 'export_month'] as const

const FILE_HEADERS = [...READ_HEADERS, 'ETag', 'Accept-Ranges', 'Content-Disposition']

const FILE: Operation['answers'] = {
  200: {
    description: 'The file.',
    type: 'application/vnd.apache.parquet',
    schema: { type: 'string', format: 'binary' },
    headers: FILE_HEADERS,
  },
  206: {
    description: 'The range of the file.',
    type: 'application/vnd.apache.parquet',
    schema: { type: 'string', format: 'binary' },
    headers: [...FILE_HEADERS, 'Content-Range'],
  },
  304: {
    description: 'The caller has the file: `If-None-Match` has its `ETag`.',
    headers: FILE_HEADERS,
  },
}

const FILES: Operation['answers'] = {
  200: { description: 'One page.', schema: ref('Exports'), headers: PAGE_HEADERS },
}

const own = (
  at: string,
  caller: CallerKind,
  tag: string,
  { path, verb, noun, summary, description }: typeof LIST,
) => ({
  ...{ method: 'get' as const, path: `${at}${path}`, id: `${verb}${pascalCase(tag)}${noun}`, tag },
  ...{ summary, description, caller },
})

/** Describes exports as an account reads them. */
export const exportsOf = (at: string, caller: CallerKind, tag: string): Operation[] => [
  {
    ...own(at, caller, tag, LIST),
    parameters: [...PARAMETERS, 'x-d1-bookmark'],
    answers: FILES,
    errors: ['invalid_query'],
  },
  {
    ...own(at, caller, tag, GET),
    parameters: ['export_id', 'x-d1-bookmark'],
    answers: FILE,
    errors: ['invalid_query', 'not_found'],
  },
]

/** Describes exports as the team reads them. */
export const teamExports = (): Operation[] => [
  operation({
    ...{ method: 'get', path: `${ACCOUNT_PATH}${LIST.path}`, id: 'listExports' },
    ...{ summary: LIST.summary, description: LIST.description },
    parameters: [...PARAMETERS, 'x-d1-bookmark'],
    answers: FILES,
  }),
  operation({
    ...{ method: 'get', path: `${ACCOUNT_PATH}${GET.path}`, id: 'getExport' },
    ...{ summary: GET.summary, description: GET.description },
    parameters: ['x-d1-bookmark'],
    answers: FILE,
  }),
]
