import { DAY_HOURS, HOUR_MS } from '../../durations.ts'
import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'

/** What arrived of a resource on a day (UTC). */
export interface DayArrivals {
  /** Days since 1970. */
  readonly day: number
  readonly resource: string
  readonly deliveries: number
  readonly received: number
  readonly refused: number
}

const SELECT_DAYS = compileStatement(`
  select hour / ${DAY_HOURS} as day, resource, sum(deliveries) as deliveries,
    sum(received) as received, sum(refused) as refused
  from arrivals where account = :account and hour >= :from_hour and resource <> 'dry-run'
  group by 1, 2 having sum(deliveries) > 0 order by 1, 2`)

/** Reads what arrived of each resource of an account by day, from a time (milliseconds) on. */
export async function readArrivalsByDay(
  session: D1DatabaseSession,
  account: string,
  from: number,
): Promise<DayArrivals[]> {
  const values = { account, from_hour: Math.floor(from / HOUR_MS) }
  return all<DayArrivals>(session, SELECT_DAYS, values)
}
