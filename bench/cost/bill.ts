import { dollars, sum, times, type Usage, ZERO_USAGE } from '../../scripts/capacity/prices.ts'
import type { Costs, Measured } from './measure.ts'
import type { Counts } from './meter.ts'

const MILLION = 1_000_000

/** One kind of work, and the usage of a million of its records. */
export interface Line {
  resource: string
  phase: string
  floor: number
  ours: Usage
  naive: Usage | null
}

/** Scales the usage of one kind of work to a million records. */
export const lineOf = ({ work, records, ours, naive }: Measured): Line => ({
  resource: work.resource,
  phase: work.phase,
  floor: work.floor * MILLION,
  ours: times(ours.usage, MILLION / records),
  naive: naive && times(naive.usage, MILLION / records),
})

/** Rows that are billed as written, including those of objects. */
export const rowsOf = ({ rowsWritten, objectRowsWritten }: Usage) => rowsWritten + objectRowsWritten

/**
 * Returns how far a kind of work is above its floor, the least possible number of rows, as a share of it. For a replay, whose floor
 * is 0, returns the rows per record that the request writes.
 */
export const shareAboveFloor = ({ floor, ours }: Line): number =>
  (rowsOf(ours) - floor) / Math.max(floor, MILLION)

/** A larger share above the floor is a failure. */
export const TOLERANCE = 0.1

/** In smaller bulks the rows per request weigh more, and are not a failure. */
export const GATED_BULK = 1000

/** Returns the kinds of work that are above their floor. */
export const linesAboveFloor = (lines: readonly Line[]) =>
  lines.filter((line) => shareAboveFloor(line) > TOLERANCE)

/** Returns the usage of a million records, equally of each kind that both designs store. */
export function mixedBill({ measured, after }: Costs): {
  ours: Usage
  naive: Usage
  floor: number
} {
  const both = measured.filter(({ work, naive }) => naive && work.phase !== 'follow')
  const records = both.reduce((all, one) => all + one.records, 0)
  const per = MILLION / records
  // The last writes of objects are shared by all tokens, one for each kind of work.
  const share = times(after, both.length / measured.length)
  return {
    ours: times(sum([...both.map(({ ours }) => ours.usage), share]), per),
    naive: times(sum(both.map(({ naive }) => naive!.usage)), per),
    floor: both.reduce((all, one) => all + one.work.floor * one.records, 0) * per,
  }
}

/** The tables that the statements of a request write besides its records, with what they contain. */
const OTHER_TABLES = {
  deliveries: 'rows of deliveries, and of arrivals and totals by its triggers',
  totals: 'rows of totals by statements of their own',
}

/** Returns the mean number of rows that a request writes besides its records, by where it writes them. */
export function otherRows(measured: readonly Measured[]): [where: string, rows: number][] {
  const bulks = measured.filter(({ work }) => work.phase !== 'follow').map(({ ours }) => ours)
  const requests = bulks.reduce((all, { usage }) => all + usage.requests, 0)
  const mean = (rowsOfOne: (one: Counts) => number) =>
    bulks.reduce((all, one) => all + rowsOfOne(one), 0) / requests
  return [
    ...Object.entries(OTHER_TABLES).map(([table, where]): [string, number] => [
      where,
      mean(({ written }) => written[table] ?? 0),
    ]),
    ['rows of the object of its token', mean(({ usage }) => usage.objectRowsWritten)],
  ]
}

/** Returns the least cost of a million records of one kind: that of their rows alone. */
export const floorDollars = (rows: number) => dollars({ ...ZERO_USAGE, rowsWritten: rows })
