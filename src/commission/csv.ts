// CSV as the Worker writes and reads it. csv-parse would add 14 KiB to the bundle.

/**
 * A field that a spreadsheet would compute: it gets an apostrophe, which reading takes away again. Some
 * spreadsheets also compute what begins with a full-width character.
 */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n']/

/**
 * A part of a field that becomes a cell of its own where spreadsheets separate by semicolons or tabs, as
 * in most of Europe: they do not see the quotes, since these are not at the beginning of their cell.
 */
const INNER_FORMULA = /([;\t\r\n])(?=[=+\-@＝＋－＠'])/g

const INNER_MARK = /([;\t\r\n])'(?=[=+\-@＝＋－＠'])/g

const NUMBER = /^-?\d+(?:\.\d+)?$/

const NEEDS_QUOTES = /[",\r\n]/

function cellText(value: string): string {
  const inner = value.replace(INNER_FORMULA, "$1'")
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${inner}` : inner
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

/** Returns the headers of a CSV file whose name joins these parts. */
export function csvHeaders(...names: readonly string[]): Record<string, string> {
  const name = names.join('-').replaceAll(/[^\w.-]/g, '_')
  return {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  }
}

const readCell = (text: string): string =>
  (text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text).replace(
    INNER_MARK,
    '$1',
  )

/** A cell at its beginning: with quotes or without. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|$)/y

/** The rows of a CSV text, or where and why it cannot be read. */
export type CsvRows =
  | { readonly rows: string[][]; readonly fault: null }
  | { readonly rows: null; readonly fault: { readonly line: number; readonly reason: string } }

/** Reads CSV: the rows with their cells, empty lines left out. */
export function readCsv(text: string): CsvRows {
  const rows: string[][] = []
  let row: string[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length) {
    CELL.lastIndex = at
    const found = CELL.exec(text)
    if (!found) return { rows: null, fault: faultAt(text, at) }
    const [, quoted, plain = '', end] = found
    row.push(readCell(quoted?.replaceAll('""', '"') ?? plain))
    at = CELL.lastIndex
    if (end === ',' && at < text.length) continue
    if (end === ',') row.push('')
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return { rows, fault: null }
}

/** The part of a cell that can be read, if the rest of it cannot. */
const CELL_BEGINNING = /"(?:[^"]|"")*"|[^",\r\n]*/y

/** Returns the line of a cell that cannot be read, from 1, and what is wrong with it. */
function faultAt(text: string, start: number): { line: number; reason: string } {
  CELL_BEGINNING.lastIndex = start
  CELL_BEGINNING.test(text)
  const at = CELL_BEGINNING.lastIndex
  const line = text.slice(0, at).split('\n').length
  if (text[at] === '\r') return { line, reason: 'a carriage return without a line feed after it' }
  if (at === start) return { line, reason: 'a quote that is not closed' }
  return text[start] === '"'
    ? { line, reason: 'text after a closing quote' }
    : { line, reason: 'a quote within a cell that does not begin with one' }
}
