import { MAX_BODY_BYTES } from '../../src/http/body.ts'
import { MAX_RECORDS } from '../../src/ingest/envelope.ts'
import type { Found } from './read.ts'

/** Records that are sent together. */
export interface Bulk {
  /** The place of the first of them in its file, from 0. */
  first: number
  texts: string[]
  keys: Set<string>
}

const BRACKETS = 2
const COMMA = 1

/**
 * Cuts records into bulks, in order, none larger than a request may be. Unless they may repeat, two
 * versions of one record never share a bulk: the service would refuse it.
 */
export async function* bulks(
  records: AsyncIterable<Found>,
  mayRepeat: boolean,
): AsyncGenerator<Bulk> {
  let bulk: Bulk = { first: 0, texts: [], keys: new Set() }
  let size = BRACKETS
  for await (const { text, key } of records) {
    const bytes = Buffer.byteLength(text) + COMMA
    const { texts, keys, first } = bulk
    const isFull = texts.length === MAX_RECORDS || size + bytes > MAX_BODY_BYTES
    const isSecond = !mayRepeat && key !== undefined && keys.has(key)
    if (texts.length > 0 && (isFull || isSecond)) {
      yield bulk
      bulk = { first: first + texts.length, texts: [], keys: new Set() }
      size = BRACKETS
    }
    bulk.texts.push(text)
    if (key !== undefined) bulk.keys.add(key)
    size += bytes
  }
  if (bulk.texts.length > 0) yield bulk
}
