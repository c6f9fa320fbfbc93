import { MAX_BODY_BYTES } from '../../src/platform/http/body-limit.ts'
import { notJson } from '../../src/platform/validation/not-json.ts'
import { usageError } from '../exit-error.ts'
import type { FileRecord } from './record.ts'

declare global {
  interface JSON {
    /** @see [JSON.parse source text access](https://tc39.es/proposal-json-parse-with-source/) */
    rawJSON(text: string): object
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown
  }
}

/** The text of a record, untrimmed, and the line on which that text begins. */
interface Piece {
  readonly text: string
  readonly line: number
}

/** The beginning of a list: an array, or the array `data` of a saved answer. */
const LIST = /^\s*(?:\{\s*"data"\s*:\s*)?\[/

/**
 * Reads NDJSON, an array, or a saved answer. A line of a `.rejected.ndjson` file is the record in it, so that a
 * corrected file can be sent.
 */
export async function* readJson(
  texts: AsyncIterable<string>,
  head: string,
  file: string,
): AsyncGenerator<FileRecord> {
  const [opening] = LIST.exec(head) ?? []
  const pieces = opening === undefined ? splitLines(texts) : splitList(texts, opening, file)
  for await (const piece of pieces) {
    const text = piece.text.trim()
    const line = piece.line + countLines(piece.text.slice(0, piece.text.indexOf(text)))
    const where = `${file}, line ${line}`
    if (piece.text.length > MAX_BODY_BYTES) throw usageError(`${where}: longer than 8 MiB.`)
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch (error) {
      throw usageError(`${where}: ${notJson(error)}`, error)
    }
    if (!isRejectedRecord(parsed)) yield { record: parsed, text, line }
    else yield { record: parsed.record, text: JSON.stringify(parseExact(text).record), line }
  }
}

const countLines = (text: string) => text.split('\n').length - 1

/** Returns whether a value is a line that a run has written to its `.rejected.ndjson` file. */
const isRejectedRecord = (value: unknown): value is { record: unknown } =>
  typeof value === 'object' &&
  value !== null &&
  ['line', 'record', 'errors'].every((name) => Object.hasOwn(value, name))

/** Parses a rejected record with numbers as they are written: 1.50 stays 1.50. */
const parseExact = (text: string) =>
  JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
  ) as { record: unknown }

/** Splits NDJSON into its lines, without empty ones. */
async function* splitLines(texts: AsyncIterable<string>): AsyncGenerator<Piece> {
  let rest = ''
  let line = 0
  for await (const text of texts) {
    const parts = (rest + text).split('\n')
    rest = parts.pop()!
    for (const part of parts) {
      line += 1
      if (part.trim() !== '') yield { text: part, line }
    }
    if (rest.length > MAX_BODY_BYTES) break
  }
  if (rest.trim() !== '') yield { text: rest, line: line + 1 }
}

/** Splits a list at the commas between its elements. What follows the array of a saved answer is not read. */
async function* splitList(
  texts: AsyncIterable<string>,
  opening: string,
  file: string,
): AsyncGenerator<Piece> {
  let text = ''
  let start = opening.length
  let at = start
  let line = 1 + countLines(opening)
  let depth = 0
  let [isInString, isFirst, isEnded] = [false, true, false]
  for await (const more of texts) {
    text += more
    for (; at < text.length && !isEnded; at++) {
      const char = text[at]!
      if (isInString && char === '\\') at += 1
      else if (char === '"') isInString = !isInString
      else if (isInString) continue
      else if (depth === 0 && (char === ',' || char === ']')) {
        const piece = { text: text.slice(start, at), line }
        isEnded = char === ']'
        if (!isEnded || !isFirst || piece.text.trim() !== '') yield piece
        isFirst = false
        line += countLines(piece.text)
        start = at + 1
      } else if (char === '{' || char === '[') depth += 1
      else if (char === '}' || char === ']') depth -= 1
    }
    text = text.slice(start)
    at -= start
    start = 0
    if (text.length > MAX_BODY_BYTES && !isEnded) break
  }
  const isAnswer = opening.includes('{')
  if (!isEnded) {
    yield { text, line }
    throw usageError(`${file}: the array does not end.`)
  }
  if (!isAnswer && text.trim() !== '') {
    throw usageError(`${file}, line ${line}: text follows the array.`)
  }
}
