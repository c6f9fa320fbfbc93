import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { DAY_HOURS, DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import type { ResourceName } from './list.ts'

/** How the records of one resource arrive at an account. */
export interface Arrivals {
  resource: ResourceName
  /** When the last delivery was received, in milliseconds; null if there was none. */
  last_at: number | null
  /** The records of the last 24 hours, and of these the sums of `rejected` and `not_stored`. */
  received: number
  rejected: number
  not_stored: number
  /** 1 if a record of it is dated yesterday; null of resources that are not due each day. */
  has_yesterday: 0 | 1 | null
  /** 1 if the account has sent something before yesterday. */
  is_due: 0 | 1
}

const sumOfDay = (column: string) =>
  `ifnull(sum(iif(hour > :hour - ${DAY_HOURS}, ${column}, 0)), 0) as ${column}`

/**
 * Reads how the resources of `:names` arrive at an account. `:hour` is the current hour since 1970, `:yesterday` a day since
 * 1970.
 */
const READ_ARRIVALS = compileStatement(`
  select n.value as resource, max(last_at) as last_at,
    ${sumOfDay('received')}, ${sumOfDay('rejected')}, ${sumOfDay('not_stored')},
    case n.value
      when 'trading-activity' then exists (select 1 from activity not indexed
        where account = :account and date = :yesterday)
      when 'activities' then exists (select 1 from events not indexed
        where account = :account and day = :yesterday) end as has_yesterday,
    exists (select 1 from arrivals where account = :account and hour < :yesterday * ${DAY_HOURS}) as is_due
  from json_each(:names) n
  left join arrivals a on a.account = :account and a.resource = n.value
  group by n.key order by n.key`)

/** Reads how the resources of accounts arrive: for each account a list in the order of its names. */
export function readArrivals(
  db: D1Database | D1DatabaseSession,
  accounts: readonly { account: string; names: readonly ResourceName[] }[],
  now: number,
): Promise<Arrivals[][]> {
  const times = { hour: Math.floor(now / HOUR_MS), yesterday: Math.floor(now / DAY_MS) - 1 }
  const statements = accounts.map(({ account, names }) =>
    bindStatement(db, READ_ARRIVALS, { account, names: JSON.stringify(names), ...times }),
  )
  return readBatch<Arrivals[][]>(db, statements)
}
