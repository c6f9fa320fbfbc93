/**
 * Returns the parts of a template literal of SQL, between its expressions, with less white space: where
 * a line ends, one space remains, or nothing next to a parenthesis or a comma. SQL reads both alike.
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
      else if (quote === '') return collapseLines(text)
      return text
    }),
  )
  if (quote) throw new Error(`This SQL has an open string: ${sql}`)
  return collapsed
}

const collapseLines = (sql: string) =>
  sql.replace(/([(),]?)\s*\n\s*(?=([(),]?))/g, (_, before: string, after: string) =>
    before || after ? before : ' ',
  )
