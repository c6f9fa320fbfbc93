import { DAY_HOURS, HOUR_MS } from '../../durations.ts'
import { required } from '../batch.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

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

/** The columns of a resource in a row of `selectArrivals`, without its number. */
type Cells = Record<string, number | null>

/**
 * Returns the SQL that reads how so many resources arrive, in one row: in one pass over the hours since
 * yesterday. Only if a resource did not arrive in them, a pass over the earlier hours finds when it
 * last did. The passes do not group by resource, because D1 counts each row again that is sorted.
 * `:hour` is the current hour since 1970, `:today` the first hour of the day, `:names` a JSON array of
 * resources.
 */
function selectArrivals(count: number): string {
  const of = (i: number, value: string) => `iif(resource = :names ->> ${i}, ${value}, null)`
  const columns = (toColumns: (i: number) => string[]) =>
    Array.from({ length: count }, (_, i) => toColumns(i).join()).join()
  const lastAt = (i: number) => `max(${of(i, 'last_at')}) as last_at_${i}`
  const ofDay = (i: number, name: string) =>
    `sum(${of(i, `iif(hour > :hour - ${DAY_HOURS}, ${name}, 0)`)}) as ${name}_${i}`
  const hasYesterday = 'iif(hour < :today, today, yesterday) = 1'
  const yesterdayHour = (i: number) =>
    `min(${of(i, `iif(${hasYesterday}, hour, null)`)}) as yesterday_hour_${i}`
  const isMissing = Array.from({ length: count }, (_, i) => `last_at_${i} is null`).join(' or ')
  return `
    with recent as materialized (
      select ${columns((i) => [lastAt(i), ofDay(i, 'received'), ofDay(i, 'refused'), yesterdayHour(i)])}
      from arrivals where account = :account and hour >= :today - ${DAY_HOURS}
    ),
    earlier as materialized (
      select ${columns((i) => [lastAt(i)])}
      from arrivals
      where account = :account and hour < :today - ${DAY_HOURS} and (select ${isMissing} from recent)
    )
    select ${columns((i) => [
      `coalesce(n.last_at_${i}, e.last_at_${i}) as last_at_${i}`,
      ...['received', 'refused', 'yesterday_hour'].map((name) => `n.${name}_${i}`),
    ])}
    from recent n cross join earlier e`
}

/** Reads how the resources of accounts arrive: for each account a list in the order of its names. */
export async function readArrivals(
  db: D1Database | D1DatabaseSession,
  accounts: readonly { account: string; names: readonly string[] }[],
  now: number,
): Promise<Arrivals[][]> {
  const hour = Math.floor(now / HOUR_MS)
  const today = hour - (hour % DAY_HOURS)
  const results = await withD1Retry(() =>
    db.batch<Cells>(
      accounts.map(({ account, names }) =>
        bindStatement(db, compileStatement(selectArrivals(names.length)), {
          ...{ account, names: JSON.stringify(names), hour, today },
        }),
      ),
    ),
  )
  return accounts.map(({ names }, i) => toArrivals(names, required(results[i]?.results[0], 'row')))
}

const toArrivals = (names: readonly string[], cells: Cells): Arrivals[] =>
  names.map((resource, i) => ({
    resource,
    last_at: cells[`last_at_${i}`] ?? null,
    received: cells[`received_${i}`] ?? 0,
    refused: cells[`refused_${i}`] ?? 0,
    yesterday_hour: cells[`yesterday_hour_${i}`] ?? null,
  }))
