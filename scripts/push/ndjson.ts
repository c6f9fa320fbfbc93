import { MAX_BODY_BYTES } from '../../src/http/body-limit.ts'
import { usageError } from '../exit-error.ts'
import { type Reader, renameMembers } from './reader.ts'

/**
 * Reads one record per line. Sends the line itself, unless `--map` renames its members. A line of a
 * `.rejected.ndjson` file is the record in it, so that a corrected file can be sent.
 */
export const readNdjson: Reader = async function* readNdjson(
  texts,
  { file, renames },
  { identityOf },
) {
  let number = 0
  for await (const line of splitLines(texts)) {
    number += 1
    const where = `${file}, line ${number}`
    if (line === null) throw usageError(`${where}: longer than 8 MiB.`)
    const text = line.trim()
    if (text === '') continue
    const isRenamed = renames.size > 0
    const parsed = parseLine(text, where, isRenamed)
    const isRejected = isRejectedRecord(parsed)
    const sent = isRejected ? (parseExact(text) as RejectedLine).record : parsed
    const record = renameMembers(sent, renames)
    const isRewritten = isRenamed || isRejected
    const key = identityOf(record)
    yield { text: isRewritten ? JSON.stringify(record) : text, key, line: number }
  }
}

/** A line of a `.rejected.ndjson` file: the record as it was sent, and why it was rejected. */
interface RejectedLine {
  record: unknown
}

const REJECTED_MEMBERS = ['index', 'line', 'record', 'errors', 'reason']

/** Returns whether a line is one that a run has written to its `.rejected.ndjson` file. */
function isRejectedRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const names = Object.keys(value)
  return (
    names.every((name) => REJECTED_MEMBERS.includes(name)) &&
    ['line', 'record', 'errors'].every((name) => names.includes(name))
  )
}

/** Splits text into lines; yields null for a line that is too long for any request. */
async function* splitLines(texts: AsyncIterable<string>): AsyncGenerator<string | null> {
  let rest = ''
  for await (const text of texts) {
    const parts = (rest + text).split('\n')
    rest = parts.pop()!
    yield* parts
    if (rest.length > MAX_BODY_BYTES) yield null
  }
  if (rest !== '') yield rest
}

function parseLine(text: string, where: string, exact: boolean): unknown {
  try {
    return exact ? parseExact(text) : JSON.parse(text)
  } catch (error) {
    const [, at] = /at position (\d+)/.exec((error as Error).message) ?? []
    throw usageError(`${where}: not valid JSON${at ? ` at character ${Number(at) + 1}` : ''}.`)
  }
}

/** Parses JSON with numbers as they are written: 1.50 stays 1.50. */
const parseExact = (text: string): unknown =>
  JSON.parse(text, (_, value, { source }: { source?: string }) =>
    typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
  )
