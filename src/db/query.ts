import {
  type Column,
  fillPlaceholders,
  getTableColumns,
  getTableName,
  type Query,
  type SQL,
  sql,
} from 'drizzle-orm'
import {
  QueryBuilder,
  SQLiteDeleteBase,
  SQLiteInsertBuilder,
  SQLiteSyncDialect,
  SQLiteUpdateBuilder,
} from 'drizzle-orm/sqlite-core'
import { decodeRow, encodedColumns } from './column-types.ts'
import { type FoundPage, type Page, paginate } from './paginate.ts'
import { withD1Retry } from './retry.ts'
import type { Table } from './schema.ts'

// Drizzle writes the statements of the directory and infers the types of their rows; D1 runs them.
// Drizzle has neither table-valued functions nor recursive queries. So the statements that read a
// JSON array of rows, and the one that follows parents, are SQL with named parameters.

const dialect = new SQLiteSyncDialect()

/** The session that would run a query: `toStatement`, `all` and `first` run them instead. */
const NO_SESSION = undefined as never

/**
 * Drizzle's query builder without a connection. It is put together from its parts because Drizzle's
 * D1 driver would add 4 KiB to the bundle.
 */
export const build = Object.assign(new QueryBuilder(dialect), {
  insert: <T extends Table>(table: T) =>
    new SQLiteInsertBuilder<T, 'async', unknown>(table, NO_SESSION, dialect),
  update: <T extends Table>(table: T) =>
    new SQLiteUpdateBuilder<T, 'async', unknown>(table, NO_SESSION, dialect),
  delete: <T extends Table>(table: T) =>
    new SQLiteDeleteBase<T, 'async', unknown>(table, NO_SESSION, dialect),
})

/** A database, or a session of one. */
type Connection = Pick<D1DatabaseSession, 'prepare'>

interface Compilable {
  toSQL(): Query
}

/** A SELECT, with the fields that it selects and the type of its rows. */
interface Select<Fields, Row> extends Compilable {
  readonly _: { readonly selection: Fields; readonly result: Row[] }
}

/**
 * The fields of a SELECT whose rows D1 returns under the right names. D1 names a value after its
 * column, so a field has the name of its column, and an expression has an alias: the field's name.
 */
type NamedFields<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends Column
    ? Fields[Name]['_']['name'] extends Name
      ? Fields[Name]
      : never
    : SQL.Aliased
}

/** Returns a query as a statement of D1, for a batch. */
export function toStatement(db: Connection, query: Compilable): D1PreparedStatement {
  const compiled = query.toSQL()
  return db.prepare(compiled.sql).bind(...compiled.params)
}

/** Returns the rows of a query. */
export async function all<Fields extends NamedFields<Fields>, Row>(
  db: Connection,
  query: Select<Fields, Row>,
): Promise<Row[]> {
  const { results } = await withD1Retry(() => toStatement(db, query).all<Row>())
  return results
}

/** Returns the first row of a query; null if there is none. */
export const first = <Fields extends NamedFields<Fields>, Row>(
  db: Connection,
  query: Select<Fields, Row>,
): Promise<Row | null> => withD1Retry(() => toStatement(db, query).first<Row>())

/**
 * Returns a function that binds the placeholders of a query. The query is built at the first call
 * only, for paths where building it costs more than the rest.
 */
export function preparedQuery<Fields, Row>(toQuery: () => Select<Fields, Row>) {
  let prepared: { _: Select<Fields, Row>['_']; query: Query } | undefined
  return (values: Record<string, string>): Select<Fields, Row> => {
    if (!prepared) {
      const select = toQuery()
      prepared = { _: select._, query: select.toSQL() }
    }
    const { _, query } = prepared
    return { _, toSQL: () => ({ ...query, params: fillPlaceholders(query.params, values) }) }
  }
}

/**
 * The condition that a column has one of these values. They are one parameter, a JSON array: D1 takes
 * at most 100 parameters.
 */
export const isOneOf = (column: Column, values: readonly string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`

/** Which rows of a table a list has, and which of their columns. */
interface RowList<T extends Table, Name extends string> {
  table: T
  /** All columns if absent. */
  columns?: readonly Name[]
  /** The column that orders the rows and tells one from another. */
  key: NoInfer<Name>
  descending?: boolean
  /** Lists the rows of this account; of all accounts if null. */
  account: string | null
  /** A query for `total`, the number of rows; they are counted up to the limit if absent. */
  total?: string
}

/** Reads one page of a table's rows. */
export async function listRows<T extends Table, Name extends string & keyof T['$inferSelect']>(
  db: D1Database,
  { table, columns, key, descending = false, account, total }: RowList<T, Name>,
  page: Page,
): Promise<FoundPage<Pick<T['$inferSelect'], Name>>> {
  const encoded = encodedColumns(getTableColumns(table))
  const from = `${getTableName(table)} where ${account === null ? 'true' : 'account = :account'}`
  const found = await paginate<Pick<T['$inferSelect'], Name>>(
    db,
    {
      columns: columns ?? Object.keys(getTableColumns(table)),
      from,
      key: [key],
      descending,
      ...(total !== undefined && { total }),
      values: { account },
    },
    page,
  )
  return { ...found, data: found.data.map((row) => decodeRow(encoded, row)) }
}
