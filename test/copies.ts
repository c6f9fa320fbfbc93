import { env } from 'cloudflare:workers'

/** The resource whose total counts the rows of a table. */
const RESOURCES = {
  customers: 'customers',
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
}

/**
 * Inserts copies of the only row that each account has in a table, numbered from 1, and counts them in
 * the total of the list. `changes` are SQL expressions by column; `n.value` is the number of the copy.
 */
export async function copyRows(
  table: keyof typeof RESOURCES,
  count: number,
  changes: Record<string, string>,
): Promise<void> {
  const row = (await env.DB.prepare(`select * from ${table}`).first())!
  const columns = Object.keys(row)
  const numbers = JSON.stringify(Array.from({ length: count }, (_, i) => i + 1))
  await env.DB.batch([
    env.DB.prepare(
      `insert into ${table} (${columns}) select ${columns.map((name) => changes[name] ?? `r.${name}`)}
       from ${table} r cross join json_each(?) n`,
    ).bind(numbers),
    env.DB.prepare('update totals set total = total + ? where resource = ?').bind(
      count,
      RESOURCES[table],
    ),
  ])
}
