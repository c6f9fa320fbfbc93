import { bindStatement, type Statement } from '../statement.ts'
import { daysOf } from './delivery-days.ts'
import { type DeliveryInput, takeRows } from './delivery-input.ts'
import { type Row, repeatedRows, toRowChunks } from './json-chunks.ts'
import { lookupParts } from './lookup-parts.ts'
import { estimateRecordBytes, type RecordBytes } from './record-bytes.ts'
import type { RecordTable } from './record-table.ts'
import { MASK_PATCH, REPEATS } from './sql-fragments.ts'
import { buildStatements, type DeliveryStatements } from './statements.ts'

/** What the statements of a request's batch are built from. */
export interface BatchParts {
  readonly bind: (statement: Statement, values: Values) => D1PreparedStatement
  readonly statements: DeliveryStatements
  readonly table: RecordTable
  readonly input: DeliveryInput
  /** The parameters of insertDelivery: chunks of lookup columns, by parameter name. */
  readonly chunkValues: Values
  /** A JSON array of the days of the records. */
  readonly days: string
  readonly lookup: readonly string[]
  readonly flagged: readonly string[]
  readonly references: readonly string[]
  /** Chunks of whole records. */
  readonly records: readonly string[]
  readonly recordBytes: RecordBytes
  /** Whether a record may lack its time, and one does. */
  readonly lacksTime: boolean
}

/** The parameters of statements, by name. */
export type Values = Readonly<Record<string, unknown>>

/** Returns the parameters of the statements of a request. Takes the rows out of `input`. */
export function prepareBatch(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): BatchParts {
  const { rows, invalidRows } = takeRows(input)
  // A column that no record carries is neither sent nor read.
  const isPresent = (name: string) => (row: Row) => (row.values[name] ?? null) !== null
  const presentColumns = [...table.columns, MASK_PATCH, REPEATS].filter((name) =>
    rows.some(isPresent(name)),
  )
  const statements = buildStatements(table, presentColumns)
  const flaggedRows = [...repeatedRows(rows, input.repeats), ...invalidRows]
  const lookups = lookupParts(table, statements, { rows, flaggedRows })
  const records = toRowChunks(rows, presentColumns, table.encoded)
  const recordBytes = estimateRecordBytes(rows, [...records, ...lookups.lookup, ...lookups.flagged])
  return {
    bind: (statement, values) => bindStatement(session, statement, values),
    statements,
    table,
    input,
    days: JSON.stringify(daysOf(table, rows)),
    ...lookups,
    records,
    recordBytes,
    lacksTime: rows.some(({ values }) => table.timeColumn && !values[table.timeColumn]),
  }
}
