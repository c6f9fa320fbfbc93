import type { Context } from 'hono'
import { preferredType } from '../../http/preferred-type.ts'

/** The formats of statements. */
export type ExportFormat = 'json' | 'csv' | 'html'

const FORMATS = {
  'application/json': 'json',
  'text/csv': 'csv',
  'text/html': 'html',
} as const

/** Returns the format that the `Accept` of a request prefers, by its weights; JSON if it names none. */
export const formatOf = (c: Context): ExportFormat =>
  FORMATS[preferredType(c, ['application/json', 'text/csv', 'text/html'])]
