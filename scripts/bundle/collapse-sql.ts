/**
 * Returns the parts of a template literal of SQL, between its expressions, with less white space: one
 * space in place of a line break and its indentation, and none next to parentheses, commas and
 * comparisons. The SQL means the same. Strings and quoted names stay as they are, even if an expression
 * stands in one.
 *
 * @throws Error if the SQL has a comment, a backslash or an unclosed quote: there, white space may have a
 *   meaning.
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
  if (quote) throw new Error(`This SQL has an unclosed quote: ${sql}`)
  return collapsed
}

const collapseSpace = (sql: string) =>
  sql.replace(/\s*\n\s*/g, ' ').replace(/ *([(),=<>]) */g, '$1')
