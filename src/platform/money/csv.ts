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

const cellText = (text: string): string =>
  NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Returns the text of a cell that no spreadsheet computes. */
function markFormulas(value: string): string {
  const inner = value.replace(INNER_FORMULA, "$1'")
  return FORMULA.test(value) && !NUMBER.test(value) ? `'${inner}` : inner
}

/**
 * Writes rows as CSV for programs: each cell as it is.
 *
 * @see [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)
 */
export const writeExactCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cellText).join()}\r\n`).join('')

/**
 * Writes rows as CSV for people. A cell that a spreadsheet would take for a formula begins with an apostrophe, so
 * that an id such as `=HYPERLINK(…)` runs nothing.
 */
export const writeCsv = (rows: readonly (readonly string[])[]): string =>
  writeExactCsv(rows.map((row) => row.map(markFormulas)))

/** Begins a file, so that spreadsheets read it as UTF-8. */
export const BYTE_ORDER_MARK = '\ufeff'

/** Returns the headers of a CSV file whose name joins these parts. */
export function csvHeaders(...names: readonly string[]): Record<string, string> {
  const name = names.join('-').replaceAll(/[^\w.-]/g, '_')
  return {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  }
}

const readCell = (text: string): string =>
  text.includes("'")
    ? (text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text).replace(
        INNER_MARK,
        '$1',
      )
    : text

/** What may separate cells: a spreadsheet writes semicolons or tabs in most of Europe. */
const SEPARATORS = [',', ';', '\t'] as const

/** The most cells of a row, and the longest cell: more would fill the memory. */
const MAX_CELLS = 10_000
const MAX_CELL = 100_000

/** A first line that states the separator, or names a section, as exports of Post Affiliate Pro do. */
const FIRST_LINE = /^"?(?:sep=(.)|\[\[.*\]\])"?[,;\t]*\r?\n/i

/** The line that begins another section. */
const NEXT_SECTION = /\n"?\[\[[^\r\n]*\]\]/

/** Returns the separator of a CSV text, and where its header begins. */
function beginOf(text: string): { separator: string; at: number } {
  const bom = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  const first = FIRST_LINE.exec(text.slice(bom))
  const at = bom + (first?.[0].length ?? 0)
  const [header = ''] = /[^\r\n]*/.exec(text.slice(at)) ?? []
  const found = SEPARATORS.find((one) => (first?.[1] ? one === first[1] : header.includes(one)))
  return { separator: found ?? ',', at }
}

/** Where and why a CSV text cannot be read. */
export class CsvFault extends Error {
  readonly line: number
  readonly reason: string

  constructor(line: number, reason: string) {
    super()
    this.line = line
    this.reason = reason
  }
}

/** The rows of a CSV text, or where and why it cannot be read. */
export type CsvRows =
  | { readonly rows: string[][]; readonly fault: null }
  | { readonly rows: null; readonly fault: CsvFault }

/** Reads all rows of a CSV text. */
export function readCsv(file: string): CsvRows {
  try {
    return { rows: [...eachCsvRow(file)], fault: null }
  } catch (error) {
    if (error instanceof CsvFault) return { rows: null, fault: error }
    throw error
  }
}

/**
 * Reads CSV row by row: those of its first section, with their cells. Lines that are empty or have only separators
 * are left out.
 *
 * @throws CsvFault
 */
export function* eachCsvRow(file: string): Generator<string[], void> {
  const [text = ''] = file.split(NEXT_SECTION)
  const begin = beginOf(text)
  const { separator } = begin
  let { at } = begin
  let row: string[] = []
  const fail = (reason: string): never => {
    throw new CsvFault(text.slice(0, at).split(/\r\n?|\n/).length, reason)
  }
  while (at < text.length) {
    const end = endOfCell(text, at, separator)
    if (end === null) return fail('a quote that is not closed or within a cell')
    if (row.length >= MAX_CELLS) return fail('too many cells')
    if (end - at > MAX_CELL) return fail('a cell that is too long')
    const isQuoted = text[at] === '"'
    const cell = isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end)
    row.push(readCell(cell))
    at = end + 1
    if (text[end] === separator && at < text.length) continue
    if (text[end] === separator) row.push('')
    if (row.some((one) => one.trim() !== '')) yield row
    row = []
  }
}

/** Returns where a cell ends that begins at a position; null if its quotes are wrong. Each character is read once. */
function endOfCell(text: string, begin: number, separator: string): number | null {
  let at = begin
  const isQuoted = text[at] === '"'
  if (isQuoted) {
    do {
      at = text.indexOf('"', at + 1) + 1
      if (at === 0) return null
    } while (text[at] === '"')
  }
  for (; at < text.length; at++) {
    const letter = text[at]
    if (letter === separator || letter === '\n' || letter === '\r') return at
    if (isQuoted || letter === '"') return null
  }
  return at
}
