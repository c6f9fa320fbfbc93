import type { Statement } from '../../src/db/statement.ts'

/** A statement as it is documented. */
export interface DocumentedStatement {
  /** The name that the code gives it. */
  readonly name: string
  /** When the statement runs, and what it does: one sentence. */
  readonly purpose: string
  /** What the SQL alone does not tell, such as why columns are not updated. Each is a paragraph. */
  readonly notes?: readonly string[]
  readonly statement: Statement
  /** The indexes that its plan may use, beside primary keys. */
  readonly indexes: readonly string[]
}

/** A group of statements. */
export interface DocumentedFile {
  readonly name: string
  /** What the statements of the file do together. */
  readonly title: string
  readonly statements: readonly DocumentedStatement[]
}
