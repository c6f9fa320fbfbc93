import type { RecordTable } from '../src/db/records/record-table.ts'
import { buildStatements, type DeliveryStatements } from '../src/db/records/upsert-sql.ts'
import type { Running } from './worker.ts'

/** What one statement of the batch costs a bulk, as D1 itself tells. */
export interface Cost {
  ms: number
  rowsRead: number
  rowsWritten: number
}

/** The database, with a word to the listener for each statement of a batch. */
export function recorder(
  { database }: Running,
  shelf: RecordTable,
  tell: (name: string, cost: Cost) => void,
): D1DatabaseSession {
  const names = new Map<unknown, string>()
  const known = named(buildStatements(shelf, shelf.columns))
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
        tell(names.get(statements[i])!, { ms, rowsRead, rowsWritten })
      }
      return answers
    },
  } as unknown as D1DatabaseSession
}

/** The texts of statements.ts, by the names it knows them by; what is bound may go on after them. */
const named = (statements: DeliveryStatements) =>
  Object.entries(statements).flatMap(([name, text]) =>
    [text].flat().map((one) => [typeof one === 'function' ? one(1) : (one ?? name), name] as const),
  )
