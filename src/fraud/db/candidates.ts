import { FACT_TABLES } from '../../commission/db/fact-tables.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'

// The customers with whom a rule begins. They are found along the days of the index, once for all affiliates.

/** Returns the SQL of the customers with records `t` of a table from `:from` to `:to` that meet a condition. */
export const customersWith = (table: keyof typeof FACT_TABLES, condition = 'true'): string => `
  select t.customer_id, t.${FACT_TABLES[table].dayColumn} as day from ${table} t not indexed
  where t.account = :account and t.${FACT_TABLES[table].dayColumn} between :from and :to and t.held = 0
    and ${condition}`

/** Returns the SQL of the customers `t` who signed up from `:from` to `:to` and meet a condition. */
export const signedUp = (condition = 'true'): string => `
  select t.customer_id, t.day from customers t indexed by customers_day
  where t.account = :account and t.day between :from and :to and ${condition}`

/** The SQL of the customers of whom a field that conditions use has changed. */
export const WITH_CHANGES = `
  select t.customer_id, t.day from customer_fields t
  where t.account = :account and t.day between :from and :to`

/** Returns the SQL of whether a column is one of some names. */
export const isNamed = (column: string, names: readonly string[]): string =>
  `${column} in (${names.map((name) => `'${name.replaceAll("'", "''")}'`).join()})`

/** A value of a statement. */
type Values = Readonly<Record<string, string | number>>

/** Returns the SQL of whether the affiliate of a customer has changed: a view has only records of its own days. */
export const hasMoved = (customer: string): string => `exists (select 1 from customer_affiliations h
  where h.account = :account and h.customer_id = ${customer})`

/** Returns the customers that SQL with a column `customer_id` finds, each once: those of an affiliate together. */
export async function readCandidates(
  db: Connection,
  sql: string,
  values: Values & { readonly account: string; readonly from: number; readonly to: number },
): Promise<string[]> {
  const found = compileStatement(`
    select f.customer_id from (select distinct customer_id from (${sql})) f
    join customers c on c.account = :account and c.customer_id = f.customer_id
    order by c.affiliate_id, f.customer_id`)
  const rows = await all<{ customer_id: string }>(db, found, values)
  return rows.map(({ customer_id }) => customer_id)
}

/**
 * Returns the SQL of those customers of other SQL who traded on fewer than `:active` of the `:idle` days after, or whose
 * affiliate has changed. Leaves out those of whom none of `:affiliates` has anything.
 */
export const hardlyTradedAfter = (sql: string): string => `
  with later as materialized (
    select value as day from json_each(:days) where value between :from + 1 and :to + :idle
  )
  select k.customer_id from (select distinct customer_id, day from (${sql})) k
  cross join customers o on o.account = :account and o.customer_id = k.customer_id
  where ${hasMoved('k.customer_id')} or iif(o.affiliate_id is null, o.link is not null,
      o.affiliate_id in (select value from json_each(:affiliates))) and :active > (
    select count(*) from (
      select 1 from later d where d.day between k.day + 1 and k.day + :idle and exists (
        select 1 from activity a not indexed where a.account = :account and a.date = d.day
          and a.customer_id = k.customer_id and a.held = 0)
      limit :active))`
