import type { Statement } from '../../src/db/statement.ts'
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
      `${dedented(sql)};`,
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

/** Returns SQL without the blank lines and the indentation that all of its lines have. */
function dedented(sql: string): string {
  const lines = sql.split('\n').filter((line) => line.trim() !== '')
  const indented = lines.filter((line) => line.startsWith(' '))
  const depth = Math.min(...indented.map((line) => line.length - line.trimStart().length))
  return lines.map((line) => (line.startsWith(' ') ? line.slice(depth) : line)).join('\n')
}
