import { limitBytes, overByteLimit } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'

/** One group of one day; sums are exact decimal text. */
export interface Total extends Record<string, unknown> {
  day: string
  resource: string
  count: number
  sums: Record<string, string>
}

/** So many groups, and so many sums of KPIs, are answered with at most; as text they are weighed, too. */
const MAX_TOTALS = 50_000

/** Decimal places and digits: a whole part and a fraction of 12 places, each in two limbs. */
const LIMB = 1_000_000

/**
 * The totals of each day from `from` to `to`, in order, summed along the index by day; null where
 * there are too many. Nothing is kept for it: a counter can drift, the records cannot.
 */
export async function readTotals(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  from: string,
  to: string,
): Promise<Total[] | null> {
  const answers = await withD1Retry(() =>
    session.batch<Record<string, unknown>>(
      views
        .flatMap((view) => [statement(view), ...(view.kpis ? [kpiStatement(view)] : [])])
        .map((text) => session.prepare(text).bind(account, from, to)),
    ),
  )
  if (answers.some(({ results }) => results.length > MAX_TOTALS || overByteLimit(results)))
    return null
  return views
    .flatMap((view) => {
      const rows = answers.shift()!.results
      const kpis = Map.groupBy(view.kpis ? answers.shift()!.results : [], groupOf(view))
      return rows.map((row) => present(view, row, kpis.get(groupOf(view)(row)) ?? []))
    })
    .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

/** One text for what makes a group. */
const groupOf =
  ({ groups }: RecordView) =>
  (row: Record<string, unknown>) =>
    JSON.stringify([row.day, ...groups.map((group) => row[group])])

const statement = (view: RecordView): string =>
  grouped(view, source(view.recordTable), [
    ['count', 'count(*)'],
    ...view.sums.flatMap((name) => limbs(name, name)),
  ])

/** The same of each KPI by its name, which is no column of its own. */
const kpiStatement = (view: RecordView): string =>
  grouped(
    view,
    `${source(view.recordTable)} cross join json_each(${view.kpis}) k`,
    limbs('k.value', 'sum'),
    [['kpi', 'k.key']],
  )

/** A column's name, and what it is in SQL. */
type Column = [name: string, sql: string]

/** What is said of each group of each day, in order, of no more groups than there may be. */
function grouped(
  { recordTable, groups }: RecordView,
  from: string,
  said: readonly Column[],
  more: readonly Column[] = [],
): string {
  const by: Column[] = [
    ['day', recordTable.dayColumn],
    ...groups.map((name): Column => [name, name]),
    ...more,
  ]
  const columns = [...by, ...said]
  const keys = by.map(([, sql]) => sql).join()
  return limitBytes(
    columns.map(([name]) => name),
    `select ${columns.map(([name, sql]) => `${sql} as ${name}`).join()}
     from ${from} ${matching(recordTable)} group by ${keys} order by ${keys} limit ${MAX_TOTALS + 1}`,
    by.map(([name]) => name).join(),
  )
}

const source = ({ table, indexes }: RecordTable) =>
  `${table}${indexes.day ? ` indexed by ${indexes.day}` : ''}`

const matching = ({ dayColumn, canHold }: RecordTable) =>
  `where account = ?1 and ${dayColumn} between ?2 and ?3${canHold ? ' and held = 0' : ''}`

/** A sum in four parts, none of which overflows. */
const limbs = (value: string, name: string): Column[] => [
  [`${name}_0`, `sum(${whole(value)} / ${LIMB})`],
  [`${name}_1`, `sum(${whole(value)} % ${LIMB})`],
  [`${name}_2`, `sum(${fraction(value)} / ${LIMB})`],
  [`${name}_3`, `sum(${fraction(value)} % ${LIMB})`],
]

const whole = (name: string) => `cast(${name} as integer)`

/**
 * The fraction in units of 10^-12. A double keeps 15 digits of a decimal, so of a number with n
 * digits before the point the first 15 - n places are right; the others are noise, and rounded off.
 */
function fraction(name: string): string {
  const scales = Array.from({ length: 12 }, (_, i) => {
    const places = 12 - i
    return `when abs(${name}) < 1e${15 - places} then ${places === 12 ? '1e12' : `1e${places}`}`
  })
  const scale = `case ${scales.join(' ')} else 1 end`
  return `cast(round((${name} - ${whole(name)}) * ${scale}) * (1e12 / ${scale}) as integer)`
}

function present(
  { name, groups, sums, wire = {} }: RecordView,
  row: Record<string, unknown>,
  kpis: readonly Record<string, unknown>[],
): Total {
  const called = (column: string) => wire[column] ?? column
  const summed = sums.filter((sum) => row[`${sum}_0`] !== null)
  return {
    day: String(row.day),
    resource: name,
    ...Object.fromEntries(groups.map((group) => [called(group), row[group]])),
    count: Number(row.count),
    sums: Object.fromEntries([
      ...summed.map((sum) => [called(sum), sumOf(row, sum)]),
      ...kpis.map((kpi) => [kpi.kpi, sumOf(kpi, 'sum')]),
    ]),
  }
}

const sumOf = (row: Record<string, unknown>, name: string) =>
  decimal([0, 1, 2, 3].map((i) => BigInt(Number(row[`${name}_${i}`]))))

const TRILLION = 10n ** 12n

/** Four limbs as decimal text, without zeros at the end of a fraction. */
function decimal([high, low, fine, finest]: bigint[]): string {
  const limb = BigInt(LIMB)
  const units = (high! * limb + low!) * TRILLION + fine! * limb + finest!
  const size = units < 0n ? -units : units
  const places = String(size % TRILLION)
    .padStart(12, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / TRILLION}${places && `.${places}`}`
}
