import type { ArchivePart, DayTotals } from '../db/archive/months.ts'
import { toUnits } from '../db/exact-sums.ts'
import {
  addRecord,
  columnsOfForm,
  emptySums,
  fromKeptGroups,
  type KeptGroup,
  mergeSums,
  presentGroup,
  type SummedColumns,
  toKeptGroups,
} from '../db/records/totals.ts'
import type { ParquetValue } from '../parquet/file.ts'

// The control totals of an object are summed from its rows, apart from those of days, which SQL sums. A month is
// sealed only if both are the same, and restored only if those of its objects are.

/** The most characters of the control totals of an object: others are not kept. */
const MAX_CHARACTERS = 65_536

/** Control totals with the form that says what they consist of. */
interface ArchiveTotals {
  readonly form: string
  readonly groups: readonly KeptGroup[]
}

/** A record by its columns. */
type Row = Readonly<Record<string, ParquetValue>>

const unitsOf = (value: unknown) => (typeof value === 'number' ? toUnits(value) : undefined)

/** Returns the sums of the KPIs of a row, which are JSON. */
function kpisOf(row: Row, column: string | undefined): [string, bigint][] {
  const json = column === undefined ? null : row[column]
  return typeof json === 'string'
    ? Object.entries(JSON.parse(json) as Record<string, unknown>).flatMap(
        ([name, value]): [string, bigint][] =>
          typeof value === 'number' ? [[name, toUnits(value)]] : [],
      )
    : []
}

/** Returns the groups of some rows, in the order of kept totals. */
export function sumRows(columns: SummedColumns, rows: readonly Row[]): KeptGroup[] {
  const sums = emptySums()
  for (const row of rows) {
    addRecord(
      sums,
      columns.groups.map((name) => (row[name] ?? null) as string | null),
      columns.sums.map((name) => unitsOf(row[name])),
      kpisOf(row, columns.kpis),
    )
  }
  return toKeptGroups(sums, columns)
}

/** Returns the control totals of the rows of an object, as its manifest has them. */
export function totalsOfRows(form: string, rows: readonly Row[]): string | null {
  const totals: ArchiveTotals = { form, groups: sumRows(columnsOfForm(form), rows) }
  const text = JSON.stringify(totals)
  return text.length > MAX_CHARACTERS ? null : text
}

/** Returns whether rows have the control totals of the manifest; also if it has none. */
export function haveTotals(rows: readonly Row[], totals: string | null): boolean {
  if (totals === null) return true
  const { form, groups }: ArchiveTotals = JSON.parse(totals)
  return JSON.stringify(sumRows(columnsOfForm(form), rows)) === JSON.stringify(groups)
}

/** Returns the groups of several lists, each with the sums of all. */
function mergeGroups(columns: SummedColumns, lists: readonly (readonly KeptGroup[])[]) {
  const sums = emptySums()
  for (const groups of lists) mergeSums(sums, fromKeptGroups(groups))
  return toKeptGroups(sums, columns)
}

/** Returns the control totals of a month from its objects; null if one has none, or another form than the others. */
function totalsOfParts(parts: readonly Pick<ArchivePart, 'totals'>[]): ArchiveTotals | null {
  const found = parts.map(({ totals }) => totals && (JSON.parse(totals) as ArchiveTotals))
  const [first] = found
  if (!first || !found.every((one) => one && one.form === first.form)) return null
  const groups = found.flatMap((one) => (one ? [one.groups] : []))
  return { form: first.form, groups: mergeGroups(columnsOfForm(first.form), groups) }
}

/**
 * Returns whether the objects of a month have the control totals of its days together. If these do not count as many
 * records, the month has changed or they are too large: then there is nothing to compare.
 */
export function areTotalsOfDays(
  parts: readonly Pick<ArchivePart, 'totals' | 'records'>[],
  days: readonly DayTotals[],
): boolean {
  const totals = totalsOfParts(parts)
  const count = (all: readonly { records: number }[]) =>
    all.reduce((sum, { records }) => sum + records, 0)
  if (totals === null || count(parts) !== count(days)) return true
  const ofDays = days.map((one): KeptGroup[] => JSON.parse(one.totals))
  const merged = mergeGroups(columnsOfForm(totals.form), ofDays)
  return JSON.stringify(merged) === JSON.stringify(totals.groups)
}

/**
 * Returns the control totals of an archived month as control totals of days are shown: each group with the number of
 * its records and its sums. Null if they are not kept.
 *
 * @param wire The names of columns on the wire, where they differ.
 */
export function presentArchiveTotals(
  parts: readonly Pick<ArchivePart, 'totals'>[],
  wire?: Readonly<Record<string, string>>,
): ReturnType<typeof presentGroup>[] | null {
  const totals = totalsOfParts(parts)
  if (totals === null) return null
  const columns = { ...columnsOfForm(totals.form), ...(wire && { wire }) }
  return totals.groups.map((group) => presentGroup(columns, group))
}
