import { list } from '../format.ts'
import type { Operation } from '../operation.ts'

/** A row of a result. */
export type Row = Record<string, unknown>

const SUMMARY = ['received', 'created', 'updated', 'unchanged', 'stale', 'held', 'rejected']

/** Formats a list of deliveries. */
export const listed: Operation['format'] = list([
  'delivery_id',
  'received_at',
  'resource',
  'status',
  'dry_run',
  ...SUMMARY.map((name) => `summary.${name}`),
  'errors_total',
])

interface FoundRecord {
  index: number
  outcome: string
  errors?: Row[]
}

/** The answer to a search for a record. */
interface Found {
  data: (Row & { records: FoundRecord[] })[]
  stored: Row[]
}

/** Returns whether a list of deliveries was searched for a record. */
export const hasRecords = (body: unknown): body is Found => Object.hasOwn(body as object, 'stored')

/** Formats the deliveries of a record: a row for each error, or for the record that is stored. */
export const recordsTable: Operation['format'] = list(undefined, (delivery) =>
  (delivery.records as FoundRecord[]).flatMap(({ index, outcome, errors = [{}] }) =>
    errors.map(({ pointer, code, message, hint }) => ({
      received_at: delivery.received_at,
      delivery_id: delivery.delivery_id,
      resource: delivery.resource,
      status: delivery.status,
      index,
      outcome,
      pointer,
      code,
      message,
      hint,
    })),
  ),
)

/** Returns a sentence about what is stored under the id of a record. */
export const storedNote = ({ stored }: Found): string =>
  stored.length === 0
    ? 'No record is stored under this id. A valid record of a request that was refused because of another record is not listed: see `deliveries list --status refused`.'
    : stored
        .map(
          ({ resource, delivery_id, received_at, outcome }) =>
            `Stored in ${resource}: ${outcome} by ${delivery_id} at ${received_at}.`,
        )
        .join('\n')

/** Returns a row for each error of a refused record. */
export const errorRows = ({ index, key, errors }: Row): Row[] =>
  (errors as Row[]).map((error) => ({ index, key, ...error }))

/** The days that a row of a table names. */
const MAX_DAYS = 3

/** Returns a feed as a row of a table, with the first of its incomplete days. */
export function feedRow({ missing_days = [], low_days = [], ...feed }: Row): Row {
  const low = (low_days as { day: string; count: number; median: number }[]).map(
    ({ day, count, median }) => `${day} (${count} of ${median})`,
  )
  const missing = first(missing_days as string[])
  const lowDays = first(low)
  // A table has these columns only if a feed lacks something.
  return {
    ...feed,
    ...(missing && { missing_days: missing }),
    ...(lowDays && { low_days: lowDays }),
  }
}

function first(days: readonly string[]): string | null {
  if (days.length === 0) return null
  const more = days.length - MAX_DAYS
  return `${days.slice(0, MAX_DAYS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
