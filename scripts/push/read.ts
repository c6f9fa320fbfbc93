import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { usageError } from '../exit-error.ts'
import { readCsv } from './csv.ts'
import { readJson } from './json.ts'
import type { FileRecord, RecordShape, Renames } from './record.ts'

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
