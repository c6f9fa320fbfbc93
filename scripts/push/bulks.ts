import { MAX_BODY_BYTES } from '../../src/http/body-limit.ts'
import { MAX_RECORDS } from '../../src/ingest/envelope.ts'
import type { Hints, RecordText } from './reader.ts'

/** Records of one file that are sent in one request. */
export interface Delivery {
  /** The index of the first record in its file, from 0. */
  first: number
  texts: string[]
}

/** A delivery with the line of each record, and its hints and its id, or undefined. */
export interface ReadDelivery extends Delivery {
  hints: (Hints | undefined)[]
  lines: number[]
  /** The keys of records that replace an earlier record with the same key. */
  ids: (string | undefined)[]
}

/** A delivery with the set of its keys. */
export interface Bulk extends ReadDelivery {
  keys: Set<string>
}

const startBulk = (first: number): Bulk => ({
  first,
  texts: [],
  hints: [],
  lines: [],
  ids: [],
  keys: new Set(),
})

/** Returns the records of a delivery from `start` up to `end`. */
export const sliceDelivery = (
  { first, texts, hints, lines, ids }: ReadDelivery,
  start: number,
  end?: number,
): ReadDelivery => ({
  first: first + start,
  texts: texts.slice(start, end),
  hints: hints.slice(start, end),
  lines: lines.slice(start, end),
  ids: ids.slice(start, end),
})

const BRACKETS = 2
const COMMA = 1

/**
 * Groups records into bulks, in order, within the limits of a request. Unless records may repeat,
 * two records with the same key never share a bulk: the API would refuse it. None of them is left
 * out, because a later one may lack fields of an earlier one.
 */
export async function* groupIntoBulks(
  records: AsyncIterable<RecordText>,
  { mayRepeat, isId }: { mayRepeat: boolean; isId: (key: string) => boolean },
): AsyncGenerator<Bulk> {
  let bulk = startBulk(0)
  let size = BRACKETS
  for await (const { text, key, hints, line } of records) {
    const bytes = Buffer.byteLength(text) + COMMA
    const { texts, keys, first } = bulk
    const isFull = texts.length === MAX_RECORDS || size + bytes > MAX_BODY_BYTES
    const isRepeated = !mayRepeat && key !== undefined && keys.has(key)
    if (texts.length > 0 && (isFull || isRepeated)) {
      yield bulk
      bulk = startBulk(first + texts.length)
      size = BRACKETS
    }
    bulk.texts.push(text)
    bulk.hints.push(hints)
    bulk.lines.push(line)
    bulk.ids.push(key !== undefined && isId(key) ? key : undefined)
    if (key !== undefined) bulk.keys.add(key)
    size += bytes
  }
  if (bulk.texts.length > 0) yield bulk
}
