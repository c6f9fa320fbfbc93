import { format } from 'sql-formatter'
import type { Statement } from '../../src/db/statement.ts'
import { compactSql } from './compact.ts'
import type { DocumentedFile } from './documented.ts'
import { planFaults, queryPlan } from './plan.ts'
import { readStatements } from './reads.ts'
import { writeStatements } from './writes.ts'

/**
 * Returns the statements that write and read records, by the name of their group.
 *
 * @throws Error if a plan scans a table or uses an index that its statement is not meant to use.
 */
export function describedSql(): Map<string, string> {
  const files = [...writeStatements(), ...readStatements()]
  const faults: string[] = []
  const texts = files.map((file) => [file.name, fileText(file, faults)] as const)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return new Map(texts)
}

function fileText({ name, title, statements }: DocumentedFile, faults: string[]): string {
  const parts = statements.map((documented) => {
    const sql = withNamedParameters(documented.statement)
    const plan = queryPlan(sql)
    for (const fault of planFaults(sql, plan, documented.indexes)) {
      faults.push(`${name}, ${documented.name}: ${fault}`)
    }
    return [
      `-- ${documented.name}`,
      `-- ${documented.purpose}`,
      ...(documented.notes ?? []).flatMap(commentLines),
      `${formatted(sql)};`,
      '-- Query plan:',
      ...plan.map((step) => `--   ${step}`),
    ].join('\n')
  })
  return `-- ${title}\n\n${parts.join('\n\n')}\n`
}

const MAX_LINE = 100

/** Returns a text as lines of a SQL comment; further lines are indented. */
function commentLines(text: string): string[] {
  const lines: string[] = []
  let line = '--'
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > MAX_LINE) {
      lines.push(line)
      line = '--  '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}

/** Returns the SQL with the names of its parameters instead of their numbers. */
const withNamedParameters = ({ sql, parameters }: Statement) =>
  sql.replace(/\?(\d+)/g, (_, number: string) => `:${parameters[Number(number) - 1]}`)

const formatted = (sql: string) =>
  compactSql(
    format(sql, {
      language: 'sqlite',
      keywordCase: 'lower',
      dataTypeCase: 'lower',
      functionCase: 'lower',
      expressionWidth: 96,
      paramTypes: { named: [':'] },
    }),
  )
