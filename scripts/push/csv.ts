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
  const { header, declared, all } = await peekHeader(texts, file)
  const separator =
    declared ?? detectSeparator(header, new Set([...shape.fields, ...renames.keys()]))
  const separated = `Columns are separated by ${SEPARATORS[separator]}.`
  const parser = parse({
    relax_column_count: true,
    delimiter: separator,
    info: true,
  })
  // Errors of either stream are thrown by the loop below.
  pipeline(Readable.from(all), parser, () => {})
  const lines = createLineCounter(declared === null ? 0 : 1)
  let names: string[] | null = null
  try {
    for await (const row of parser as AsyncIterable<Row>) {
      const cells = row.record
      const line = lines.next()
      lines.pass(row)
      // Spreadsheets leave rows of separators behind.
      if (cells.every((cell) => cell.trim() === '')) continue
      if (names === null) {
        names = fieldNames(cells, `${file}, line ${line}`, renames, shape)
        continue
      }
      if (cells.length !== names.length) {
        const cellCount = `${cells.length} cell${cells.length === 1 ? '' : 's'}`
        const counts = `${cellCount}, but the header has ${names.length}`
        throw usageError(`${file}, line ${line}: ${counts}. ${separated}`)
      }
      const record = toRecord(names, cells, shape)
      const hints = hintsOf(names, cells, line, shape)
      const key = shape.identityOf(record)
      yield { text: JSON.stringify(record), key, line, ...(hints && { hints }) }
    }
    if (names === null) throw usageError(`${file} is empty: the header row is missing.`)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const place = `${file}, line ${lines.next()}`
    const reason = error.message.replace(/,? (?:at|on) line \d+/, '')
    throw usageError(`${place}: ${reason}. ${separated}`, error)
  }
}

/**
 * Counts the lines of a file after the `skipped` first ones. `next` returns the line on which the next
 * row begins. `pass` must get every row, because csv-parse counts each `\r\n` in a quoted cell as two
 * lines.
 */
function createLineCounter(skipped: number) {
  let counted = 0
  let surplus = -skipped
  const next = () => counted - surplus + 1
  const pass = ({ record, info: { lines } }: Row) => {
    if (lines !== counted + 1) surplus += record.join('').split('\r\n').length - 1
    counted = lines
  }
  return { next, pass }
}

/** The first line by which spreadsheets tell the separator. */
const DECLARATION = /^\uFEFF?"?sep=(.?)"?\r?\n/i

/**
 * Reads up to the end of the header, and returns it with an iterable of the text from there on, and
 * the separator that a line `sep=;` before it declares, or null.
 */
async function peekHeader(texts: AsyncIterable<string>, file: string) {
  const iterator = texts[Symbol.asyncIterator]()
  let start = ''
  while (!start.trimStart().includes('\n') && start.length < MAX_HEADER_LENGTH) {
    const { value, done } = await iterator.next()
    if (done) break
    start += value
  }
  const [declaration, declared] = DECLARATION.exec(start) ?? []
  if (declared !== undefined && !Object.hasOwn(SEPARATORS, declared)) {
    const all = Object.values(SEPARATORS).join(', ')
    throw usageError(`${file}, line 1: the separator of \`sep=\` is none of ${all}.`)
  }
  const rest = start.slice(declaration?.length ?? 0)
  async function* all() {
    yield rest
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  const header = rest.trimStart().split('\n', 1)[0]!.trimEnd()
  return { header, declared: (declared as Separator | undefined) ?? null, all: all() }
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
  place: string,
  renames: Renames,
  { name: resource, fields }: RecordShape,
): string[] {
  for (const theirs of renames.keys()) {
    if (columns.includes(theirs)) continue
    const all = columns.join(', ')
    throw usageError(
      `${place}: the column \`${theirs}\` that --map renames is missing. Columns: ${all}`,
    )
  }
  const names = columns.map((column) => renames.get(column) ?? column)
  const repeated = names.find((name, i) => names.indexOf(name) < i)
  if (repeated === '') {
    throw usageError(`${place}: column ${names.indexOf('') + 1} has no name.`)
  }
  if (repeated !== undefined) {
    throw usageError(`${place}: the column \`${repeated}\` occurs twice.`)
  }
  if (names.some((name) => fields.includes(name))) return names
  const list = fields.join(',')
  throw usageError(`${place}: the header has no field of ${resource}. Fields: ${list}`)
}

/** Leaves out empty cells, or makes them null. A numeric field with another text is sent as text: the API names it. */
function toRecord(names: string[], cells: string[], { numeric, nullable }: RecordShape) {
  const members = names.flatMap((name, i): (readonly [string, unknown])[] => {
    const cell = cells[i]!
    if (cell === '') return nullable?.has(name) ? [[name, null]] : []
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
