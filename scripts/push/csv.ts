import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { misuse } from './halt.ts'
import type { Reader } from './read.ts'
import type { Shape } from './verticals.ts'

/** @see [RFC 8259 §6](https://www.rfc-editor.org/rfc/rfc8259#section-6) */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/

/** Reads one record a row. The first row has the names of the fields. */
export const readCsv: Reader = async function* readCsv(texts, { file }, shape) {
  const parser = parse({ skip_empty_lines: true })
  // Errors of either stream come out of the loop below.
  pipeline(Readable.from(texts), parser, () => {})
  let names: string[] | null = null
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (names === null) {
        names = checkedHeader(cells, file, shape)
        continue
      }
      const record = recordOf(names, cells, shape)
      yield { text: JSON.stringify(record), key: shape.keyOf(record) }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw misuse(`${file}: ${error.message}. Fields are separated by commas.`, error)
  }
}

/** A file without a header would lose its first record, and have all others refused. */
function checkedHeader(names: string[], file: string, { name, fields }: Shape): string[] {
  const twice = names.find((field, i) => names.indexOf(field) < i)
  if (twice !== undefined) throw misuse(`${file}, line 1: the field "${twice}" is there twice.`)
  if (names.some((field) => fields.includes(field))) return names
  throw misuse(`${file}, line 1: this names no field of ${name}. They are: ${fields.join(',')}`)
}

/** An empty cell is a field left out; what should be a number and is none, the service names. */
function recordOf(names: string[], cells: string[], { numeric }: Shape) {
  const filled = names.flatMap((name, i) => {
    const cell = cells[i]!
    if (cell === '') return []
    return [[name, numeric.has(name) && NUMBER.test(cell) ? JSON.rawJSON(cell) : cell] as const]
  })
  return Object.fromEntries(filled)
}
