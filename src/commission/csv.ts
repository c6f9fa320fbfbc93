/** A field that a spreadsheet would compute: it gets an apostrophe, which reading takes away again. */
const FORMULA = /^[=+\-@\t\r']/

const NUMBER = /^-?\d+(?:\.\d+)?$/

const NEEDS_QUOTES = /[",\r\n]/

function cellText(value: string): string {
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Writes rows as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe, so
 * that an id such as `=HYPERLINK(…)` runs nothing.
 *
 * @see [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)
 */
export const writeCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cellText).join()}\r\n`).join('')

const readCell = (text: string): string =>
  text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text

/** A cell at its beginning: with quotes or without. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|$)/y

/**
 * Reads CSV: the rows with their cells, empty lines left out. Returns null if a quote is not closed, or
 * stands within a cell without quotes.
 */
export function readCsv(text: string): string[][] | null {
  const rows: string[][] = []
  let row: string[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length) {
    CELL.lastIndex = at
    const found = CELL.exec(text)
    if (!found) return null
    const [, quoted, plain = '', end] = found
    row.push(readCell(quoted?.replaceAll('""', '"') ?? plain))
    at = CELL.lastIndex
    if (end === ',' && at < text.length) continue
    if (end === ',') row.push('')
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}
