/** Where a copy or a comparison goes on, as JSON: behind this key of this table. */
export interface CopyPlace {
  readonly table: string
  /** The primary key of the last row without its account; null at the begin of a table. */
  readonly after: readonly (string | number)[] | null
}

/** A row that the copy lacks, has too much, or has otherwise. */
export interface Difference {
  readonly table: string
  /** The primary key of the row, without its account, as JSON. */
  readonly key: string
}

export const notBuilt = (): Promise<never> => Promise.reject(new Error('This is not built.'))
