import { required } from '../batch.ts'
import { decode } from '../column-types.ts'
import { withD1Retry } from '../retry.ts'
import { activity } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import type { ResourceName } from './record-view.ts'

/** The records of one resource by their days, which are numbers of days since 1970. */
export interface ActivityDays {
  resource: string
  /** The first day with a record; null if there are no records. */
  firstDay: number | null
  /** The days with records, from the first day that was asked for on. */
  days: readonly number[]
  /** The number of records of each day whose control totals are kept. */
  counted: ReadonlyMap<number, number>
}

/** The table of each resource with the index that is sorted by day, and the column of the day. */
const BY_DAY: Readonly<Record<ResourceName, readonly [records: string, day: string]>> = {
  customers: ['customers indexed by customers_day', 'day'],
  transactions: ['transactions not indexed', 'day'],
  'trading-activity': ['activity not indexed', 'date'],
  activities: ['events not indexed', 'day'],
}

/**
 * Returns the SQL that reads the days of a resource in one row. Days are found by searches along the key;
 * their numbers of records are those of the kept control totals, so that no record is counted. `:from` is
 * the first day whose presence matters, `:counted_from` the first one whose number does.
 */
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
      (select json_group_array(found_day) from found where found_day is not null) as days,
      (select json_group_array(json_array(day, records)) from day_totals
        where account = :account and resource = :resource and day >= :counted_from and day <= :to
          and records is not null and totals is not null) as counted`
}

interface DaysRow {
  first_day: number | null
  days: string
  counted: string
}

/** A span of days; `countedFrom` is earlier than `from`. */
export interface DaySpan {
  readonly from: number
  readonly countedFrom: number
  readonly to: number
}

/** Reads the days of the resources of accounts: for each account a list in the order of its names. */
export async function readActivityDays(
  db: D1Database | D1DatabaseSession,
  accounts: readonly { account: string; names: readonly ResourceName[] }[],
  { from, countedFrom, to }: DaySpan,
): Promise<ActivityDays[][]> {
  const queries = accounts.flatMap(({ account, names }) =>
    names.map((resource) => ({ account, resource })),
  )
  const results = await withD1Retry(() =>
    db.batch<DaysRow>(
      queries.map((query) =>
        bindStatement(db, compileStatement(activityDaysSql(query.resource)), {
          ...query,
          from,
          to,
          counted_from: countedFrom,
        }),
      ),
    ),
  )
  const found = queries.map(({ resource }, i) =>
    toActivityDays(resource, required(results[i]?.results[0], 'row')),
  )
  let next = 0
  return accounts.map(({ names }) => {
    next += names.length
    return found.slice(next - names.length, next)
  })
}

const toActivityDays = (resource: string, { first_day, days, counted }: DaysRow): ActivityDays => ({
  resource,
  firstDay: first_day,
  days: JSON.parse(days),
  counted: new Map<number, number>(JSON.parse(counted)),
})

/** Returns a number of days since 1970 as `YYYY-MM-DD`. */
export const toDay = (day: number): string => String(decode(activity.date, day))
