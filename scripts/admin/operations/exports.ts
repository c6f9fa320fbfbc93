import { OPERATIONS } from '../../operations.ts'
import { optionsOf } from '../derived.ts'
import { downloadExports } from '../download-exports.ts'
import type { Operation } from '../operation.ts'

const { resource, month } = OPERATIONS.find(({ id }) => id === 'listExports')!.params

/** The operations on the Parquet files of an account. */
export const EXPORTS: readonly Operation[] = [
  {
    noun: 'exports',
    verb: 'download',
    summary:
      'Downloads the Parquet files of an account into a folder, and verifies the SHA-256 of each.',
    example: 'acme --to DIR --month 2026-10',
    method: 'GET',
    path: 'accounts/{account}/exports',
    options: {
      to: { value: 'folder', description: 'The folder, which is created.', required: true },
      ...optionsOf({ resource: resource!, month: month! }),
    },
    follow: downloadExports,
    format: () => '',
  },
]
