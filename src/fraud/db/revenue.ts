import { ATTRIBUTION, CUSTOMER_CHANGES } from '../../ingest/db/changed.ts'
import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { all } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'

// The net revenue of the customers of affiliates in periods that are over.

const lastMark = (resources: string, days: string) => `ifnull((
      select max(seq) from changed where account = :account and resource in (${resources}) and ${days}), 0)`

const READ = compileStatement(`
  with periods as materialized (
    select value ->> 0 as period, value ->> 1 as form, max(
      ${lastMark(':resource', 'day between value ->> 2 and value ->> 3')},
      ${lastMark(`'${CUSTOMER_CHANGES}', '${ATTRIBUTION}'`, 'day <= value ->> 3')}) as seq
    from ${JSON_EACH}(:periods)
  )
  select json_array(r.affiliate_id, r.period, r.currency) as key, r.revenue
  from periods p cross join ${JSON_EACH}(:affiliates) a
  cross join fraud_revenue r on r.account = :account and r.affiliate_id = a.value and r.period = p.period
  where r.form = p.form and r.position >= p.seq`)

/** A period, what its revenue follows from besides what marks tell, and its first and last day. */
export type FormedPeriod = readonly [period: string, form: string, first: number, last: number]

/**
 * Reads what is kept of affiliates in some periods, by JSON of affiliate, period and currency: where no record of a resource has
 * changed in the period since, and nothing of customers that counts in it.
 */
export async function readKept(
  db: Connection,
  values: { readonly account: string; readonly resource: string },
  affiliates: readonly string[],
  periods: readonly FormedPeriod[],
): Promise<ReadonlyMap<string, string>> {
  type Row = { key: string; revenue: string }
  const found = await all<Row>(db, READ, {
    ...values,
    affiliates: JSON.stringify(affiliates),
    periods: JSON.stringify(periods),
  })
  return new Map(found.map(({ key, revenue }) => [key, revenue]))
}

const KEEP = compileStatement(`
  insert into fraud_revenue (account, affiliate_id, period, currency, position, form, revenue)
  select :account, value ->> 0, value ->> 1, value ->> 2, :position, value ->> 3, value ->> 4
  from ${JSON_EACH}(:rows) where true
  on conflict (account, affiliate_id, period, currency) do update set
    position = excluded.position, form = excluded.form, revenue = excluded.revenue
  where fraud_revenue.position <= excluded.position`)

/** Keeps rows of affiliate, period, currency, form and revenue, as computed by who reads marks of changes from a position. */
export async function keepRevenue(
  db: Connection,
  values: { readonly account: string; readonly position: number },
  kept: readonly (readonly unknown[])[],
): Promise<void> {
  for (const rows of toJsonChunks(kept)) {
    await writeBatch(db, [bindStatement(db, KEEP, { ...values, rows })])
  }
}
