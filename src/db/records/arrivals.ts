import { withD1Retry } from '../retry.ts'
import { OWN_DELIVERY_ROW } from './sql-fragments.ts'

const HOUR_MS = 3_600_000

/**
 * Counts a delivery in the row of its hour. `:has_yesterday`, `:has_today`: whether it brings records
 * of the day before or of the same day (UTC).
 */
export const UPSERT_ARRIVAL = `
      insert into arrivals (account, hour, resource, deliveries, received, refused, last_at,
        yesterday, today)
      select account, received_at / ${HOUR_MS}, resource, 1, received,
        iif(refused > 0, received, rejected), received_at,
        :has_yesterday and refused = 0 and rejected < received,
        :has_today and refused = 0 and rejected < received
      from ${OWN_DELIVERY_ROW}
      on conflict (account, hour, resource) do update set
        deliveries = deliveries + 1, received = received + excluded.received,
        refused = refused + excluded.refused, last_at = max(last_at, excluded.last_at),
        yesterday = max(yesterday, excluded.yesterday), today = max(today, excluded.today)`

const DAY_HOURS = 24

/** What is known of how one resource of an account arrives; times in milliseconds. */
export interface Arrivals {
  resource: string
  last_at: number | null
  /** Records of the last day, and those of them that were refused. */
  received: number
  refused: number
  /** The first hour (since 1970) in which yesterday's records came, that day or today; null: none. */
  yesterday_hour: number | null
}

/** How the resources of some accounts arrive: of each account a list, in the order of its names. */
export async function readArrivals(
  db: D1Database | D1DatabaseSession,
  asked: readonly { account: string; names: readonly string[] }[],
  now: number,
): Promise<Arrivals[][]> {
  const hour = Math.floor(now / HOUR_MS)
  const today = hour - (hour % DAY_HOURS)
  const answers = await withD1Retry(() =>
    db.batch<Arrivals>(
      asked.map(({ account, names }) =>
        db
          .prepare(
            `select r.value as resource,
               (select last_at from arrivals where account = ?1 and resource = r.value
                order by hour desc limit 1) as last_at,
               (select coalesce(sum(received), 0) from arrivals
                where account = ?1 and resource = r.value and hour > ?3) as received,
               (select coalesce(sum(refused), 0) from arrivals
                where account = ?1 and resource = r.value and hour > ?3) as refused,
               (select min(hour) from arrivals where account = ?1 and resource = r.value
                and hour >= ?4 - ${DAY_HOURS}
                and iif(hour < ?4, today, yesterday) = 1) as yesterday_hour
             from json_each(?2) r`,
          )
          .bind(account, JSON.stringify(names), hour - DAY_HOURS, today),
      ),
    ),
  )
  return answers.map(({ results }) => results)
}
