import { withD1Retry } from './retry.ts'
import { bindStatement, compileStatement } from './statement.ts'

/** A value of a key column. */
export type KeyValue = string | number

/** The page that a caller asks for. */
export interface Page {
  /** The number of the page, from 1. */
  number: number
  /** The number of rows on a page. */
  size: number
  /** The key after which the page begins; null if the caller named the page by its number. */
  after: readonly KeyValue[] | null
}

/** A page of rows. */
export interface FoundPage<T = Record<string, unknown>> {
  data: T[]
  /** The number of rows on all pages. */
  total: number
  /** The key of the page's last row; null on the last page. */
  last: KeyValue[] | null
  /** Set if the rows exceed 2 MiB: a suggested page size. `data` is empty then. */
  suggestedSize?: number
}

/** A row limit in bytes: an isolate has 128 MB for all who read at the same time. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** A list of rows in the order of a key that never changes. */
export interface ListQuery {
  /** The columns of a row. */
  columns: readonly string[]
  /** The FROM and WHERE clauses, with named parameters. */
  from: string
  /** The columns that order the rows and tell one from another. */
  key: readonly string[]
  /** Whether the rows come in descending order of a key of one column. */
  descending?: boolean
  /** A join that completes the rows of a page, if `from` finds only their keys, as `k`. */
  join?: string
  /** A query for `total`, the number of rows. */
  total: string
  values: Readonly<Record<string, unknown>>
  /** Whether the page is limited in bytes. */
  limitsBytes?: boolean
}

/**
 * Reads one page. It reads one row more than the page shows, to know whether there is a next one.
 * Paging by cursor returns each row once, even if records are added meanwhile.
 */
export async function paginate<T = Record<string, unknown>>(
  db: D1Database | D1DatabaseSession,
  query: ListQuery,
  page: Page,
): Promise<FoundPage<T>> {
  const { key, total, limitsBytes = false } = query
  const values = { ...query.values, ...cursorValues(page) }
  const [counted, ...pages] = await withD1Retry(() =>
    db.batch<Record<string, unknown>>([
      bindStatement(db, compileStatement(total), values),
      bindStatement(db, compileStatement(pageText(query, page)), values),
    ]),
  )
  const results = pages.flatMap((rows) => rows.results)
  const tooLarge = limitsBytes ? overByteLimit(results) : null
  if (tooLarge) return tooLarge
  const last = results.length > page.size ? results[page.size - 1] : undefined
  return {
    data: results.slice(0, page.size) as T[],
    total: Number(counted?.results[0]?.total ?? 0),
    last: last ? key.map((name) => toKeyValue(last[name])) : null,
  }
}

/** Returns a column of a row as a part of a cursor. */
export const toKeyValue = (value: unknown): KeyValue =>
  typeof value === 'number' ? value : String(value)

const orderBy = ({ key, descending }: ListQuery) => `${key.join()}${descending ? ' desc' : ''}`

/** Returns the SQL of one page. */
export function pageText(query: ListQuery, page: Page): string {
  const rows = pageRows(query, page)
  return query.limitsBytes ? limitBytes(query.columns, rows, orderBy(query)) : rows
}

function pageRows(query: ListQuery, page: Page): string {
  const { columns, from, key, descending, join } = query
  const after = page.after
    ? ` and (${key.join()}) ${descending ? '<' : '>'} (${key.map((_, i) => `:after_${i}`).join()})`
    : ''
  const offset = page.after ? 0 : (page.number - 1) * page.size
  const rows = (selected: string) => `select ${selected} from ${from}${after}
      order by ${orderBy(query)} limit ${page.size + 1} offset ${offset}`
  if (!join) return rows(columns.join())
  return `with k as materialized (${rows(key.join())})
      select ${columns.map((name) => `t.${name}`).join()} from k ${join}`
}

const cursorValues = ({ after }: Page) =>
  Object.fromEntries((after ?? []).map((value, i) => [`after_${i}`, value]))

/**
 * Wraps a query so that its rows are read only if they have at most 2 MiB together. Otherwise each
 * row holds nothing but `excess`, their number of bytes.
 */
export function limitBytes(columns: readonly string[], rows: string, order: string): string {
  const bytes = columns.map((name) => `ifnull(octet_length(${name}), 0)`).join(' + ')
  const unlessExcess = columns.map((name) => `iif(excess is null, ${name}, null) as ${name}`)
  return `
    with p as materialized (${rows}),
    b as materialized (select sum(${bytes}) as bytes from p),
    e as materialized (select iif(bytes > ${MAX_PAGE_BYTES}, bytes, null) as excess from b)
    select ${unlessExcess.join()}, excess from e cross join p order by ${order}`
}

/** Returns an empty page with a suggested page size if the rows exceed 2 MiB, else null. */
export function overByteLimit(rows: readonly Record<string, unknown>[]): FoundPage<never> | null {
  const bytes = Number(rows[0]?.excess ?? 0)
  if (bytes === 0) return null
  // One row more is read than shown.
  const suggestedSize = Math.max(1, Math.floor((rows.length * MAX_PAGE_BYTES) / bytes) - 1)
  return { data: [], total: 0, last: null, suggestedSize }
}
