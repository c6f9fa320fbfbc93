import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { ReadCall } from '../http/operation.ts'
import { csvHeaders, writeCsv } from './csv.ts'

// Lists as CSV. They are made of the JSON that the caller may see, so that CSV hides what JSON hides.

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null

/** Returns the members of a list that are objects. */
export const objectsIn = (value: unknown): readonly Members[] =>
  Array.isArray(value) ? value.filter(isObject) : []

/** Returns the text of a cell. What is hidden or null is empty. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellOf).join('; ')
  if (!isObject(value)) return String(value)
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${cellOf(one)}`)
    .join('; ')
}

/** Returns the cells of an object in the order of the columns. */
export const rowOf = (columns: readonly string[], item: Members): string[] =>
  columns.map((column) => cellOf(item[column]))

/**
 * Returns the CSV of a list. Its columns are members of the items that `itemsOf` returns of those of the answer;
 * these themselves if it is absent.
 */
export const asCsv = (
  name: string,
  columns: readonly string[],
  itemsOf: (item: Members) => readonly Members[] = (item) => [item],
) => ({
  'text/csv': async (
    c: Context<AppEnv>,
    { grant }: ReadCall,
    _input: object,
    read: () => Promise<{ readonly data?: unknown }>,
  ) => {
    const items = objectsIn((await read()).data).flatMap(itemsOf)
    const rows = items.map((item) => rowOf(columns, item))
    return c.body(writeCsv([columns, ...rows]), 200, csvHeaders(name, grant.account))
  },
})

/** Returns what is told about the CSV of a list. */
export const csvWords = (columns: readonly string[]) => ({
  'text/csv': { example: `${columns.join()}\r\n`, headers: ['Content-Disposition'] },
})
