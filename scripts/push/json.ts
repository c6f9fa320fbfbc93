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
  const lines: number[] = []
  pipeline(Readable.from(refuseEmpty(texts, file, lines)), parser, () => {})
  let index = 0
  try {
    for await (const { value } of parser as AsyncIterable<{ value: unknown }>) {
      const record = renameMembers(value, renames)
      yield { text: JSON.stringify(record), key: identityOf(record), line: lines.shift() ?? 1 }
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

/**
 * Passes text on, and throws at its end if there was only whitespace. Adds the line of each record in
 * it to `lines`.
 */
async function* refuseEmpty(
  texts: AsyncIterable<string>,
  file: string,
  lines: number[],
): AsyncGenerator<string> {
  let isEmpty = true
  const findRecords = createRecordFinder()
  for await (const text of texts) {
    isEmpty &&= text.trim() === ''
    lines.push(...findRecords(text))
    yield text
  }
  if (isEmpty) {
    throw usageError(`${file} is empty: the JSON array is missing. Write [] for no records.`)
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58]
const [LINE_FEED, SPACE] = [10, 32]

/**
 * Returns a function that returns the lines on which records begin in the next piece of valid JSON,
 * which the tokens of the parser lack.
 */
function createRecordFinder() {
  let [line, depth, listDepth] = [1, 0, 0]
  let [isInString, isEscaped, isAwaited] = [false, false, false]
  let name = ''
  return (text: string): number[] => {
    const found: number[] = []
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isInString = false
        else if (depth === 1 && listDepth === 0) name += text[at]
        continue
      }
      if (code === LINE_FEED) line += 1
      if (code <= SPACE) continue
      const char = text[at]!
      if (isAwaited && depth === listDepth && char !== ']') found.push(line)
      isAwaited = code === COMMA
      if (code === COMMA || code === COLON) continue
      if (code === QUOTE) [isInString, name] = [true, '']
      else if (char === '{' || char === '[') {
        const isList = char === '[' && (depth === 0 || (depth === 1 && name === 'data'))
        depth += 1
        if (listDepth === 0 && isList) listDepth = depth
        isAwaited = depth === listDepth
      } else if (char === '}' || char === ']') depth -= 1
    }
    return found
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
