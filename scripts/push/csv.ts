import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { pointerStep } from '../../src/validation/pointer.ts'
import { quote } from '../../src/validation/quote.ts'
import { usageError } from '../exit-error.ts'
import type { Hints, Reader, RecordShape, Renames } from './reader.ts'

/** @see [RFC 8259 §6](https://www.rfc-editor.org/rfc/rfc8259#section-6) */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/

/** Column separators, with the names that messages use. Spreadsheets export all three. */
const SEPARATORS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const

type Separator = keyof typeof SEPARATORS

/** A header that is longer than this is parsed with the separator found in its beginning. */
const MAX_HEADER_LENGTH = 64 * 1024

/** The cells of a row, and the number of lines that csv-parse has counted at its end. */
interface Row {
  record: string[]
  info: { lines: number }
}

/** Reads one record per row. The first row has the names of the fields. */
export const readCsv: Reader = async function* readCsv(texts, { file, renames }, shape) {
  const { header, all } = await peekHeader(texts)
  const separator = detectSeparator(header, new Set([...shape.fields, ...renames.keys()]))
  const parser = parse({ skip_empty_lines: true, delimiter: separator, info: true })
  // Errors of either stream are thrown by the loop below.
  pipeline(Readable.from(all), parser, () => {})
  const lineOf = createLineCounter()
  let names: string[] | null = null
  try {
    for await (const row of parser as AsyncIterable<Row>) {
      const cells = row.record
      const line = lineOf(row)
      if (names === null) {
        names = fieldNames(cells, file, renames, shape)
        continue
      }
      const record = toRecord(names, cells, shape)
      const hints = hintsOf(names, cells, line, shape)
      yield { text: JSON.stringify(record), key: shape.identityOf(record), ...(hints && { hints }) }
    }
    if (names === null) throw usageError(`${file} is empty: the header row is missing.`)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const message = `${file}: ${error.message}. Columns are separated by ${SEPARATORS[separator]}.`
    throw usageError(message, error)
  }
}

/**
 * Returns a function that returns the line on which a row begins. It must get every row, because
 * csv-parse counts each `\r\n` in a quoted cell as two lines.
 */
function createLineCounter() {
  let counted = 0
  let surplus = 0
  return ({ record, info: { lines } }: Row): number => {
    const isOneLine = lines === counted + 1
    counted = lines
    if (isOneLine) return lines - surplus
    const text = record.join('')
    surplus += text.split('\r\n').length - 1
    return lines - surplus - (text.split('\n').length - 1)
  }
}

/** Reads up to the end of the first line, and returns it with an iterable of the whole text. */
async function peekHeader(texts: AsyncIterable<string>) {
  const iterator = texts[Symbol.asyncIterator]()
  let start = ''
  while (!start.trimStart().includes('\n') && start.length < MAX_HEADER_LENGTH) {
    const { value, done } = await iterator.next()
    if (done) break
    start += value
  }
  async function* all() {
    yield start
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { header: start.trimStart().split('\n', 1)[0]!.trimEnd(), all: all() }
}

/** Returns the separator that yields the most known names, then the most columns; else a comma. */
function detectSeparator(header: string, known: ReadonlySet<string>): Separator {
  const ranked = (Object.keys(SEPARATORS) as Separator[]).map((separator) => {
    const names = header.split(separator).map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
    return { separator, found: names.filter((name) => known.has(name)).length, all: names.length }
  })
  ranked.sort((a, b) => b.found - a.found || b.all - a.all)
  return ranked[0]!.separator
}

/** Validates the header: without one, the first record would be lost and all others refused. */
function fieldNames(
  columns: string[],
  file: string,
  renames: Renames,
  { name: resource, fields }: RecordShape,
): string[] {
  for (const theirs of renames.keys()) {
    if (columns.includes(theirs)) continue
    const all = columns.join(', ')
    throw usageError(
      `${file}, line 1: the column \`${theirs}\` that --map renames is missing. Columns: ${all}`,
    )
  }
  const names = columns.map((column) => renames.get(column) ?? column)
  const repeated = names.find((name, i) => names.indexOf(name) < i)
  if (repeated === '') {
    throw usageError(`${file}, line 1: column ${names.indexOf('') + 1} has no name.`)
  }
  if (repeated !== undefined) {
    throw usageError(`${file}, line 1: the column \`${repeated}\` occurs twice.`)
  }
  if (names.some((name) => fields.includes(name))) return names
  const list = fields.join(',')
  throw usageError(`${file}, line 1: the header has no field of ${resource}. Fields: ${list}`)
}

/** Leaves out empty cells. A numeric field with another text is sent as text: the API names it. */
function toRecord(names: string[], cells: string[], { numeric }: RecordShape) {
  const members = names.flatMap((name, i) => {
    const cell = cells[i]!
    if (cell === '') return []
    return [[name, numeric.has(name) && NUMBER.test(cell) ? JSON.rawJSON(cell) : cell] as const]
  })
  return Object.fromEntries(members)
}

/** Returns the hints for the cells of numeric fields that are not numbers, or null without one. */
function hintsOf(
  names: string[],
  cells: string[],
  line: number,
  { numeric }: RecordShape,
): Hints | null {
  const wrong = names.flatMap((name, i) => {
    const cell = cells[i]!
    if (cell === '' || !numeric.has(name) || NUMBER.test(cell)) return []
    return [[pointerStep(name), `The cell ${quote(cell)} on line ${line} ${NUMBER_FORM}`] as const]
  })
  return wrong.length > 0 ? Object.fromEntries(wrong) : null
}

const NUMBER_FORM =
  'is not a number. Write digits without leading zeros, spaces or separators of thousands, with a ' +
  'point before decimals and a minus before a negative number, such as `-1000.50`.'
