import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { usageError } from '../exit-error.ts'
import type { FileRecord, RecordShape, Renames } from './record.ts'

/** @see [RFC 8259 §6](https://www.rfc-editor.org/rfc/rfc8259#section-6) */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/

/** Column separators, with the names that messages use. Spreadsheets export all three. */
const SEPARATORS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const

/** The cells of a row, and its text. */
interface Row {
  readonly record: string[]
  readonly raw: string
}

/** Reads one record per row. The first row has the names of the fields. Rows without values are skipped. */
export async function* readCsv(
  texts: AsyncIterable<string>,
  head: string,
  file: string,
  shape: RecordShape,
  renames: Renames,
): AsyncGenerator<FileRecord> {
  const delimiter = separatorOf(head)
  const separated = `Columns are separated by ${SEPARATORS[delimiter]}.`
  const parser = parse({ delimiter, raw: true, relax_column_count: true })
  // Errors of either stream are thrown by the loop below.
  pipeline(Readable.from(texts), parser, () => {})
  let next = 1
  let names: string[] | null = null
  try {
    for await (const { record: cells, raw } of parser as AsyncIterable<Row>) {
      const line = next
      next += raw.replace(/\n$/, '').split('\n').length
      if (cells.every((cell) => cell.trim() === '')) continue
      if (names === null) {
        names = fieldNames(cells, `${file}, line ${line}`, renames, shape)
        continue
      }
      if (cells.length !== names.length) {
        const counts = `the row has ${cells.length} of ${names.length} cells`
        throw usageError(`${file}, line ${line}: ${counts}. ${separated}`)
      }
      const record = toRecord(names, cells, shape)
      yield { record, text: JSON.stringify(record), line }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw usageError(`${file}: ${error.message}. ${separated}`, error)
  }
  if (names === null) throw usageError(`${file} is empty.`)
}

/** Returns the separator that occurs most often in the header. */
function separatorOf(head: string): keyof typeof SEPARATORS {
  const [header = ''] = head.trimStart().split('\n', 1)
  const count = (separator: string) => header.split(separator).length
  const [first] = ([',', ';', '\t'] as const).toSorted((a, b) => count(b) - count(a))
  return first!
}

/** Validates the header: without one, the first record would be lost and all others refused. */
function fieldNames(
  columns: string[],
  place: string,
  renames: Renames,
  { name: resource, fields }: RecordShape,
): string[] {
  const unknown = [...renames.keys()].find((theirs) => !columns.includes(theirs))
  if (unknown !== undefined) {
    const all = columns.join(', ')
    throw usageError(
      `${place}: the column \`${unknown}\` that --map renames is missing. Columns: ${all}`,
    )
  }
  const names = columns.map((column) => renames.get(column) ?? column)
  const repeated = names.find((name, i) => names.indexOf(name) < i)
  if (repeated === '') throw usageError(`${place}: column ${names.indexOf('') + 1} has no name.`)
  if (repeated !== undefined) throw usageError(`${place}: the column \`${repeated}\` occurs twice.`)
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
