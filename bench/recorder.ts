import {
  buildStatements,
  COMMON_STATEMENTS,
  type DeliveryStatements,
} from '../src/db/records/delivery-sql.ts'
import type { RecordTable } from '../src/db/records/record-table.ts'
import type { Statement } from '../src/db/statement.ts'
import type { Running } from './worker.ts'

/** The cost of one statement of a batch, as D1 reports it. */
export interface Cost {
  ms: number
  rowsRead: number
  rowsWritten: number
}

/** Wraps the database so that the listener gets the cost of each statement of a batch. */
export function recorder(
  { database }: Running,
  recordTable: RecordTable,
  record: (name: string, cost: Cost) => void,
): D1DatabaseSession {
  const names = new Map<unknown, string>()
  const known = named(buildStatements(recordTable))
  return {
    prepare: (text: string) => ({
      bind: (...values: unknown[]) => {
        const statement = database.prepare(text).bind(...values)
        const [, name] = known.find(([begin]) => text.startsWith(begin)) ?? []
        names.set(statement, name ?? text.trim().split(/\s+/, 3).join(' '))
        return statement
      },
    }),
    async batch(statements: Parameters<typeof database.batch>[0]) {
      const answers = await database.batch(statements)
      for (const [i, { meta }] of answers.entries()) {
        const { duration: ms, rows_read: rowsRead, rows_written: rowsWritten } = meta
        record(names.get(statements[i])!, { ms, rowsRead, rowsWritten })
      }
      return answers
    },
  } as unknown as D1DatabaseSession
}

/** Returns whether a part is a statement, and not a function that builds one. */
const isStatement = (part: unknown): part is Statement =>
  typeof part === 'object' && part !== null && 'sql' in part

/** The SQL of a table's statements, by the names that the code gives them. */
const named = (statements: DeliveryStatements): [sql: string, name: string][] => [
  ...Object.entries(COMMON_STATEMENTS).map(([name, { sql }]): [string, string] => [sql, name]),
  ...Object.entries(statements).flatMap(([name, statement]) =>
    [statement].flat().flatMap((one) => {
      // Columns are text, and a table may have no statements of a kind.
      if (typeof one !== 'object' || one === null) return []
      const parts: unknown[] = 'sql' in one ? [one] : Object.values(one)
      return parts.filter(isStatement).map(({ sql }): [string, string] => [sql, name])
    }),
  ),
]
