/** The limits of the steps that copy, compare and delete the rows of an account. */
export const COPY_LIMITS = {
  /** The most queries of a step; D1 allows 1000 in an invocation. */
  queries: 400,
  /** The rows of a page. */
  rows: 1000,
  /** The characters of a page; its last row may exceed them. */
  characters: 500_000,
  /** The pages of a table that one batch writes. */
  pagesPerBatch: 4,
  /** The pages after which a step ends. */
  pages: 60,
  /** The changed rows that one batch copies. */
  changes: 500,
  /** The rows that one batch deletes. */
  deleted: 2000,
}

/** Where a copy or a comparison goes on, as JSON: behind this key of this table. */
export interface CopyPlace {
  readonly table: string
  /** The primary key of the last row without its account; null at the begin of a table. */
  readonly after: Key | null
  /** How many records come before it: rows of the tables that an account sends. */
  readonly records: number
}

/** A primary key without its account. */
export type Key = readonly (string | number)[]

/** A row that the copy lacks, has too much, or has otherwise. */
export interface Difference {
  readonly table: string
  /** The primary key of the row, without its account, as JSON. */
  readonly key: string
}

/** Why a database takes no copy, or keeps its rows. */
export type CopyRefusal =
  /** The target has rows of the account, such as those of an earlier move. */
  | 'target_has_rows'
  /** The tables of both databases differ: one of them lacks a migration. */
  | 'tables_differ'
  /** The account may live in the database whose rows are to be deleted. */
  | 'not_a_copy'
  /** The move does not follow the account's changes. */
  | 'not_following'
  /** The account lives in another database since an earlier move. */
  | 'moved_away'

/** The error of a step that a move must not take. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
  readonly refusal: CopyRefusal

  constructor(refusal: CopyRefusal) {
    super(refusal)
    this.refusal = refusal
  }
}

/** The error of a step after another one has begun to write the copy, or after the copy has ended. */
export class CopyEnded extends Error {
  override readonly name = 'CopyEnded'
}
