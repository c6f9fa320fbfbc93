import { dayOfIdentity } from '../../ingest/db/stored-record.ts'
import { requireDays } from '../../platform/db/archived.ts'
import type { Connection } from '../../platform/db/database.ts'
import { first } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { FACT_TABLES } from './fact-tables.ts'
import type { FactRow } from './facts.ts'
import { ACTIVITY_COLUMNS, EVENT_COLUMNS, TRANSACTION_COLUMNS } from './facts-sql.ts'

/**
 * The customer of a record, as stored, and its day, since 1970. `held` is 1 while it waits for the
 * customer.
 */
export interface FactPlace {
  readonly customer_id: string
  readonly day: number
  readonly held: number
}

/** Finds a transaction by its id. */
export const FIND_TRANSACTION = compileStatement(`
  select customer_id, day, held from transactions indexed by transactions_key
  where account = :account and transaction_id = :id`)

/** Finds an event by the identity under which it is stored. */
export const FIND_EVENT = compileStatement(`
  select customer_id, day, held from events indexed by events_key
  where account = :account and id = :id`)

/** Finds a row of trading activity by its key. */
export const FIND_ACTIVITY = compileStatement(`
  select customer_id, date as day, held from activity not indexed
  where account = :account and date = :date and customer_id = :customer_id
    and instrument = :instrument and currency = :currency`)

/** The key of a record: `id` of a transaction or event, or the members of a trading activity. */
export type FactKey =
  | { readonly resource: 'transactions' | 'activities'; readonly id: string }
  | {
      readonly resource: 'trading-activity'
      /** In days since 1970. */
      readonly date: number
      readonly customer_id: string
      readonly instrument: string
      readonly currency: string
    }

/**
 * Returns the customer and day of a record; null if the account has no record with this key.
 *
 * @throws MonthArchived if it may be archived.
 */
export async function findFactPlace(
  db: Connection,
  account: string,
  key: FactKey,
): Promise<FactPlace | null> {
  const [statement, values] = lookupOf(key)
  const found = await first<FactPlace>(db, statement, { account, ...values })
  if (!found) {
    const days = key.resource === 'trading-activity' ? [key.date] : dayOfIdentity(key.id)
    await requireDays(db, account, [{ resource: key.resource, days }])
  }
  return found
}

function lookupOf(key: FactKey) {
  switch (key.resource) {
    case 'transactions':
      return [FIND_TRANSACTION, { id: key.id }] as const
    case 'activities':
      return [FIND_EVENT, { id: key.id }] as const
    default:
      return [FIND_ACTIVITY, { ...key }] as const
  }
}

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
export async function readHeldFacts(
  db: Connection,
  account: string,
  tables: readonly (keyof typeof FACT_TABLES)[],
  { first, last }: { readonly first: number; readonly last: number },
  rows: number,
): Promise<(readonly FactRow[])[]> {
  const values = { account, first_day: first, last_day: last, rows }
  const results = await withD1Retry(() =>
    db.batch<FactRow>(tables.map((table) => bindStatement(db, heldFacts(table), values))),
  )
  return results.map((one) => one.results)
}
