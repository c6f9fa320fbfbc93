import { decode } from '../../platform/db/column-types.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { activity } from '../../platform/db/schema.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  required,
} from '../../platform/db/statement.ts'
import { DAY_HOURS, HOUR_MS } from '../../platform/durations.ts'
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

/**
 * Reads how the resources of an account arrive. `:hour` is the current hour since 1970, `:today` the first hour of the
 * day.
 */
const READ_ARRIVALS = compileStatement(`
  select resource, max(last_at) as last_at,
    sum(iif(hour > :hour - ${DAY_HOURS}, received, 0)) as received,
    sum(iif(hour > :hour - ${DAY_HOURS}, refused, 0)) as refused,
    min(iif(hour >= :today - ${DAY_HOURS} and iif(hour < :today, today, yesterday) = 1, hour, null)) as yesterday_hour
  from arrivals where account = :account group by resource`)

/** Reads how the resources of accounts arrive: for each account a list in the order of its names. */
export async function readArrivals(
  db: D1Database | D1DatabaseSession,
  accounts: readonly { account: string; names: readonly ResourceName[] }[],
  now: number,
): Promise<Arrivals[][]> {
  const hour = Math.floor(now / HOUR_MS)
  const today = hour - (hour % DAY_HOURS)
  const found = await readBatch<Arrivals[][]>(
    db,
    accounts.map(({ account }) => bindStatement(db, READ_ARRIVALS, { account, hour, today })),
  )
  const nothing = { last_at: null, received: 0, refused: 0, yesterday_hour: null }
  return accounts.map(({ names }, i) =>
    names.map(
      (resource) => found[i]?.find((one) => one.resource === resource) ?? { resource, ...nothing },
    ),
  )
}

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
