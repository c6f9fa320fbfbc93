import { pipeline, Readable } from 'node:stream'
import Assembler from 'stream-json/assembler.js'
import { verifyFile } from 'stream-json/file/verifier.js'
import type { Token } from 'stream-json/parser.js'
import withParser from 'stream-json/utils/with-parser.js'
import { quote } from '../../src/validation/quote.ts'
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

/**
 * Reads the elements of one array, or of the array `data` of one object, as a list answers it.
 * Holds at most one element in memory.
 */
export const readJson: Reader = async function* readJson(texts, { file, renames }, { identityOf }) {
  const parser = withParser.asStream(toElements as never, { streamValues: false })
  // Errors of either stream are thrown by the loop below.
  pipeline(Readable.from(refuseEmpty(texts, file)), parser, () => {})
  let index = 0
  try {
    for await (const { value } of parser as AsyncIterable<{ value: unknown }>) {
      const record = renameMembers(value, renames)
      yield { text: JSON.stringify(record), key: identityOf(record) }
      index += 1
    }
  } catch (error) {
    throw await withPlace(error as Error, file, index)
  }
}

/** The part of the file that a token belongs to; `member` is a member of the object around `data`. */
type Part = 'start' | 'object' | 'data' | 'records' | 'member'

/** Creates a stage that emits each record of the token stream. */
function toElements() {
  const assembler = new ExactAssembler()
  let part: Part = 'start'
  let isBare = false
  let hasData = false
  let depth = 0

  /** Returns the part that follows the name of a member of the object. */
  const afterName = (name: unknown): Part => {
    if (name === 'meta') return 'member'
    if (name !== 'data' || hasData) throw new WrongForm(memberProblem(String(name)))
    hasData = true
    return 'data'
  }
  /** Returns the part that follows a token outside the records. */
  const next = (token: Token): Part => {
    if (part === 'member') {
      depth += nesting(token.name)
      return depth === 0 ? 'object' : 'member'
    }
    if (part === 'object' && token.name === 'keyValue') return afterName(token.value)
    if (part === 'object' && hasData) return 'object'
    if (part === 'start' && token.name === 'startObject') return 'object'
    isBare = part === 'start'
    if (part !== 'object' && token.name === 'startArray') return 'records'
    throw new WrongForm(NOT_A_LIST)
  }
  return (token: Token) => {
    if (part !== 'records') {
      part = next(token)
      if (part !== 'records') return undefined
    }
    assembler.consume(token)
    if (assembler.done) part = isBare ? 'start' : 'object'
    const array = assembler.current as unknown[]
    return assembler.depth === 1 && array.length > 0 ? { value: array.pop() } : undefined
  }
}

/** Returns how a token changes the depth of nesting. */
const nesting = (name: string) =>
  name === 'startObject' || name === 'startArray'
    ? 1
    : name === 'endObject' || name === 'endArray'
      ? -1
      : 0

/** The JSON of a file is valid, but not a list of records. */
class WrongForm extends Error {}

const NOT_A_LIST =
  'not a JSON array of records, nor an object whose `data` is one. For NDJSON add --format ndjson.'

/** Returns the problem with a member of the object around the records. */
const memberProblem = (name: string) =>
  name === 'data'
    ? 'the object has `data` twice.'
    : `the object has the member ${quote(name)}. An object with the array \`data\` can only have ` +
      '`meta` beside it. Write one record as [{…}]. For NDJSON add --format ndjson.'

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
  if (error instanceof WrongForm) return usageError(`${file}: ${error.message}`)
  const place = await verifyFile(file).catch((found: { line?: number; pos?: number }) => found)
  if (!place?.line) return error
  const { line, pos } = place
  return usageError(
    `${file}, line ${line}, column ${pos}: not valid JSON (record ${index}).`,
    error,
  )
}
