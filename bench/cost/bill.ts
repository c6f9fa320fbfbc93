import type { Costs, Measured } from './measure.ts'
import type { Counted } from './meter.ts'
import { dollars, nothing, sum, times, type Usage } from './prices.ts'

const MILLION = 1_000_000

/** One kind of work: what a million of its records use. */
export interface Line {
  resource: string
  phase: string
  promised: boolean
  floor: number
  ours: Usage
  naive: Usage | null
}

/** What a million records of one kind use. */
export const lineOf = ({ work, records, ours, naive }: Measured): Line => ({
  resource: work.resource,
  phase: work.phase,
  promised: work.promised,
  floor: work.floor * MILLION,
  ours: times(ours.usage, MILLION / records),
  naive: naive && times(naive.usage, MILLION / records),
})

/** All rows that are billed as written, those of objects, too. */
export const rowsOf = ({ rowsWritten, objectRowsWritten }: Usage) => rowsWritten + objectRowsWritten

/**
 * By which part it is above its floor. Of a replay, whose floor is nothing, by which part of a row a
 * record: that is what its request writes.
 */
export const above = ({ floor, ours }: Line): number =>
  (rowsOf(ours) - floor) / Math.max(floor, MILLION)

/** More than this above a floor is a fault. */
export const TOLERANCE = 0.1

/** In smaller bulks what a request writes beside its records weighs more, and is no fault. */
export const GATED_BULK = 1000

/** What is promised, and above its floor. */
export const faults = (lines: readonly Line[]) =>
  lines.filter((line) => line.promised && above(line) > TOLERANCE)

/** A million records, as many of each kind that both designs know. */
export function mix({ measured, after }: Costs): { ours: Usage; naive: Usage; floor: number } {
  const both = measured.filter(({ work, naive }) => naive && work.phase !== 'follow')
  const records = both.reduce((all, one) => all + one.records, 0)
  const per = MILLION / records
  // What objects write when all is over belongs to all tokens, one for each kind of work.
  const share = times(after, both.length / measured.length)
  return {
    ours: times(sum([...both.map(({ ours }) => ours.usage), share]), per),
    naive: times(sum(both.map(({ naive }) => naive!.usage)), per),
    floor: both.reduce((all, one) => all + one.work.floor * one.records, 0) * per,
  }
}

/** The tables that hold no records: what a request writes beside them. */
const BESIDE = ['deliveries', 'arrivals', 'totals']

/** Rows that a request writes beside its records, on average, by table. */
export function beside(measured: readonly Measured[]): [where: string, rows: number][] {
  const bulks = measured.filter(({ work }) => work.phase !== 'follow').map(({ ours }) => ours)
  const requests = bulks.reduce((all, { usage }) => all + usage.requests, 0)
  const mean = (rowsOfOne: (one: Counted) => number) =>
    bulks.reduce((all, one) => all + rowsOfOne(one), 0) / requests
  return [
    ...BESIDE.map((table): [string, number] => [table, mean(({ written }) => written[table] ?? 0)]),
    ['the object of its token', mean(({ usage }) => usage.objectRowsWritten)],
  ]
}

/** What a million records of one kind cost at the least: their rows and nothing else. */
export const floorDollars = (rows: number) => dollars({ ...nothing(), rowsWritten: rows })
