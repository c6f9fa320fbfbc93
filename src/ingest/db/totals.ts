import { dayNumber, decode } from '../../platform/db/column-types.ts'
import { type Column, type SumRow, sumSql, unitsOf } from '../../platform/db/exact-sums.ts'
import { excessOf, limitBytes } from '../../platform/db/paginate.ts'
import { columnList } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { ApiError } from '../../platform/errors.ts'
import { fromFact, plainText } from '../../platform/money/decimal.ts'
import type { RecordView } from './list.ts'
import type { RecordTable } from './record-table.ts'

// Control totals are summed when they are asked for, along the index by day.

/** The limits of totals. */
export const TOTALS_LIMITS = {
  /** The records, and the values of KPIs, of a resource that one request sums. */
  records: 1_000_000,
  /** The groups, and the sums of KPIs, that a response has of one resource. */
  totals: 50_000,
}

/** Returns the error for totals that are too large. */
const tooLarge = (what: string) =>
  new ApiError('validation_failed', {
    detail: `From \`from\` to \`to\`, there are more than ${what}. Ask for fewer days.`,
  })

/**
 * Returns the records of a table in the order of their days. Left to itself the planner may choose another index,
 * and sort.
 */
export const recordsByDay = ({ table, indexes }: RecordTable) =>
  `${table} ${indexes.day ? `indexed by ${indexes.day}` : 'not indexed'}`

/** Returns the columns that order the records of an account by day, each record once. */
export const stepKey = ({ dayColumn, key }: RecordTable): string[] => [
  ...new Set([dayColumn, 'customer_id', ...key]),
]

/** Returns the query that sums the columns of each group of the days from `:first_day` to `:last_day`. */
export const sumDaysSql = (view: RecordView): string =>
  groupedSql(view, [], view.sums, '', [
    ['count', 'count(*)'],
    ...view.sums.map((name): Column => [name, sumSql(name)]),
  ])

/** Returns the query that sums each KPI of each group of these days. */
export const sumKpisSql = (view: RecordView, kpis: string): string =>
  groupedSql(
    view,
    ['kpi'],
    ['k.key as kpi', 'k.value as kpi_value'],
    `cross join json_each(${kpis}) k`,
    [
      ['count', 'count(*)'],
      ['sum', sumSql('kpi_value')],
    ],
  )

/** Returns a query that groups the records of the days. It reads one group more than a response may have. */
function groupedSql(
  { recordTable, groups }: RecordView,
  furtherGroups: readonly string[],
  columns: readonly string[],
  join: string,
  aggregates: readonly Column[],
): string {
  const { dayColumn, canHold } = recordTable
  const by = ['day', ...groups, ...furtherGroups]
  const read = [`${dayColumn} as day`, ...groups, ...columns]
  return limitBytes(
    [...by, ...aggregates.map(([name]) => name)],
    `select ${by.join()}, ${aggregates.map(([name, sql]) => `${sql} as ${name}`).join()}
      from (select ${columnList(read)} from ${recordsByDay(recordTable)} ${join}
        where account = :account and ${dayColumn} between :first_day and :last_day
        ${canHold ? 'and held = 0' : ''} limit :most + 1)
      group by ${by.join()} limit ${TOTALS_LIMITS.totals + 1}`,
    by.join(),
  )
}

/**
 * Checks the sums of a resource.
 *
 * @throws ApiError `validation_failed` if they are too many, or of too many records.
 */
function checkSize(rows: readonly SumRow[], what: string): void {
  const read = rows.reduce((sum, { count }) => sum + Number(count), 0)
  if (read > TOTALS_LIMITS.records)
    throw tooLarge(`${TOTALS_LIMITS.records.toLocaleString('en')} ${what} to sum`)
  if (rows.length > TOTALS_LIMITS.totals || excessOf(rows) !== null)
    throw tooLarge('50,000 totals, or 2 MiB of them')
}

/** The control total of one group and day; sums are exact decimal text. */
export interface Total extends Record<string, unknown> {
  day: string
  resource: string
  count: number
  sums: Record<string, string>
}

/**
 * Sums the records of each day from `from` to `to`, both inclusive, in order.
 *
 * @throws ApiError `validation_failed` if there are too many totals, or records to sum.
 */
export async function readTotals(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Total[]> {
  const [first_day, last_day] = [from, to].map(dayNumber)
  const values = { account, first_day, last_day, most: TOTALS_LIMITS.records }
  const queries = views.flatMap((view) => [
    { view, sql: sumDaysSql(view), what: 'records' },
    ...(view.kpis ? [{ view, sql: sumKpisSql(view, view.kpis), what: 'values of KPIs' }] : []),
  ])
  const found = await readBatch<SumRow[][]>(
    session,
    queries.map(({ sql }) => bindStatement(session, compileStatement(sql), values)),
  )
  for (const [i, { what }] of queries.entries()) checkSize(found[i] ?? [], what)
  const rowsOf = (view: RecordView) => found.filter((_, i) => queries[i]?.view === view)
  return views
    .flatMap((view) => presentTotals(view, rowsOf(view)))
    .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

/** Returns the totals of a resource under the names of the wire, from the rows of its sums and of its KPIs. */
function presentTotals(view: RecordView, [sums = [], kpis = []]: readonly SumRow[][]): Total[] {
  const { name, recordTable, groups, wire = {} } = view
  const { encoded, dayColumn } = recordTable
  const wireName = (column: string) => wire[column] ?? column
  const keyOf = (row: SumRow) => JSON.stringify([row.day, ...groups.map((one) => row[one])])
  const kpisOf = Map.groupBy(kpis, keyOf)
  const sumText = (sum: unknown) => plainText(fromFact(unitsOf(sum)))
  return sums.map((row) => ({
    day: String(decode(encoded[dayColumn], Number(row.day))),
    resource: name,
    ...Object.fromEntries(groups.map((column) => [wireName(column), row[column] ?? null])),
    count: Number(row.count),
    sums: Object.fromEntries([
      ...view.sums.flatMap((column) =>
        row[column] === null ? [] : [[wireName(column), sumText(row[column])]],
      ),
      ...(kpisOf.get(keyOf(row)) ?? []).map(({ kpi, sum }) => [kpi, sumText(sum)]),
    ]),
  }))
}
