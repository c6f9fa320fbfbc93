/**
 * Returns the parts of a template literal of SQL, between its expressions, with less white space: one
 * space where a line ends, and nothing next to parentheses, commas and comparisons. SQL reads both alike.
 * Strings and names in quotes stay as they are, also if an expression stands in one.
 *
 * @throws Error if the SQL has a comment, an escape or an open string, where white space may count.
 */
export function collapseSql(parts: readonly string[]): string[] {
  const sql = parts.join('…')
  if (/--|\/\*|\\/.test(sql)) throw new Error(`Write this SQL without comments and escapes: ${sql}`)
  let quote = ''
  const collapsed = parts.map((part) =>
    part.replace(/'|"|[^'"]+/g, (text) => {
      if (text === quote) quote = ''
      else if (quote === '' && /['"]/.test(text)) quote = text
      else if (quote === '') return collapseSpace(text)
      return text
    }),
  )
  if (quote) throw new Error(`This SQL has an open string: ${sql}`)
  return collapsed
}

const collapseSpace = (sql: string) =>
  sql.replace(/\s*\n\s*/g, ' ').replace(/ *([(),=<>]) */g, '$1')
