import { HEAD_BYTES } from './body-budget.ts'
import { malformed } from './body-errors.ts'

/** The result of a read. It is done at the end of the stream. */
export type Chunk = ReadableStreamReadResult<Uint8Array>

/** Reads 64 KiB, or all that remains if it is less. Smaller chunks take six times the CPU time. */
export const readChunk = (reader: ReadableStreamBYOBReader, remaining: number): Promise<Chunk> => {
  const size = remaining < HEAD_BYTES ? remaining : HEAD_BYTES
  return reader.readAtLeast(size, new Uint8Array(size))
}

/** Turns an error of a stream into `malformed_json`: the sender cut it off or encoded it wrongly. */
export async function orMalformed<T>(reading: Promise<T>, detail: string): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw malformed(detail, error)
  }
}
