import { limitBytes } from '../paginate.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'

/** The most groups, and the most sums of KPIs, that an answer holds. */
export const MAX_TOTALS = 50_000

/** A limb holds six digits: a sum of limbs cannot overflow a 64-bit integer. */
export const LIMB = 1_000_000

/** A column: its name, and the SQL of its value. */
type Column = readonly [name: string, sql: string]

/** Sums the columns of each group and day, along the index by day. */
export const totalsSql = (view: RecordView): string =>
  groupedSql(view, recordsByDay(view.recordTable), groupColumns(view), [
    ['count', 'count(*)'],
    ...view.sums.flatMap((name) => limbsOf(name, name)),
  ])

/** Sums each KPI of each group and day by its name. */
export const kpiTotalsSql = (view: RecordView): string =>
  groupedSql(
    view,
    `${recordsByDay(view.recordTable)} cross join json_each(${view.kpis}) k`,
    [...groupColumns(view), ['kpi', 'k.key']],
    limbsOf('k.value', 'sum'),
  )

/** Returns a query that groups records by columns, in order, and reads one group more than allowed. */
function groupedSql(
  { recordTable: { dayColumn, canHold } }: RecordView,
  from: string,
  groups: readonly Column[],
  aggregates: readonly Column[],
): string {
  const columns = [...groups, ...aggregates]
  const keys = groups.map(([, sql]) => sql).join()
  return limitBytes(
    columns.map(([name]) => name),
    `select ${columns.map(([name, sql]) => `${sql} as ${name}`).join()}
      from ${from}
      where account = :account and ${dayColumn} between :first_day and :last_day
        ${canHold ? 'and held = 0' : ''}
      group by ${keys} order by ${keys} limit ${MAX_TOTALS + 1}`,
    groups.map(([name]) => name).join(),
  )
}

const groupColumns = ({ recordTable, groups }: RecordView): readonly Column[] => [
  ['day', recordTable.dayColumn],
  ...groups.map((name): Column => [name, name]),
]

const recordsByDay = ({ table, indexes }: RecordTable) =>
  `${table}${indexes.day ? ` indexed by ${indexes.day}` : ''}`

/** Sums a value in four limbs: two of the whole part, two of the fraction. */
const limbsOf = (value: string, name: string): readonly Column[] => [
  [`${name}_0`, `sum(${wholePart(value)} / ${LIMB})`],
  [`${name}_1`, `sum(${wholePart(value)} % ${LIMB})`],
  [`${name}_2`, `sum(${fraction(value)} / ${LIMB})`],
  [`${name}_3`, `sum(${fraction(value)} % ${LIMB})`],
]

const wholePart = (value: string) => `cast(${value} as integer)`

/**
 * Returns the fraction in units of 10^-12. A double keeps 15 significant digits of a decimal: if n of
 * them stand before the point, the first 15 - n places are right, and the others are rounded off.
 */
function fraction(value: string): string {
  const scales = Array.from({ length: 12 }, (_, i) => {
    const places = 12 - i
    return `when abs(${value}) < 1e${15 - places} then 1e${places}`
  })
  const scale = `case ${scales.join(' ')} else 1 end`
  return `cast(round((${value} - ${wholePart(value)}) * ${scale}) * (1e12 / ${scale}) as integer)`
}
