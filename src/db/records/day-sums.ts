import type { RecordView } from './record-view.ts'

/** A limb holds six digits: a sum of limbs cannot overflow a 64-bit integer. */
export const LIMB = 1_000_000

/** The unit of a sum is 10^-12. */
const UNITS_PER_ONE = 10n ** 12n

/** A row of a query that sums: its group, and the limbs of its sums. */
export type SumRow = Record<string, unknown>

/** The count and the sums of one group, in units, while the records of its day are summed. */
interface GroupSums {
  readonly values: readonly (string | null)[]
  count: number
  /** By the position of the column; undefined if no record has a value. */
  readonly sums: (bigint | undefined)[]
  readonly kpis: Map<string, bigint>
}

/** The sums of one day of a resource, put together from one or more steps. */
export interface DaySums {
  readonly groups: Map<string, GroupSums>
  /** The number of KPI sums. */
  kpiCount: number
  /** The characters of the names of groups and KPIs: a lower bound of the size of the totals. */
  characters: number
}

/**
 * A group of a day as it is kept: the values of its group columns, the number of records, the sum of
 * each column or null if no record has a value, and the sum of each KPI. Sums are decimal text.
 */
export type KeptGroup = [
  values: (string | null)[],
  count: number,
  sums: (string | null)[],
  kpis: Record<string, string>,
]

/** Returns the sums of a day of which no record was summed yet. */
export const emptySums = (): DaySums => ({ groups: new Map(), kpiCount: 0, characters: 0 })

/** Adds a row of `sumStepSql` to the sums of its day. */
export function addSums(day: DaySums, view: RecordView, row: SumRow): void {
  const group = groupOf(day, view, row)
  group.count += Number(row.count)
  for (const [i, name] of view.sums.entries()) {
    if (row[`${name}_0`] !== null) group.sums[i] = (group.sums[i] ?? 0n) + unitsOf(row, name)
  }
}

/** Adds a row of `sumKpisStepSql` to the sums of its day. */
export function addKpi(day: DaySums, view: RecordView, row: SumRow): void {
  addToKpi(day, groupOf(day, view, row), String(row.kpi), unitsOf(row, 'sum'))
}

function addToKpi(day: DaySums, { kpis }: GroupSums, name: string, units: bigint): void {
  const sum = kpis.get(name)
  if (sum === undefined) {
    day.kpiCount += 1
    day.characters += name.length
  }
  kpis.set(name, (sum ?? 0n) + units)
}

function groupOf(day: DaySums, { groups }: RecordView, row: SumRow): GroupSums {
  const values = groups.map((name) => row[name] as string | null)
  return findGroup(day, JSON.stringify(values), values)
}

/** Returns the group of these values; a new one if the day has none. */
function findGroup(day: DaySums, key: string, values: GroupSums['values']): GroupSums {
  const known = day.groups.get(key)
  if (known) return known
  const group: GroupSums = { values, count: 0, sums: [], kpis: new Map() }
  day.groups.set(key, group)
  day.characters += key.length
  return group
}

/** Adds the sums of a later step to those of the same day. */
export function mergeSums(day: DaySums, later: DaySums): void {
  for (const [key, { values, count, sums, kpis }] of later.groups) {
    const group = findGroup(day, key, values)
    group.count += count
    for (const [i, sum] of sums.entries()) {
      if (sum !== undefined) group.sums[i] = (group.sums[i] ?? 0n) + sum
    }
    for (const [name, sum] of kpis) addToKpi(day, group, name, sum)
  }
}

/** Returns the sums of a day as they are kept, in the order of the groups and of the KPI names. */
export const toKeptGroups = ({ groups }: DaySums, view: RecordView): KeptGroup[] =>
  [...groups.values()]
    .sort((a, b) => compareValues(a.values, b.values))
    .map(({ values, count, sums, kpis }) => [
      [...values],
      count,
      view.sums.map((_, i) => decimalText(sums[i])),
      Object.fromEntries(
        [...kpis]
          .sort(([a], [b]) => compare(a, b))
          .map(([name, sum]): [string, string] => [name, decimalText(sum)]),
      ),
    ])

/** Compares the values of two groups by the first that differs. */
function compareValues(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  const i = a.findIndex((value, n) => value !== b[n])
  return compare(a[i] ?? null, b[i] ?? null)
}

/** Compares values that differ, as SQL does: null comes first. */
function compare(a: string | null, b: string | null): number {
  if (a === null) return -1
  return b === null || a > b ? 1 : -1
}

/** Returns a sum of four limbs in units of 10^-12. */
export function unitsOf(row: SumRow, name: string): bigint {
  const limb = (i: number) => BigInt(Number(row[`${name}_${i}`]))
  const whole = limb(0) * BigInt(LIMB) + limb(1)
  const fraction = limb(2) * BigInt(LIMB) + limb(3)
  return whole * UNITS_PER_ONE + fraction
}

/** Returns a number of units as decimal text, without zeros at the end of the fraction. */
function decimalText(units: bigint): string
function decimalText(units: bigint | undefined): string | null
function decimalText(units: bigint | undefined): string | null {
  if (units === undefined) return null
  const size = units < 0n ? -units : units
  const places = String(size % UNITS_PER_ONE)
    .padStart(12, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS_PER_ONE}${places && `.${places}`}`
}
