import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { usageError } from '../exit-error.ts'
import { readCsv } from './csv.ts'
import { readJson } from './json.ts'
import { readNdjson } from './ndjson.ts'
import {
  FORMATS,
  type Format,
  type Position,
  type Reader,
  type RecordShape,
  type RecordText,
  type Source,
} from './reader.ts'

const READERS: Record<Format, Reader> = { json: readJson, ndjson: readNdjson, csv: readCsv }

/**
 * Reads the records of a file in order and in constant memory.
 *
 * @throws ExitError if the file is malformed; the message names the line or the record.
 */
export function readRecords(
  source: Source,
  format: Format,
  shape: RecordShape,
): AsyncIterable<RecordText> {
  return READERS[format](decodeFile(source), source, shape)
}

/** File endings other than the name of a format. */
const ENDINGS: Record<string, Format> = { jsonl: 'ndjson', tsv: 'csv' }

/** The start of an object with the array `data`, which is how a list is answered. */
const LIST_ANSWER = /^\{\s*"data"\s*:\s*\[/

/** Detects the format of a file by its ending, or else by its first characters. */
export async function detectFormat(file: string): Promise<Format> {
  const ending = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? ''
  const known = FORMATS.find((format) => format === ending) ?? ENDINGS[ending]
  if (known) return known

  const handle = await open(file)
  const { buffer, bytesRead } = await handle
    .read(Buffer.alloc(4096), 0)
    .finally(() => handle.close())
  const start = buffer.toString('utf8', 0, bytesRead).trimStart()
  if (start[0] === '[' || LIST_ANSWER.test(start)) return 'json'
  return start[0] === '{' ? 'ndjson' : 'csv'
}

/** Decodes a file strictly: a lenient decoder would store replacement characters. */
async function* decodeFile({ file, position }: Source): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of createReadStream(file)) {
    const text = decode(decoder, chunk, file, position)
    position.bytes += chunk.length
    yield text
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) position.lines++
  }
  decode(decoder, null, file, position)
}

function decode(decoder: TextDecoder, chunk: Buffer | null, file: string, { lines }: Position) {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch (error) {
    const valid = chunk?.toString('utf8').split('\uFFFD')[0] ?? ''
    const line = lines + valid.split('\n').length
    throw usageError(`${file}, line ${line}: not valid UTF-8.`, error)
  }
}
