import { readFileSync } from 'node:fs'
import { readCsv } from '../../src/platform/money/csv.ts'
import { messageOf, usageError } from '../exit-error.ts'

/** Returns the bytes of a file. */
export function readBytes(file: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(file))
  } catch (error) {
    throw usageError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

/** Returns the text of a file. */
export const readText = (file: string): string => new TextDecoder().decode(readBytes(file))

/** Returns the value of a JSON text, or of the JSON file that a text names. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(/^[[{]/.test(text) ? text : readFileSync(text, 'utf8'))
  } catch (error) {
    throw usageError(`\`${text}\` is neither JSON nor a file with JSON: ${messageOf(error)}`)
  }
}

/** Returns whether a file has CSV, by its name. */
export const isCsvFile = (file: string): boolean => /\.csv$/i.test(file)

/** Returns the rows of a CSV file, each by the names of its columns. */
export function readRows(file: string): Record<string, string>[] {
  const { rows, fault } = readCsv(readText(file))
  if (fault) throw usageError(`${file}, line ${fault.line}: ${fault.reason}.`)
  const [header = [], ...others] = rows
  if (new Set(header).size < header.length) throw usageError(`${file} has a column twice.`)
  return others.map((cells, i) => {
    if (cells.length !== header.length) {
      throw usageError(
        `${file}, row ${i + 1} has ${cells.length} cells, its header ${header.length}.`,
      )
    }
    return Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']))
  })
}
