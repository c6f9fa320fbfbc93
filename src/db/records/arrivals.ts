import { DAY_HOURS, HOUR_MS } from '../../durations.ts'
import { decode } from '../column-types.ts'
import { withD1Retry } from '../retry.ts'
import { activity } from '../schema.ts'
import { bindStatement, compileStatement, required } from '../statement.ts'
import type { ResourceName } from './list.ts'

/** How the records of one resource arrive at an account. */
export interface Arrivals {
  resource: ResourceName
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
  accounts: readonly { account: string; names: readonly ResourceName[] }[],
  now: number,
): Promise<Arrivals[][]> {
  const hour = Math.floor(now / HOUR_MS)
  const today = hour - (hour % DAY_HOURS)
  const results = await withD1Retry(() =>
    db.batch<Cells>(
      accounts.map(({ account, names }) =>
        bindStatement(db, compileStatement(selectArrivals(names.length)), {
          account,
          names: JSON.stringify(names),
          hour,
          today,
        }),
      ),
    ),
  )
  return accounts.map(({ names }, i) => toArrivals(names, required(results[i]?.results[0], 'row')))
}

const toArrivals = (names: readonly ResourceName[], cells: Cells): Arrivals[] =>
  names.map((resource, i) => ({
    resource,
    last_at: cells[`last_at_${i}`] ?? null,
    received: cells[`received_${i}`] ?? 0,
    refused: cells[`refused_${i}`] ?? 0,
    yesterday_hour: cells[`yesterday_hour_${i}`] ?? null,
  }))

/** The records of one resource by their days, which are numbers of days since 1970. */
export interface ActivityDays {
  /** The first day with a record; null if there are no records. */
  firstDay: number | null
  /** The days with records, from the first day that was asked for on. */
  days: readonly number[]
}

/** The table of each resource with the index that is sorted by day, and the column of the day. */
const BY_DAY: Readonly<Record<ResourceName, readonly [records: string, day: string]>> = {
  customers: ['customers indexed by customers_day', 'day'],
  transactions: ['transactions not indexed', 'day'],
  'trading-activity': ['activity not indexed', 'date'],
  activities: ['events not indexed', 'day'],
}

/** Returns the SQL that reads the days of a resource from `:from` to `:to` in one row, by searches along the key. */
function activityDaysSql(resource: ResourceName): string {
  const [records, day] = BY_DAY[resource]
  const next = (condition: string) =>
    `select min(${day}) from ${records} where account = :account and ${day} ${condition}`
  const upTo = `and ${day} <= :to`
  const first = next(`>= :from ${upTo}`)
  const following = next(`> found_day ${upTo}`)
  return `
    with recursive found(found_day) as (
      select (${first})
      union all
      select (${following}) from found where found_day is not null
    )
    select (${next('>= -800000')}) as first_day,
      (select json_group_array(found_day) from found where found_day is not null) as days`
}

interface DaysRow {
  first_day: number | null
  days: string
}

/** A span of days. */
export interface DaySpan {
  readonly from: number
  readonly to: number
}

/** Reads the days of the resources of accounts: for each account a list in the order of its names. */
export async function readActivityDays(
  db: D1Database | D1DatabaseSession,
  accounts: readonly { account: string; names: readonly ResourceName[] }[],
  span: DaySpan,
): Promise<ActivityDays[][]> {
  const queries = accounts.flatMap(({ account, names }) =>
    names.map((resource) => ({ account, resource })),
  )
  const results = await withD1Retry(() =>
    db.batch<DaysRow>(
      queries.map((query) =>
        bindStatement(db, compileStatement(activityDaysSql(query.resource)), {
          account: query.account,
          ...span,
        }),
      ),
    ),
  )
  const found = results.map((one) => toActivityDays(required(one.results[0], 'row')))
  let next = 0
  return accounts.map(({ names }) => {
    next += names.length
    return found.slice(next - names.length, next)
  })
}

const toActivityDays = ({ first_day, days }: DaysRow): ActivityDays => ({
  firstDay: first_day,
  days: JSON.parse(days),
})

/** Returns a number of days since 1970 as `YYYY-MM-DD`. */
export const toDay = (day: number): string => String(decode(activity.date, day))
