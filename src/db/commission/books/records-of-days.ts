import { pairs, readBatch } from '../../batch.ts'
import type { Connection } from '../../database.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import type { FACT_TABLES } from '../fact-tables.ts'
import { type ChangedDays, factsOfDays, factTables } from './changed-records.ts'

type FactTable = keyof typeof FACT_TABLES

/** A record of some customers and days. Ids are as stored. */
export interface DayRecord {
  readonly table: FactTable
  readonly customer_id: string
  readonly day: number
  /** The type of a transaction, the name of an event; otherwise ''. */
  readonly kind: string
}

/** A record that waited until its customer was received. */
export interface ReleasedRecord extends DayRecord {
  readonly delivery: string
}

/**
 * Reads the records from deliveries before `:before` that waited for their customer. A record waited if
 * its customer was received later and has not changed since, or if the delivery log lists the record.
 */
export const releasedFacts = (table: FactTable) =>
  compileStatement(
    factsOfDays(
      table,
      't.delivery',
      `t.customer_id in (select value from json_each(:ids))
        and t.delivery < :before and t.held = 0 and (
          exists (select 1 from customers c
            where c.account = t.account and c.customer_id = t.customer_id and c.revision = 1
              and c.delivery > t.delivery)
          or exists (select 1 from deliveries d cross join json_each(d.unknown_at) u
            where d.account = t.account and d.id = t.delivery and u.value = t.idx))`,
    ),
  )

const CURRENCY = {
  transactions: `t.currency, t.amount_usd is not null as usd`,
  activity: `t.currency, t.volume_usd is not null as usd`,
  events: 't.currency, 0 as usd',
} as const

/**
 * Reads the customers and days with records in some currencies; in any currency if `:currencies` is
 * null.
 */
export const currenciesOfDays = (table: FactTable) =>
  compileStatement(
    `select distinct customer_id, day, kind, currency, usd from (
      ${factsOfDays(
        table,
        CURRENCY[table],
        't.customer_id in (select value from json_each(:ids)) and t.held = 0',
      )})
    where :currencies is null or currency is null
      or currency in (select value from ${JSON_EACH}(:currencies))
      or (usd and 'USD' in (select value from ${JSON_EACH}(:currencies)))`,
  )

/**
 * A customer and day with records in a currency; null: events that take the currency of their
 * definition.
 */
export interface CurrencyDay extends DayRecord {
  readonly currency: string | null
  /** 1 if they have an amount in USD, too. */
  readonly usd: 0 | 1
}

async function readFacts<T extends DayRecord>(
  db: Connection,
  days: ChangedDays,
  statementOf: (table: FactTable) => ReturnType<typeof compileStatement>,
  values: Record<string, string | null>,
): Promise<T[]> {
  const tables = factTables(days)
  if (tables.length === 0) return []
  const found = await readBatch<Omit<T, 'table'>[][]>(
    db,
    tables.map((table) =>
      bindStatement(db, statementOf(table), { ...values, days: JSON.stringify(days[table]) }),
    ),
  )
  return pairs(tables, found).flatMap(([table, rows]) =>
    rows.map((row) => ({ ...row, table }) as unknown as T),
  )
}

/** Returns the records of some customers that waited for them, from deliveries before `before`. */
export const readReleased = (
  db: Connection,
  account: string,
  days: ChangedDays,
  ids: readonly string[],
  before: string,
): Promise<ReleasedRecord[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : readFacts(db, days, releasedFacts, { account, ids: JSON.stringify(ids), before })

/**
 * Returns the customers and days with records in some currencies; in any currency if `currencies`
 * is null.
 */
export const readCurrencyDays = (
  db: Connection,
  account: string,
  days: ChangedDays,
  ids: readonly string[],
  currencies: readonly string[] | null,
): Promise<CurrencyDay[]> => {
  const listed = currencies === null ? null : JSON.stringify(currencies)
  const values = { account, ids: JSON.stringify(ids), currencies: listed }
  return readFacts(db, days, currenciesOfDays, values)
}
