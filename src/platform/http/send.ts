import type { Context } from 'hono'
import { errorName } from '../errors.ts'
import { type ReadMemory, SMALL_RESPONSE_BYTES } from './memory.ts'

/**
 * Responds with texts that a generator makes one after the other, of at most about 64 KiB each. A response
 * of at most 64 KiB never waits for memory. If the generator fails after that, the connection is cut, so
 * that the client does not take a part for the whole.
 *
 * @param memoryBytes The memory that the response takes at any time, however long it is.
 * @throws ApiError `unavailable` if there is no memory in time; what making the first texts throws.
 */
export async function sendPieces(
  c: Context,
  pieces: AsyncGenerator<string, void>,
  headers: Record<string, string>,
  memory: ReadMemory,
  memoryBytes: number,
): Promise<Response> {
  try {
    const { text, isDone } = await firstOf(pieces)
    if (isDone) return c.body(text, 200, headers)
    // A response to HEAD has no body that anybody would read.
    if (c.req.method === 'HEAD') {
      await pieces.return()
      return c.body(null, 200, headers)
    }
    await memory.reserve(memoryBytes, 1)
    const { readable, writable } = new IdentityTransformStream()
    c.executionCtx.waitUntil(writePieces(text, pieces, writable.getWriter(), memory))
    return c.body(readable, 200, headers)
  } catch (error) {
    c.header('Link', undefined)
    throw error
  }
}

/** Returns the first texts as one: all, or more than 64 KiB. */
async function firstOf(pieces: AsyncGenerator<string, void>) {
  let text = ''
  let isDone = false
  while (!isDone && text.length <= SMALL_RESPONSE_BYTES) {
    const next = await pieces.next()
    text += next.value ?? ''
    isDone = next.done === true
  }
  return { text, isDone }
}

async function writePieces(
  first: string,
  pieces: AsyncGenerator<string, void>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  memory: ReadMemory,
): Promise<void> {
  const encoder = new TextEncoder()
  const write = async (text: string) => {
    if (text !== '') await writer.write(encoder.encode(text))
  }
  try {
    await write(first)
    for (;;) {
      const { value, done } = await orLogged(pieces.next())
      if (done) break
      await write(value)
    }
    await writer.close()
  } catch (error) {
    // The client has disconnected, or the rest cannot be read.
    writer.abort(error).catch(() => {})
  } finally {
    memory.release()
    await pieces.return()
  }
}

/** Logs a failure, of which the client only sees that the connection is cut. */
async function orLogged<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), unfinished: 'answer' }))
    throw error
  }
}
