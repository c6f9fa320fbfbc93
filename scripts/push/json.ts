import { pipeline, Readable } from 'node:stream'
import Assembler from 'stream-json/assembler.js'
import { verifyFile } from 'stream-json/file/verifier.js'
import type { Token } from 'stream-json/parser.js'
import withParser from 'stream-json/utils/with-parser.js'
import { ExitError, usageError } from '../exit-error.ts'
import { type Reader, renameMembers } from './reader.ts'

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

/** Builds values from tokens, with numbers as they are written: 1.50 stays 1.50. */
class ExactAssembler extends Assembler {
  override numberValue(text: string) {
    // The assembler takes any value that is not a container as a string.
    this.stringValue(JSON.rawJSON(text) as never)
  }
}

/** Reads the elements of one array. Holds at most one element in memory. */
export const readJson: Reader = async function* readJson(texts, { file, renames }, { keyOf }) {
  const parser = withParser.asStream(toElements as never, { streamValues: false })
  // Errors of either stream are thrown by the loop below.
  pipeline(Readable.from(refuseEmpty(texts, file)), parser, () => {})
  let index = 0
  try {
    for await (const { value } of parser as AsyncIterable<{ value: unknown }>) {
      const record = renameMembers(value, renames)
      yield { text: JSON.stringify(record), key: keyOf(record) }
      index += 1
    }
  } catch (error) {
    throw await withPlace(error as Error, file, index)
  }
}

/** Creates a stage that emits each element of the array in the token stream. */
function toElements() {
  const assembler = new ExactAssembler()
  return (token: Token) => {
    if (assembler.done && token.name !== 'startArray') throw new NotAnArray()
    assembler.consume(token)
    const array = assembler.current as unknown[]
    return assembler.depth === 1 && array.length > 0 ? { value: array.pop() } : undefined
  }
}

class NotAnArray extends Error {}

/** Passes text on, and throws at its end if there was only whitespace. */
async function* refuseEmpty(texts: AsyncIterable<string>, file: string): AsyncGenerator<string> {
  let isEmpty = true
  for await (const text of texts) {
    isEmpty &&= text.trim() === ''
    yield text
  }
  if (isEmpty) {
    throw usageError(`${file} is empty: the JSON array is missing. Write [] for no records.`)
  }
}

/** Adds the place in the file, which the parser does not know. */
async function withPlace(error: Error, file: string, index: number): Promise<Error> {
  if (error instanceof ExitError) return error
  if (error instanceof NotAnArray) {
    return usageError(`${file}: not a JSON array of records. For NDJSON add --format ndjson.`)
  }
  const place = await verifyFile(file).catch((found: { line?: number; pos?: number }) => found)
  if (!place?.line) return error
  const { line, pos } = place
  return usageError(
    `${file}, line ${line}, column ${pos}: not valid JSON (record ${index}).`,
    error,
  )
}
