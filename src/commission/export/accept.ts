import type { Context } from 'hono'
import { accepts } from 'hono/accepts'

/** The formats of statements. */
export type ExportFormat = 'json' | 'csv' | 'html'

const TYPES: Readonly<Record<string, ExportFormat>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'text/html': 'html',
}

/** Returns the format that the `Accept` of a request prefers, by its weights; JSON if it names none. */
export function formatOf(c: Context): ExportFormat {
  const supports = Object.keys(TYPES)
  const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
  return TYPES[type] ?? 'json'
}
