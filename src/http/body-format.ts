import { type JsonSize, measureJson } from './body-size.ts'
import { type BodyWeight, weigh } from './body-weight.ts'

/** The memory that a byte of CSV takes at its worst: in text, in cells and in rows for the database. */
const WEIGHT_PER_CSV_BYTE = 12

/** A format of bodies, and how a body of it is measured before it is decoded. */
export interface BodyFormat {
  /** The media type, in lower case. */
  type: string
  measure: (chunks: readonly Uint8Array[], maxDepth?: number) => MeasuredBody
}

/** What is known of a body before it is decoded. */
export type MeasuredBody = BodyWeight & Pick<JsonSize, 'mayBeInexact'>

/** JSON: its values, nesting and characters decide what it takes in memory. */
export const JSON_FORMAT: BodyFormat = {
  type: 'application/json',
  measure: (chunks, maxDepth) => {
    const size = measureJson(chunks, maxDepth)
    return { ...weigh(size), mayBeInexact: size.mayBeInexact }
  },
}

/** CSV: its weight is a multiple of its bytes. Its numbers stay text, so none is inexact. */
export const CSV_FORMAT: BodyFormat = {
  type: 'text/csv',
  measure: (chunks) => {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    return { weight: bytes * WEIGHT_PER_CSV_BYTE, mustFreeRecords: false, mayBeInexact: false }
  },
}
