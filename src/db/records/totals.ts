import { decode, encode } from '../column-types.ts'
import { overByteLimit } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import type { RecordView } from './record-view.ts'
import { kpiTotalsSql, LIMB, MAX_TOTALS, totalsSql } from './totals-sql.ts'

/** The control total of one group and day; sums are exact decimal text. */
export interface Total extends Record<string, unknown> {
  day: string
  resource: string
  count: number
  sums: Record<string, string>
}

type TotalRow = Record<string, unknown>

/**
 * Reads the control totals of each day from `from` to `to`, both inclusive, in order; null if there
 * are too many. They are summed from the records on every request: a stored counter could drift.
 */
export async function readTotals(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  from: string,
  to: string,
): Promise<Total[] | null> {
  const queries = views.flatMap((view) => [
    { view, isKpis: false, sql: totalsSql(view) },
    ...(view.kpis ? [{ view, isKpis: true, sql: kpiTotalsSql(view) }] : []),
  ])
  const results = await withD1Retry(() =>
    session.batch<TotalRow>(
      queries.map(({ view: { recordTable }, sql }) => {
        const day = recordTable.encoded[recordTable.dayColumn]
        const days = { first_day: encode(day, from), last_day: encode(day, to) }
        return bindStatement(session, compileStatement(sql), { account, ...days })
      }),
    ),
  )
  if (results.some((result) => isTooMuch(result.results))) return null
  const rowsOf = (view: RecordView, isKpis: boolean) =>
    results[queries.findIndex((query) => query.view === view && query.isKpis === isKpis)]
      ?.results ?? []
  return views
    .flatMap((view) => {
      const kpis = Map.groupBy(rowsOf(view, true), (row) => groupKey(view, row))
      return rowsOf(view, false).map((row) =>
        presentTotal(view, row, kpis.get(groupKey(view, row)) ?? []),
      )
    })
    .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

const isTooMuch = (rows: readonly TotalRow[]) =>
  rows.length > MAX_TOTALS || overByteLimit(rows) !== null

/** Returns one text for the day and the group of a row. */
const groupKey = ({ groups }: RecordView, row: TotalRow) =>
  JSON.stringify([row.day, ...groups.map((group) => row[group])])

function presentTotal(
  { name, recordTable, groups, sums, wire = {} }: RecordView,
  row: TotalRow,
  kpis: readonly TotalRow[],
): Total {
  const wireName = (column: string) => wire[column] ?? column
  const presentSums = sums.filter((sum) => row[`${sum}_0`] !== null)
  return {
    day: String(decode(recordTable.encoded[recordTable.dayColumn], row.day)),
    resource: name,
    ...Object.fromEntries(groups.map((group) => [wireName(group), row[group]])),
    count: Number(row.count),
    sums: Object.fromEntries([
      ...presentSums.map((sum) => [wireName(sum), sumOf(row, sum)]),
      ...kpis.map((kpi) => [kpi.kpi, sumOf(kpi, 'sum')]),
    ]),
  }
}

/** Returns a sum of four limbs as decimal text. */
function sumOf(row: TotalRow, name: string): string {
  const limb = (i: number) => BigInt(Number(row[`${name}_${i}`]))
  const whole = limb(0) * BigInt(LIMB) + limb(1)
  const fraction = limb(2) * BigInt(LIMB) + limb(3)
  return decimalText(whole * UNITS_PER_ONE + fraction)
}

/** The unit of a sum is 10^-12. */
const UNITS_PER_ONE = 10n ** 12n

/** Returns a number of units as decimal text, without zeros at the end of the fraction. */
function decimalText(units: bigint): string {
  const size = units < 0n ? -units : units
  const places = String(size % UNITS_PER_ONE)
    .padStart(12, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS_PER_ONE}${places && `.${places}`}`
}
