import { compileStatement, type Statement } from '../statement.ts'
import { type DeliveryShape, insertDeliverySql, SELECT_DELIVERY } from './classify-sql.ts'
import {
  addReleasedSql,
  COUNT_WRITTEN,
  countHeldSql,
  countRepeatedSql,
  releaseSql,
  SELECT_RELEASING,
  signUpSql,
} from './count-sql.ts'
import type { RecordTable } from './record-table.ts'
import { selectEarlierWritesSql } from './retry-sql.ts'
import { signupWarningsSql } from './signup-warnings-sql.ts'
import { selectStoredSql, selectUndecidedSql } from './sizes-sql.ts'
import { OWN_DELIVERY_ROW, type SqlFragments, sqlFragments } from './sql-fragments.ts'
import { DISCARD_DRY_RUN } from './storage-sql.ts'
import {
  countDryRunSql,
  RETURNING_OUTCOME,
  selectDryRunSql,
  upsertMovedSql,
  upsertSql,
} from './upsert-sql.ts'

/** A statement without a RETURNING clause, and with one that returns the outcome of each record. */
interface OutcomeStatement {
  readonly withoutReturning: Statement
  readonly returning: Statement
}

/** The statements that store a delivery in one table, for records that carry certain columns. */
export interface DeliveryStatements {
  /** The cells of a lookup chunk, after the position of the record. */
  readonly lookupColumns: readonly string[]
  readonly insertDelivery: (shape: DeliveryShape) => Statement
  readonly selectEarlierWrites: Statement
  readonly upsertMoved: OutcomeStatement
  readonly upsert: OutcomeStatement
  readonly countHeld: (lookupChunks: number) => Statement
  readonly countRepeated: (flaggedChunks: number) => Statement
  /** Of a table whose records may lack the time of the signup. */
  readonly signUp: Statement | null
  /** One pair per table whose held records this table's records release. */
  readonly releases: readonly { readonly release: Statement; readonly addReleased: Statement }[]
  /** Those of a table with a `sizeLimit`. */
  readonly sizes: {
    readonly selectUndecided: (lookupChunks: number) => Statement
    readonly selectStored: Statement
  } | null
  readonly signupWarnings: Statement | null
  readonly countDryRun: Statement
  readonly selectDryRun: Statement
}

/** The statements that are the same for every table. */
export const COMMON_STATEMENTS = {
  countWritten: compileStatement(COUNT_WRITTEN),
  /** Stores the Idempotency-Key with the digest of its records, unless nothing was written. */
  insertIdempotencyKey: compileStatement(`
      insert into idempotency_keys (account, resource, key, digest, delivery)
      select :account, :resource, :idempotency_key, :records_digest, :delivery
      from ${OWN_DELIVERY_ROW} and refused = 0 and written > 0
      on conflict (account, resource, key) do nothing`),
  selectDelivery: compileStatement(SELECT_DELIVERY),
  selectReleasing: compileStatement(SELECT_RELEASING),
  discardDryRun: compileStatement(DISCARD_DRY_RUN),
} as const

interface CacheEntry {
  readonly columns: string
  readonly statements: DeliveryStatements
}

const cache = new WeakMap<RecordTable, CacheEntry>()

/**
 * Returns the statements of a table for records that carry `presentColumns` and no others. The last
 * ones of each table are cached: a feed sends the same columns each time.
 */
export function buildStatements(
  table: RecordTable,
  presentColumns: readonly string[],
): DeliveryStatements {
  const columns = presentColumns.join()
  const cached = cache.get(table)
  if (cached?.columns === columns) return cached.statements
  const statements = build(table, sqlFragments(table, presentColumns))
  cache.set(table, { columns, statements })
  return statements
}

function build(table: RecordTable, fragments: SqlFragments): DeliveryStatements {
  const { sizeLimit } = table
  const signupWarnings = signupWarningsSql(table, fragments)
  const outcome = (text: string): OutcomeStatement => ({
    withoutReturning: compileStatement(text),
    returning: compileStatement(text + RETURNING_OUTCOME),
  })
  return {
    lookupColumns: fragments.lookupColumns,
    insertDelivery: memoize((shape) => insertDeliverySql(table, fragments, shape)),
    selectEarlierWrites: compileStatement(selectEarlierWritesSql(table, fragments)),
    upsertMoved: outcome(upsertMovedSql(table, fragments)),
    upsert: outcome(upsertSql(table, fragments)),
    countHeld: memoize((chunks) => countHeldSql(table, fragments, chunks)),
    countRepeated: memoize((chunks) => countRepeatedSql(table, fragments, chunks)),
    signUp: table.hasFirstSeen && table.timeColumn ? compileStatement(signUpSql(fragments)) : null,
    releases: table.releases.map((waiting) => ({
      release: compileStatement(releaseSql(fragments, waiting)),
      addReleased: compileStatement(addReleasedSql(waiting)),
    })),
    sizes: sizeLimit && {
      selectUndecided: memoize((chunks) => selectUndecidedSql(table, fragments, sizeLimit, chunks)),
      selectStored: compileStatement(selectStoredSql(table, sizeLimit)),
    },
    signupWarnings: signupWarnings === null ? null : compileStatement(signupWarnings),
    countDryRun: compileStatement(countDryRunSql(table, fragments)),
    selectDryRun: compileStatement(selectDryRunSql(table, fragments)),
  }
}

/** Compiles a statement once for each argument. There are few: policies, and one to five chunks. */
function memoize<A>(toSql: (argument: A) => string): (argument: A) => Statement {
  const compiled = new Map<string, Statement>()
  return (argument) => {
    const key = JSON.stringify(argument)
    const statement = compiled.get(key) ?? compileStatement(toSql(argument))
    compiled.set(key, statement)
    return statement
  }
}
