import type { ExportColumn } from './columns.ts'
import type { ExportPage } from './db/record-rows.ts'

/** A month of a resource as it is stored now. */
export interface DatasetMonth {
  /** `2026-10`; empty if the resource is exported as a whole. */
  readonly month: string
  /** A month whose files have another sign has changed. */
  readonly sign: string
  /** Whether it may have changed although they are the same. */
  readonly mayHaveChanged?: boolean
}

/** What is known of an account when its changed months are looked for. */
export interface MonthsScope {
  readonly db: D1Database
  readonly account: string
  /** From where marks of changed days are read: those behind it came after the last export had begun. */
  readonly position: number
  /** Whether customers were erased since then, of which the export has personal data. */
  readonly hasErasures: boolean
}

/** The rows of a month. */
export interface RowsScope extends Pick<MonthsScope, 'db' | 'account'> {
  readonly month: string
  readonly withPersonalData: boolean
}

/** A resource of an export. */
export interface Dataset<Place = string> {
  readonly name: string
  /** The columns of its files. */
  readonly columns: (withPersonalData: boolean) => readonly ExportColumn[]
  /** A file has the rows of at most this many pages. */
  readonly partPages: number
  readonly months: (scope: MonthsScope) => Promise<DatasetMonth[]>
  /** Reads the rows after a place; null is the begin of the month. Equal rows give equal pages. */
  readonly page: (scope: RowsScope, after: Place | null) => Promise<ExportPage<Place>>
}

/** Returns a dataset whose places are texts, as messages of a queue have them. */
export const withTextPlaces = <Place>(dataset: Dataset<Place>): Dataset => ({
  ...dataset,
  async page(scope, after) {
    const place: Place | null = after === null ? null : JSON.parse(after)
    const { rows, next } = await dataset.page(scope, place)
    return { rows, next: next && JSON.stringify(next) }
  },
})
