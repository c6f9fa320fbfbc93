import type { Context } from 'hono'
import { type ReadMemory, SMALL_RESPONSE_BYTES } from './read-memory.ts'
import { sendBytes } from './sending.ts'

/**
 * Responds with JSON, with the limits of `sendText`.
 *
 * @throws ApiError `unavailable` if there is no memory for 20 seconds.
 */
export const sendJson = (c: Context, value: object, memory: ReadMemory): Promise<Response> =>
  sendText(c, JSON.stringify(value), { 'Content-Type': 'application/json' }, memory)

/**
 * Responds with a text. The client must take a response above 64 KiB at no less than 256 KiB per second
 * while others wait. Its memory is released once it was received, or once the connection is cut because
 * the client is too slow.
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
  if (text.length <= SMALL_RESPONSE_BYTES || c.req.method === 'HEAD') {
    memory.release()
    return c.body(text, 200, headers)
  }
  const bytes = new TextEncoder().encode(text)
  const sending = await memory
    .startSending(bytes.byteLength)
    .catch((error) => throwWithoutLink(c, error))
  return c.body(sendBytes(c, bytes, sending), 200, headers)
}

/** Removes the `Link` header, then rethrows. */
export function throwWithoutLink(c: Context, error: unknown): never {
  c.header('Link', undefined)
  throw error
}
