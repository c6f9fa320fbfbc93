import { decodeRow } from './column-types.ts'
import { bindStatement, compileStatement, readBatch } from './statement.ts'
import { columnNames, encodedColumns, type Table } from './table.ts'

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
  /** The number of rows as the first page of this walk by cursor counted it. */
  counted?: Count | null
  /** How many bytes the rows of a page that is limited in bytes may have; 2 MiB if absent. */
  maxBytes?: number
}

/** A number of rows; `isLimited` if there are more. */
export interface Count {
  total: number
  isLimited: boolean
}

/** Rows that have more bytes than a page may have. */
export interface Excess {
  /** The bytes of the rows. */
  bytes: number
  /** The size of a page whose rows have at most 2 MiB. */
  suggestedSize: number
}

/** A page of rows. */
export interface FoundPage<T = Record<string, unknown>> extends Count {
  data: T[]
  /** The key of the page's last row; null on the last page. */
  last: KeyValue[] | null
  /** Set if the rows have more bytes than the page may have. `data` is empty then. */
  excess?: Excess
}

/** The values of `order` of a list by time: the oldest first, which is the default, or the latest. */
export const LIST_ORDERS = ['oldest', 'latest'] as const

/** The limits of lists. */
export const LIST_LIMITS = {
  /** The rows up to which `total` is exact: the database reads each row that it counts. */
  total: 100_000,
}

/** The maximum number of rows that a page by number reaches: the database reads all rows before it. */
export const MAX_DEPTH = 10_000

/** The maximum number of bytes of a page: all readers of an isolate share 128 MB. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** A list of rows in the order of a key. */
export interface ListQuery {
  /** The columns of a row, those of the key among them. */
  columns: readonly string[]
  /** The FROM and WHERE clauses, with named parameters. */
  from: string
  /**
   * The FROM and WHERE clauses of a page by cursor: the cells of the cursor are `:after_0` and so on.
   * If absent, these are the rows of `from` with a greater key.
   */
  fromCursor?: string
  /** The columns that order the rows and tell one from another. */
  key: readonly string[]
  /** Whether the rows come in descending order of the key. */
  descending?: boolean
  /**
   * A query for `total`, the number of rows. If absent, the first page counts the rows up to the limit,
   * and the cursors carry the number on.
   */
  total?: string
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
  const values = { ...query.values, ...cursorValues(page) }
  const known = query.total === undefined && page.counted
  const bind = (text: string) => bindStatement(db, compileStatement(text), values)
  const [rows = [], counted] = await readBatch<Record<string, unknown>[][]>(db, [
    bind(pageText(query, page)),
    ...(known ? [] : [bind(totalText(query))]),
  ])
  const count = known || limitCount(Number(counted?.[0]?.total ?? 0), query)
  const excess = query.limitsBytes ? excessOf(rows) : null
  if (excess) return { data: [], ...count, last: null, excess }
  const last = rows.length > page.size ? rows[page.size - 1] : undefined
  return {
    data: rows.slice(0, page.size) as T[],
    ...count,
    last: last ? query.key.map((name) => toKeyValue(last[name])) : null,
  }
}

/** Returns a counted number of rows, which is exact up to the limit. */
const limitCount = (counted: number, { total }: Pick<ListQuery, 'total'> = {}): Count =>
  total === undefined && counted > LIST_LIMITS.total
    ? { total: LIST_LIMITS.total, isLimited: true }
    : { total: counted, isLimited: false }

/** Returns a column of a row as a part of a cursor. */
const toKeyValue = (value: unknown): KeyValue => (typeof value === 'number' ? value : String(value))

const orderBy = ({ key, descending }: ListQuery) =>
  key.map((name) => (descending ? `${name} desc` : name)).join()

/** Returns the SQL of the number of rows; it counts at most one row more than the limit. */
export const totalText = ({ total, from }: ListQuery): string =>
  total ?? `select count(*) as total from (select 1 from ${from} limit ${LIST_LIMITS.total + 1})`

/** Returns the SQL of one page. */
export function pageText(query: ListQuery, page: Page): string {
  const rows = pageRows(query, page)
  return query.limitsBytes ? limitBytes(query.columns, rows, orderBy(query), page.maxBytes) : rows
}

function pageRows(query: ListQuery, page: Page): string {
  const { number, size, after } = page
  const { columns, from, key, descending } = query
  const { fromCursor = `${from} and ${isBeyondCursor(key, descending)}` } = query
  return `select ${columns.join()} from ${after ? fromCursor : from}
      order by ${orderBy(query)} limit ${size + 1} offset ${after ? 0 : (number - 1) * size}`
}

/** The condition that a row follows the cursor. */
export const isBeyondCursor = (key: readonly string[], descending = false): string =>
  `(${key.join()}) ${descending ? '<' : '>'} (${key.map((_, i) => `:after_${i}`).join()})`

/** Returns the cells of a page's cursor as parameters. */
export const cursorValues = ({ after }: Page): Record<string, KeyValue> =>
  Object.fromEntries((after ?? []).map((value, i) => [`after_${i}`, value]))

/**
 * Wraps a query so that its rows are read only if they have at most so many bytes together. Otherwise
 * each row holds nothing but `excess`, their number of bytes.
 */
export function limitBytes(
  columns: readonly string[],
  rows: string,
  order: string,
  maxBytes = MAX_PAGE_BYTES,
): string {
  const bytes = columns.map((name) => `ifnull(octet_length(${name}), 0)`).join(' + ')
  const unlessExcess = columns.map((name) => `iif(excess is null, ${name}, null) as ${name}`)
  return `
    with p as materialized (${rows}),
    b as materialized (select sum(${bytes}) as bytes from p),
    e as materialized (select iif(bytes > ${maxBytes}, bytes, null) as excess from b)
    select ${unlessExcess.join()}, excess from e cross join p order by ${order}`
}

/** Returns by how much the rows of a query of `limitBytes` exceed its limit; null if they do not. */
export function excessOf(rows: readonly Record<string, unknown>[]): Excess | null {
  const bytes = Number(rows[0]?.excess ?? 0)
  if (bytes === 0) return null
  // One row more is read than shown.
  const suggestedSize = Math.max(1, Math.floor((rows.length * MAX_PAGE_BYTES) / bytes) - 1)
  return { bytes, suggestedSize }
}

/** Which rows of a table a list has, and which of their columns. */
interface RowList<Row extends object, Name extends string> {
  table: Table<Row>
  /** All columns if absent. */
  columns?: readonly Name[]
  /** The column that orders the rows and tells one from another. */
  key: NoInfer<Name>
  descending?: boolean
  /** Lists the rows of this account; of all accounts if null. */
  account: string | null
}

/** Reads one page of a table's rows. */
export async function listRows<Row extends object, Name extends string & keyof Row>(
  db: D1Database,
  { table, columns, key, descending = false, account }: RowList<Row, Name>,
  page: Page,
): Promise<FoundPage<Pick<Row, Name>>> {
  const encoded = encodedColumns(table)
  const from = `${table.name} where ${account === null ? 'true' : 'account = :account'}`
  const found = await paginate<Pick<Row, Name>>(
    db,
    {
      columns: columns ?? columnNames(table),
      from,
      key: [key],
      descending,
      values: { account },
    },
    page,
  )
  return { ...found, data: found.data.map((row) => decodeRow(encoded, row)) }
}
