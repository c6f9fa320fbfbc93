import type { Context } from 'hono'
import { type ReadMemory, SMALL_ANSWER_BYTES } from './read-memory.ts'

/** How much of an answer is handed to the connection at once. */
const PIECE_BYTES = 64 * 1024

/**
 * Responds with JSON, with the limits of `sendText`.
 *
 * @throws ApiError `unavailable` if there is no memory for 20 seconds.
 */
export const sendJson = (c: Context, value: object, memory: ReadMemory): Promise<Response> =>
  sendText(c, JSON.stringify(value), { 'Content-Type': 'application/json' }, memory)

/**
 * Responds with a text. The client must take an answer above 64 KiB at a certain pace: its memory is
 * returned once it was received, or once the connection is cut because the client is too slow.
 *
 * @throws ApiError `unavailable` if there is no memory for 20 seconds.
 */
export async function sendText(
  c: Context,
  text: string,
  headers: Record<string, string>,
  memory: ReadMemory,
): Promise<Response> {
  // A response to HEAD has no body that anybody would read.
  if (text.length <= SMALL_ANSWER_BYTES || c.req.method === 'HEAD') {
    memory.release()
    return c.body(text, 200, headers)
  }
  const bytes = new TextEncoder().encode(text)
  await memory.startSending(bytes.byteLength).catch((error) => throwWithoutLink(c, error))
  const { readable, writable } = new FixedLengthStream(bytes.byteLength)
  // The memory is also returned if the client disconnects.
  c.executionCtx.waitUntil(writePieces(bytes, writable.getWriter(), memory))
  return c.body(readable, 200, headers)
}

/** Throws an error for whose response a `Link` to the next page was set already. */
export function throwWithoutLink(c: Context, error: unknown): never {
  c.header('Link', undefined)
  throw error
}

async function writePieces(
  bytes: Uint8Array,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  memory: ReadMemory,
): Promise<void> {
  try {
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES)
      await memory.waitFor(writer.write(piece))
      memory.sent(at + piece.byteLength)
    }
    await writer.close()
  } catch (error) {
    // The client is too slow, or it has disconnected.
    writer.abort(error).catch(() => {})
  } finally {
    memory.release()
  }
}
