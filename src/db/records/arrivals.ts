import { HOUR_MS } from '../../durations.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

const DAY_HOURS = 24

/** How the records of one resource arrive at an account. */
export interface Arrivals {
  resource: string
  /** When the last delivery was received, in milliseconds; null if there was none. */
  last_at: number | null
  /** The records of the last 24 hours, and how many of them were refused. */
  received: number
  refused: number
  /** The first hour since 1970 in which records of yesterday came; null if none came. */
  yesterday_hour: number | null
}

/**
 * Reads how each resource arrives, along the primary key. `:hour` is the current hour since 1970,
 * `:today` the first hour of the day, `:names` a JSON array of resources.
 */
const SELECT_ARRIVALS = compileStatement(`
  select r.value as resource,
    (select last_at from arrivals where account = :account and resource = r.value
      order by hour desc limit 1) as last_at,
    (select coalesce(sum(received), 0) from arrivals
      where account = :account and resource = r.value and hour > :hour - ${DAY_HOURS}) as received,
    (select coalesce(sum(refused), 0) from arrivals
      where account = :account and resource = r.value and hour > :hour - ${DAY_HOURS}) as refused,
    (select min(hour) from arrivals
      where account = :account and resource = r.value and hour >= :today - ${DAY_HOURS}
        and iif(hour < :today, today, yesterday) = 1) as yesterday_hour
  from json_each(:names) r`)

/** Reads how the resources of accounts arrive: for each account a list in the order of its names. */
export async function readArrivals(
  db: D1Database | D1DatabaseSession,
  accounts: readonly { account: string; names: readonly string[] }[],
  now: number,
): Promise<Arrivals[][]> {
  const hour = Math.floor(now / HOUR_MS)
  const today = hour - (hour % DAY_HOURS)
  const results = await withD1Retry(() =>
    db.batch<Arrivals>(
      accounts.map(({ account, names }) =>
        bindStatement(db, SELECT_ARRIVALS, { account, names: JSON.stringify(names), hour, today }),
      ),
    ),
  )
  return results.map((result) => result.results)
}
