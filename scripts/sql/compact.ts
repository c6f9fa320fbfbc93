const WIDTH = 100

const indentOf = (line: string) => line.length - line.trimStart().length

/** Joins what sql-formatter writes on lines of its own, where it fits: lists, and short clauses. */
export function compactSql(sql: string): string {
  let lines = sql.split('\n')
  for (;;) {
    const next = joinClauses(joinLists(lines))
    if (next.length === lines.length) return next.join('\n')
    lines = next
  }
}

/** Joins items of a list that stand at the same depth. */
function joinLists(lines: readonly string[]): string[] {
  const joined: string[] = []
  for (const line of lines) {
    const last = joined.at(-1)
    const isItem = last?.endsWith(',') && indentOf(last) === indentOf(line) && isPlain(last, line)
    const text = `${last} ${line.trim()}`
    if (isItem && text.length <= WIDTH) joined[joined.length - 1] = text
    else joined.push(line)
  }
  return joined
}

/** Whether no parenthesis is left open: a nested query keeps its lines. */
const isPlain = (...lines: string[]) =>
  lines.every((line) => line.split('(').length === line.split(')').length)

/** Joins a keyword or an opening parenthesis with the one deeper line that follows it. */
function joinClauses(lines: readonly string[]): string[] {
  const joined: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const inner = lines[i + 1]
    const after = lines[i + 2]
    const isAlone =
      inner !== undefined &&
      indentOf(inner) > indentOf(line) &&
      (after === undefined || indentOf(after) <= indentOf(line))
    if (!isAlone || !isOpening(line)) {
      joined.push(line)
      continue
    }
    const closes = line.endsWith('(') && after?.trim().startsWith(')')
    const text = closes
      ? `${line}${inner.trim()}${after?.trim()}`
      : `${line}${line.endsWith('(') ? '' : ' '}${inner.trim()}`
    if (text.length > WIDTH || (line.endsWith('(') && !closes)) {
      joined.push(line)
      continue
    }
    joined.push(text)
    i += closes ? 2 : 1
  }
  return joined
}

const isOpening = (line: string) =>
  line.endsWith('(') ||
  /^\s*(select|from|where|limit|set|values|update|insert into|group by|order by|with|returning)$/.test(
    line,
  )
