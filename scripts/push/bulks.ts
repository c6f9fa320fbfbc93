import { MAX_BODY_BYTES } from '../../src/http/body-limit.ts'
import { MAX_RECORDS } from '../../src/ingest/envelope.ts'
import type { Hints, RecordText } from './reader.ts'

/** Records of one file that are sent in one request. */
export interface Delivery {
  /** The index of the first record in its file, from 0. */
  first: number
  texts: string[]
}

/** A delivery with the hints of its reader: for each record, or undefined. */
export interface HintedDelivery extends Delivery {
  hints: (Hints | undefined)[]
}

/** A delivery with the keys of its records. */
export interface Bulk extends HintedDelivery {
  keys: Set<string>
}

const BRACKETS = 2
const COMMA = 1

/**
 * Groups records into bulks, in order, within the limits of a request. Unless records may repeat,
 * two records with the same key never share a bulk: the API would refuse it.
 */
export async function* groupIntoBulks(
  records: AsyncIterable<RecordText>,
  mayRepeat: boolean,
): AsyncGenerator<Bulk> {
  let bulk: Bulk = { first: 0, texts: [], hints: [], keys: new Set() }
  let size = BRACKETS
  for await (const { text, key, hints } of records) {
    const bytes = Buffer.byteLength(text) + COMMA
    const { texts, keys, first } = bulk
    const isFull = texts.length === MAX_RECORDS || size + bytes > MAX_BODY_BYTES
    const isRepeated = !mayRepeat && key !== undefined && keys.has(key)
    if (texts.length > 0 && (isFull || isRepeated)) {
      yield bulk
      bulk = { first: first + texts.length, texts: [], hints: [], keys: new Set() }
      size = BRACKETS
    }
    bulk.texts.push(text)
    bulk.hints.push(hints)
    if (key !== undefined) bulk.keys.add(key)
    size += bytes
  }
  if (bulk.texts.length > 0) yield bulk
}
