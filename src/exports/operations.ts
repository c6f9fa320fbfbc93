import * as v from 'valibot'
import { ApiError } from '../platform/errors.ts'
import { list, operation } from '../platform/http/operation.ts'
import { notFound } from '../platform/http/read-fields.ts'
import { getObject } from '../platform/parquet/bucket.ts'
import { count, time } from '../platform/validation/answer-fields.ts'
import { component, described } from '../platform/validation/described.ts'
import { member, nullable, optional, said } from '../platform/validation/fields.ts'
import { ruleMessage } from '../platform/validation/issue.ts'
import { quote } from '../platform/validation/quote.ts'
import { type ExportFile, findFile, listFiles } from './db/files.ts'
import { findExportRun } from './db/runs.ts'
import { bucketOf, keyOf } from './objects.ts'

const instant = (time: number) => new Date(time).toISOString()

/** Returns a file as the API lists it. */
const presentFile = ({ sign: _, ...file }: ExportFile) => ({
  ...file,
  month: file.month || null,
  sums: JSON.parse(file.sums) as Record<string, string>,
  written_at: instant(file.written_at),
})

const exportFile = component('Export', () => ({
  id: member(v.string(), 'The id of the file.'),
  resource: member(v.string(), 'The resource whose records it has, such as `transactions`.'),
  month: nullable(
    v.string(),
    'The month of the records. Null of a resource that is exported as a whole.',
  ),
  part: member(count, 'The number of the file, from 1, among those of its month.'),
  records: member(count, 'The number of records.'),
  bytes: member(count, 'The size of the file.'),
  sha256: member(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)), 'The SHA-256 of the file, in hex.'),
  sums: member(
    v.record(v.string(), v.string()),
    'Control totals: the sum of each column of decimals, over all currencies.',
  ),
  version: member(count, 'The version of its columns.'),
  written_at: member(time, 'When it was written.'),
}))

const ofExports = { topic: 'monitoring', callers: ['team', 'account'] } as const

export const listExports = list({
  ...ofExports,
  id: 'listExports',
  shows: 'account',
  path: '/exports',
  params: {
    resource: optional(v.string(), said('Returns only files of this resource.', 'transactions')),
    month: optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, ruleMessage('pattern', 'a month such as `2026-10`')),
      ),
      said('Returns only files of this month.', '2026-10'),
    ),
  },
  words: described(() => ({
    description:
      'Lists the Parquet files of the records and books, by resource, month and part. They are written each morning, if the account is exported. A file never changes; another one takes its place.',
    answer: exportFile,
    more: {
      exported_at: nullable(
        time,
        'When the last complete export began: the files have everything up to then. Null before the first.',
      ),
    },
    command: {
      name: 'exports list',
      columns: ['id', 'resource', 'month', 'part', 'records', 'bytes', 'written_at'],
    },
  })),
  async list({ grant: { account }, session }, filter, page) {
    const [found, run] = await Promise.all([
      listFiles(session, account, filter, page),
      findExportRun(session, account),
    ])
    const exported_at = run?.since ? instant(run.since) : null
    return { ...found, data: found.data.map(presentFile), more: { exported_at } }
  },
})

const TYPE = 'application/vnd.apache.parquet'

export const getExport = operation({
  ...ofExports,
  id: 'getExport',
  shows: 'account',
  method: 'GET',
  path: '/exports/{export_id}',
  params: {
    export_id: member(v.string(), said('The id of the file.', 'exp_0123456789abcdef01234567')),
  },
  words: described(() => ({
    description:
      'Returns a Parquet file. `ETag` is its SHA-256. A file that was replaced stays for a day.',
    answer: null,
    files: { [TYPE]: { isBinary: true } },
  })),
  files: {
    async [TYPE](c, { grant, session }, { export_id: id }) {
      const file = await findFile(session, grant.account, id)
      if (!file) throw notFound('export', id)
      const { account } = grant
      const object = await getObject(bucketOf(c.env, grant), keyOf(account, file))
      if (!object) throw unwritten(id)
      return c.body(object.body, 200, {
        ETag: `"${file.sha256}"`,
        'Content-Type': TYPE,
        'Content-Length': String(file.bytes),
        'Content-Disposition': `attachment; filename="${nameOf(account, file)}"`,
      })
    },
  },
})

/** The operations by which the team and an account read the files of its export. */
export const EXPORT_OPERATIONS = [listExports, getExport]

/** Returns the name of a file: one for each account, resource, month and part. */
const nameOf = (account: string, { resource, month, part }: ExportFile) =>
  `${[account, resource, ...(month ? [month] : []), part].join('-')}.parquet`

/** Returns the error of a file that a restored database knows, and whose object was deleted since. */
const unwritten = (id: string) =>
  new ApiError('unavailable', {
    detail: `The file of the export ${quote(id)} is gone. An export that the team starts writes it anew.`,
    headers: { 'Retry-After': '3600' },
  })
