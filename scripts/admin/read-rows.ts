import { statSync } from 'node:fs'
import { usageError } from '../exit-error.ts'
import { readRecords } from '../push/read.ts'

/** The longest id in an error message, in characters. */
const MAX_ID_LENGTH = 40

/**
 * Returns the rows of a CSV, JSON or NDJSON file with these columns. `noun` names them in errors. In CSV
 * an empty cell is a missing member, or null in the `nullable` columns.
 */
export async function readRows<T>(
  file: string,
  noun: string,
  columns: readonly string[],
  nullable: readonly string[] = [],
): Promise<T[]> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`${file} does not exist.`)
  }
  const shape = {
    name: noun,
    fields: columns,
    numeric: new Set<string>(),
    nullable: new Set(nullable),
  }
  const rows: T[] = []
  for await (const { text } of readRecords(file, shape)) {
    const row = JSON.parse(text)
    if (Object.hasOwn(row, '')) {
      throw usageError(
        `${file}, line 1: a column with values has no name. Columns: ${columns.join(', ')}`,
      )
    }
    rows.push(row)
  }
  if (rows.length === 0) throw usageError(`${file} has no ${noun}.`)
  return rows
}

/**
 * Returns a pointer into a body of rows with the affiliate of its row in place of the row's index, which
 * is not that of the file.
 */
export function nameAffiliate(pointer: string, rows: readonly { affiliate_id?: string }[]): string {
  const [, index, member] = /^\/(\d+)(.*)$/.exec(pointer) ?? []
  const id = rows[Number(index)]?.affiliate_id
  return id === undefined ? pointer : `affiliate ${id.slice(0, MAX_ID_LENGTH)} ${member}`
}
