import { downloadExports } from '../download-exports.ts'
import { list } from '../format.ts'
import type { Operation, Options } from '../operation.ts'
import { listOperation } from './parts.ts'

const FILTERS: Options = {
  resource: { value: 'resource', description: 'Only this resource, such as transactions.' },
  month: {
    value: 'YYYY-MM',
    description: 'Only this month, such as 2026-10.',
    pattern: /^\d{4}-\d\d$/,
  },
}

/** The operations on the Parquet files of an account. */
export const EXPORTS: readonly Operation[] = [
  listOperation({
    noun: 'exports',
    verb: 'list',
    summary: 'Lists the Parquet files of the records and books, by resource and month.',
    example: 'acme --month 2026-10',
    path: 'accounts/{account}/exports',
    options: FILTERS,
    format: list(['id', 'resource', 'month', 'part', 'records', 'bytes', 'written_at']),
  }),
  {
    noun: 'exports',
    verb: 'download',
    summary: 'Downloads these files into a folder, and verifies the SHA-256 of each.',
    example: 'acme --to DIR --month 2026-10',
    method: 'GET',
    path: 'accounts/{account}/exports',
    options: {
      to: { value: 'folder', description: 'The folder, which is created.', required: true },
      ...FILTERS,
    },
    follow: downloadExports,
    format: () => '',
  },
]
