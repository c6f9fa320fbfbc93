/** The limits of the steps that copy and delete the rows of an account. */
export const COPY_LIMITS = {
  /** The rows of a page. */
  rows: 3000,
  /** The characters of a page; its last row may exceed them. */
  characters: 1_000_000,
  /** The pages after which a step ends: with their queries an invocation makes fewer than it may. */
  pages: 12,
  /** The rows that one batch deletes. */
  deleted: 2000,
  /** The time after which a step begins nothing further, in milliseconds. */
  stepMs: 15_000,
}

/** A move of an account. */
export interface Mover {
  readonly account: string
  /** The id of the move: that of a later move is greater. */
  readonly id: string
}

/** Where copying goes on, as JSON: behind this key of this table. */
export interface CopyPlace {
  readonly table: string
  /** The primary key of the last row without its account; null at the begin of a table. */
  readonly after: Key | null
}

/** A primary key without its account. */
export type Key = readonly (string | number)[]

/** Why a database takes no copy. */
export type CopyRefusal =
  /** Work of the account goes on. */
  | 'busy'
  /** The target has rows of the account, such as those of an earlier move. */
  | 'target_has_rows'
  /** The tables of both databases differ: one of them lacks a migration. */
  | 'tables_differ'
  /** The account lives in another database since an earlier move. */
  | 'moved_away'
  /** The copy is not what was copied, in `table`. */
  | 'copy_differs'

/** The error of a step that a move must not take. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
  readonly refusal: CopyRefusal
  readonly table: string | null

  constructor(refusal: CopyRefusal, table: string | null = null) {
    super(refusal)
    this.refusal = refusal
    this.table = table
  }
}
