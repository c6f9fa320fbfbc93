import { limitBytes } from '../paginate.ts'
import { LIMB } from './day-sums.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'
import { columnList, rowValue } from './sql-fragments.ts'

/** The maximum number of groups, and of sums of KPIs, that a response has of one resource. */
export const MAX_TOTALS = 50_000

/** A column: its name, and the SQL of its value. */
type Column = readonly [name: string, sql: string]

/**
 * Returns a query for the days from `:first_day` to `:last_day` that have records, with the kept totals of
 * each, or null if the day must be summed. The totals must have at most `maxBytes` together. It reads a
 * few rows for each day and none of its records.
 */
export function keptDaysSql({ recordTable }: RecordView, maxBytes?: number): string {
  const { dayColumn } = recordTable
  const firstDay = (condition: string) =>
    `select min(${dayColumn}) from ${recordsByDay(recordTable)}
        where account = :account and ${dayColumn} <= :last_day and ${dayColumn} ${condition}`
  return limitBytes(
    ['day', 'totals'],
    `with recursive days(stored_day) as (
        ${firstDay('>= :first_day')}
        union all
        select (${firstDay('> stored_day')}) from days where stored_day is not null
      )
      select stored_day as day, totals
      from days left join day_totals k
        on k.account = :account and k.resource = :resource and k.day = stored_day and k.form = :form
      where stored_day is not null`,
    'day',
    maxBytes,
  )
}

/**
 * Returns a query for the last of the next `:step` records: the columns of `stepKey`. It returns no
 * row if there are fewer.
 */
export const stepEndSql = ({ recordTable }: RecordView): string =>
  `select ${columnList(stepKey(recordTable))} from ${nextRecords(recordTable)}
      limit 1 offset :step - 1`

/** Sums the columns of each group and day of the next `:step` records. */
export const sumStepSql = (view: RecordView): string =>
  groupedSql(
    view,
    nextRecords(view.recordTable),
    [...view.groups, ...view.sums],
    groupColumns(view),
    [['count', 'count(*)'], ...view.sums.flatMap((name) => limbsOf(name, name))],
  )

/** Sums each KPI of each group and day of the next `:step` records by its name. */
export const sumKpisStepSql = (view: RecordView, kpis: string): string =>
  groupedSql(
    view,
    nextRecords(view.recordTable),
    [...view.groups, kpis],
    [...groupColumns(view), ['kpi', 'k.key']],
    limbsOf('k.value', 'sum'),
    `cross join json_each(${kpis}) k`,
  )

/** Returns the columns that order the records of an account by day, each record once. */
export const stepKey = ({ dayColumn, key }: RecordTable): string[] => [
  ...new Set([dayColumn, 'customer_id', ...key]),
]

/** Finds the records after `:after_0`, `:after_1` … up to `:last_day`, in the order of `stepKey`. */
function nextRecords(recordTable: RecordTable): string {
  const key = stepKey(recordTable)
  return `${recordsByDay(recordTable)}
        where account = :account and ${recordTable.dayColumn} <= :last_day
          and ${rowValue(key, (name) => name)} > (${key.map((_, i) => `:after_${i}`).join(', ')})
        order by ${columnList(key)}`
}

/**
 * Returns a query that groups the next records by columns. Held records count as records of the step
 * and are not summed. It reads one group more than a response may have.
 */
function groupedSql(
  { recordTable: { dayColumn, canHold } }: RecordView,
  records: string,
  columns: readonly string[],
  groups: readonly Column[],
  aggregates: readonly Column[],
  join = '',
): string {
  const results = [...groups, ...aggregates]
  const read = [dayColumn, ...(canHold ? ['held'] : []), ...columns]
  return limitBytes(
    results.map(([name]) => name),
    `select ${results.map(([name, sql]) => `${sql} as ${name}`).join()}
      from (select ${columnList(read)} from ${records}
        limit :step) ${join}
      ${canHold ? 'where held = 0' : ''}
      group by ${groups.map(([, sql]) => sql).join()} limit ${MAX_TOTALS + 1}`,
    'day',
  )
}

const groupColumns = ({ recordTable, groups }: RecordView): readonly Column[] => [
  ['day', recordTable.dayColumn],
  ...groups.map((name): Column => [name, name]),
]

// Left to itself the planner may choose another index, and sort.
const recordsByDay = ({ table, indexes }: RecordTable) =>
  `${table} ${indexes.day ? `indexed by ${indexes.day}` : 'not indexed'}`

/** Sums a value in four limbs: two of the whole part, two of the fraction. */
export const limbsOf = (value: string, name: string): readonly Column[] => [
  [`${name}_0`, `sum(${wholePart(value)} / ${LIMB})`],
  [`${name}_1`, `sum(${wholePart(value)} % ${LIMB})`],
  [`${name}_2`, `sum(${fraction(value)} / ${LIMB})`],
  [`${name}_3`, `sum(${fraction(value)} % ${LIMB})`],
]

const wholePart = (value: string) => `cast(${value} as integer)`

/**
 * Returns the fraction in units of 10^-12. A double keeps 15 significant digits of a decimal: if n of
 * them are before the point, the first 15 - n places are right, and the others are rounded off.
 */
function fraction(value: string): string {
  const scales = Array.from({ length: 12 }, (_, i) => {
    const places = 12 - i
    return `when abs(${value}) < 1e${15 - places} then 1e${places}`
  })
  const scale = `case ${scales.join(' ')} else 1 end`
  return `cast(round((${value} - ${wholePart(value)}) * ${scale}) * (1e12 / ${scale}) as integer)`
}
