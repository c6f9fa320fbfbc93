import type { Context } from 'hono'
import { errorName } from '../errors.ts'
import type { Reservation } from './gate.ts'
import { type ReadMemory, SMALL_RESPONSE_BYTES } from './memory.ts'
import { showTo } from './show.ts'

/**
 * Responds with JSON, with the limits of `sendText`.
 *
 * @throws ApiError `unavailable` if there is no memory in time.
 */
export const sendJson = async (
  c: Context,
  value: object,
  memory: ReadMemory,
): Promise<Response> => {
  const text = JSON.stringify(await showTo(c, value))
  return sendText(c, text, { 'Content-Type': 'application/json' }, memory)
}

/**
 * Responds with a text. The client must take a response above 64 KiB at no less than 256 KiB per second
 * while others wait. Its memory is released once it was received, or once the connection is cut because
 * the client is too slow.
 *
 * @throws ApiError `unavailable` if there is no memory in time.
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
  const reserved = await startSending(c, memory, bytes.byteLength)
  return c.body(sendBytes(c, bytes, reserved), 200, headers)
}

/** How much of a response is handed to the connection at once. */
const PIECE_BYTES = 64 * 1024

/**
 * Starts to send a response in pieces, and returns the stream. The memory is released once the client
 * has received the response, or once the connection is cut because the client is too slow.
 */
function sendBytes(c: Context, bytes: Uint8Array, reserved: Reservation): ReadableStream {
  const { readable, writable } = new FixedLengthStream(bytes.byteLength)
  // The memory is also released if the client disconnects.
  c.executionCtx.waitUntil(writeBytes(bytes, writable.getWriter(), reserved))
  return readable
}

async function writeBytes(
  bytes: Uint8Array,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  reserved: Reservation,
): Promise<void> {
  try {
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES)
      await reserved.pace(writer.write(piece), () => piece.byteLength)
    }
    await writer.close()
  } catch (error) {
    // The client is too slow, or it has disconnected.
    writer.abort(error).catch(() => {})
  } finally {
    reserved.release()
  }
}

/** The memory of bodies until their responses are received. */
const bodies = new WeakMap<Request, Reservation>()

/** Keeps the memory of a body until the response to its request is received: a delivery that is stored gets its response. */
export const keepUntilSent = (request: Request, memory: Reservation): void => {
  bodies.set(request, memory)
}

/**
 * Sends the response to a delivery. Above 64 KiB it is sent in pieces, which the client must take at no less than
 * 256 KiB per second while others wait.
 */
export async function sendResults(c: Context): Promise<void> {
  const reserved = bodies.get(c.req.raw)
  if (!reserved) return
  const bytes = new Uint8Array(await c.res.arrayBuffer())
  reserved.size = bytes.byteLength
  if (bytes.byteLength > SMALL_RESPONSE_BYTES) {
    c.res = new Response(sendBytes(c, bytes, reserved), c.res)
  } else {
    reserved.release()
    c.res = new Response(bytes, c.res)
  }
}

/** Takes memory for a response. */
const startSending = (c: Context, memory: ReadMemory, bytes: number): Promise<Reservation> =>
  memory.startSending(bytes).catch((error) => throwWithoutLink(c, error))

/** Removes the `Link` header, then rethrows. */
function throwWithoutLink(c: Context, error: unknown): never {
  c.header('Link', undefined)
  throw error
}

/**
 * Responds with texts that a generator makes one after the other, of at most about 64 KiB each. A response
 * of at most 64 KiB never waits for memory. If the generator fails after that, the connection is cut, so
 * that the client does not take a part for the whole. A client must keep the pace of `sendText`.
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
  const { text, isDone } = await firstOf(pieces).catch((error) => throwWithoutLink(c, error))
  if (isDone) return c.body(text, 200, headers)
  // A response to HEAD has no body that anybody would read.
  if (c.req.method === 'HEAD') {
    await pieces.return()
    return c.body(null, 200, headers)
  }
  const reserved = await startSending(c, memory, memoryBytes)
  const { readable, writable } = new IdentityTransformStream()
  c.executionCtx.waitUntil(writePieces(text, pieces, writable.getWriter(), reserved))
  return c.body(readable, 200, headers)
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
  reserved: Reservation,
): Promise<void> {
  const encoder = new TextEncoder()
  const write = async (text: string) => {
    const bytes = encoder.encode(text)
    if (bytes.byteLength === 0) return
    await reserved.pace(writer.write(bytes), () => bytes.byteLength)
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
    // The client is too slow, it has disconnected, or the rest cannot be read.
    writer.abort(error).catch(() => {})
  } finally {
    reserved.release()
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
