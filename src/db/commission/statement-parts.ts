import type { Connection } from '../database.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A part of the lines and adjustments of a statement. */
export interface StatementPart {
  readonly id: string
  readonly hash: string
  /** The number of parts. */
  readonly parts: number
  /** A JSON array. */
  readonly lines: string | null
}

/** Reads the same part of several statements. */
export const READ_PARTS = compileStatement(`
  select s.id, s.hash, s.parts, iif(:part = 1, s.lines, l.lines) as lines
  from json_each(:ids) i
  cross join statements s on s.account = :account and s.id = i.value
  left join statement_lines l on l.account = :account and l.id = s.id and l.part = :part
  where s.statement is not null`)

/** Returns one part of each of these statements, in any order. */
export const readParts = (
  db: Connection,
  account: string,
  ids: readonly string[],
  part: number,
): Promise<StatementPart[]> =>
  withD1Retry(async () => {
    const values = { account, ids: JSON.stringify(ids), part }
    const { results } = await bindStatement(db, READ_PARTS, values).all<StatementPart>()
    return results
  })
