import { pipeline, Readable } from 'node:stream'
import Assembler from 'stream-json/assembler.js'
import { verifyFile } from 'stream-json/file/verifier.js'
import type { Token } from 'stream-json/parser.js'
import withParser from 'stream-json/utils/with-parser.js'
import { misuse } from './halt.ts'
import type { Reader } from './read.ts'

declare global {
  interface JSON {
    /** @see [JSON.parse source text access](https://tc39.es/proposal-json-parse-with-source/) */
    rawJSON(text: string): object
  }
}

/** Makes values of tokens, with numbers as they are written: 1.50 stays 1.50. */
class ExactAssembler extends Assembler {
  override numberValue(text: string) {
    // For the assembler a string is any value that is no container.
    this.stringValue(JSON.rawJSON(text) as never)
  }
}

/** Reads the elements of one array, never holding more than one of them. */
export const readJson: Reader = async function* readJson(texts, { file }, { keyOf }) {
  const parser = withParser.asStream(elements as never, { streamValues: false })
  // Errors of either stream come out of the loop below.
  pipeline(Readable.from(texts), parser, () => {})
  let index = 0
  try {
    for await (const { value } of parser as AsyncIterable<{ value: unknown }>) {
      yield { text: JSON.stringify(value), key: keyOf(value) }
      index += 1
    }
  } catch (error) {
    throw await placed(error as Error, file, index)
  }
}

/** A stage that passes on each element of the array that the tokens make. */
function elements() {
  const assembler = new ExactAssembler()
  return (token: Token) => {
    if (assembler.done && token.name !== 'startArray') throw new NoArray()
    assembler.consume(token)
    const array = assembler.current as unknown[]
    return assembler.depth === 1 && array.length > 0 ? { value: array.pop() } : undefined
  }
}

class NoArray extends Error {}

/** The same error with its place in the file, which the parser does not know. */
async function placed(error: Error, file: string, index: number): Promise<Error> {
  if (error instanceof NoArray) {
    return misuse(`${file}: this is not a JSON array of records. NDJSON? Add --format ndjson.`)
  }
  const where = await verifyFile(file).catch((found: { line?: number; pos?: number }) => found)
  if (!where?.line) return error
  const { line, pos } = where
  return misuse(`${file}, line ${line}, column ${pos}: this is not JSON (record ${index}).`, error)
}
