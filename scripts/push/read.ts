import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { usageError } from '../exit-error.ts'
import { readCsv } from './csv.ts'
import { readJson } from './json.ts'

/** What reading needs to know about the records of a resource. */
export interface RecordShape {
  readonly name: string
  /** The names that a record may have. */
  readonly fields: readonly string[]
  /** The fields whose CSV cells are numbers. */
  readonly numeric: ReadonlySet<string>
  /** The fields that are null if their CSV cell is empty; absent: none, an empty cell is missing. */
  readonly nullable?: ReadonlySet<string>
}

/** A record, and the JSON text that is sent, with numbers as they are written in the file. */
export interface FileRecord {
  readonly record: unknown
  readonly text: string
  /** The line of the file on which the record begins, from 1. */
  readonly line: number
}

/** The names of `--map theirs=ours`: from a column of the file to the name of a field. */
export type Renames = ReadonlyMap<string, string>

/** The characters by which format and separator are told. */
const HEAD_BYTES = 64 * 1024

/**
 * Reads the records of a JSON, NDJSON or CSV file in order and in constant memory. `onRead` is called with the
 * number of bytes that were read.
 *
 * @throws ExitError if the file is malformed; the message names the line.
 */
export async function* readRecords(
  file: string,
  shape: RecordShape,
  renames: Renames = new Map(),
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<FileRecord> {
  const handle = await open(file)
  const { buffer, bytesRead } = await handle
    .read(Buffer.alloc(HEAD_BYTES), 0)
    .finally(() => handle.close())
  const head = buffer.toString('utf8', 0, bytesRead).replace('\uFEFF', '')
  const texts = decodeFile(file, onRead)
  if (!/^\s*[[{]/.test(head)) yield* readCsv(texts, head, file, shape, renames)
  else if (renames.size === 0) yield* readJson(texts, head, file)
  else throw usageError('--map renames the columns of CSV files alone.')
}

/** Decodes a file strictly: a lenient decoder would store replacement characters. */
async function* decodeFile(file: string, onRead: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Buffer) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch (error) {
      throw usageError(`${file} is not valid UTF-8. Save it in that encoding.`, error)
    }
  }
  for await (const chunk of createReadStream(file)) {
    onRead(chunk.length)
    yield decode(chunk)
  }
  decode()
}
