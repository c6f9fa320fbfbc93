import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { readCsv } from './csv.ts'
import { misuse } from './halt.ts'
import { readJson } from './json.ts'
import { readNdjson } from './ndjson.ts'
import type { Shape } from './verticals.ts'

/** The ways in which a file of records may be written. */
export const FORMATS = ['json', 'ndjson', 'csv'] as const

/** How a file is written. */
export type Format = (typeof FORMATS)[number]

/** One record of a file: the JSON that is sent, with its numbers as they are written there. */
export interface Found {
  text: string
  key: string | undefined
}

/** How far a file has been read. */
export interface Position {
  bytes: number
  lines: number
}

/** A file, and how far it has been read. */
export interface Source {
  file: string
  position: Position
}

/** Reads records out of text, whatever pieces it comes in. */
export type Reader = (
  texts: AsyncIterable<string>,
  source: Source,
  shape: Shape,
) => AsyncIterable<Found>

const READERS: Record<Format, Reader> = { json: readJson, ndjson: readNdjson, csv: readCsv }

/**
 * The records of a file in their order, in constant memory.
 *
 * @throws Halt where the file is malformed, naming the line or the record.
 */
export function records(source: Source, format: Format, shape: Shape): AsyncIterable<Found> {
  return READERS[format](decoded(source), source, shape)
}

/** How a file is written: by its ending, else by its first byte that is not blank. */
export async function formatOf(file: string): Promise<Format> {
  const [, ending] = /\.(json|ndjson|jsonl|csv)$/i.exec(file) ?? []
  if (ending) return FORMATS.find((format) => format === ending.toLowerCase()) ?? 'ndjson'

  const handle = await open(file)
  const { buffer, bytesRead } = await handle
    .read(Buffer.alloc(4096), 0)
    .finally(() => handle.close())
  const first = buffer.toString('utf8', 0, bytesRead).trimStart()[0]
  return first === '[' ? 'json' : first === '{' ? 'ndjson' : 'csv'
}

/** The text of a file. Other bytes than UTF-8 would be stored as replacement characters. */
async function* decoded({ file, position }: Source): AsyncGenerator<string> {
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
    const good = chunk?.toString('utf8').split('\uFFFD')[0] ?? ''
    const line = lines + good.split('\n').length
    throw misuse(`${file}, line ${line}: this is not UTF-8.`, error)
  }
}
