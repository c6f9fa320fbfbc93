import type { Connection } from '../../platform/db/database.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { FACT_TABLES } from './fact-tables.ts'
import type { FactRow } from './facts.ts'
import { ACTIVITY_COLUMNS, EVENT_COLUMNS, TRANSACTION_COLUMNS } from './facts-sql.ts'

const HELD_COLUMNS = {
  transactions: TRANSACTION_COLUMNS,
  activity: ACTIVITY_COLUMNS,
  events: EVENT_COLUMNS,
} as const

/** Reads the records of some days that wait for their customer. */
export const heldFacts = (table: keyof typeof FACT_TABLES) =>
  compileStatement(`
    select ${HELD_COLUMNS[table]} from ${table} t indexed by ${table}_held
    where t.account = :account and t.held = 1
      and t.${FACT_TABLES[table].dayColumn} between :first_day and :last_day limit :rows`)

/** Reads the records of some days that wait for their customer, at most `rows` of each table. */
export function readHeldFacts(
  db: Connection,
  account: string,
  tables: readonly (keyof typeof FACT_TABLES)[],
  { first, last }: { readonly first: number; readonly last: number },
  rows: number,
): Promise<(readonly FactRow[])[]> {
  const values = { account, first_day: first, last_day: last, rows }
  return readBatch<FactRow[][]>(
    db,
    tables.map((table) => bindStatement(db, heldFacts(table), values)),
  )
}
