import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ACCOUNT } from './fill.ts'

/** What the affiliates' rules sum, as one pass over each table, without days, tiers and statements. */
const sumsOf = (account: string) => [
  `select c.affiliate_id, t.transaction_type, t.currency, count(*) as n, sum(t.amount_currency) as amount
   from transactions t not indexed
   join customers c on c.account = t.account and c.customer_id = t.customer_id
   where t.account = '${account}' and t.held = 0 and t.status = 'approved' group by 1, 2, 3`,
  `select c.affiliate_id, t.instrument, t.currency, count(*) as n, sum(t.lots_traded) as lots,
     sum(t.spread_cost) as spread, sum(t.commission) as fees, sum(t.pnl) as pnl
   from activity t not indexed
   join customers c on c.account = t.account and c.customer_id = t.customer_id
   where t.account = '${account}' and t.held = 0 group by 1, 2, 3`,
]

/** The service may still be writing to the file after it was filled. */
const WAITING = { readOnly: true, timeout: 30_000 }

/** The time of the sums alone, in milliseconds, and the facts that they count. */
export interface Limit {
  ms: number
  cpuMs: number
  facts: number
}

/** Sums the facts of the account in plain SQL, in the file of the service's database. */
export function measureLimit(state: string, account = ACCOUNT): Limit {
  const file = globSync(join(state, '**/*.sqlite')).find(hasFacts)
  if (!file) throw new Error(`No database in ${state}.`)
  const database = new DatabaseSync(file, WAITING)
  try {
    const started = performance.now()
    const before = process.cpuUsage()
    let facts = 0
    for (const sql of sumsOf(account))
      for (const { n } of database.prepare(sql).all()) facts += Number(n)
    const { user, system } = process.cpuUsage(before)
    return { ms: performance.now() - started, cpuMs: (user + system) / 1000, facts }
  } finally {
    database.close()
  }
}

function hasFacts(file: string): boolean {
  const database = new DatabaseSync(file, WAITING)
  try {
    return (
      database.prepare(`select 1 from sqlite_schema where name = 'activity'`).get() !== undefined
    )
  } finally {
    database.close()
  }
}
