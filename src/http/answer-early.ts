import type { Context } from 'hono'
import { drainOf, startDraining } from './drain.ts'

/** How long a response waits for the rest of an unread body, in milliseconds. Most arrive within this time. */
const MAX_WAIT_MS = 250

/**
 * Reads and discards the rest of an unread request body. If the sender is slow or sends nothing, the
 * response starts before that, and ends when the body ends. If the response ended earlier, the runtime
 * would break the connection.
 */
export async function answerEarly(c: Context): Promise<void> {
  const { raw } = c.req
  const { body } = raw
  if (body && !body.locked) startDraining(raw, body.getReader({ mode: 'byob' }))
  const draining = drainOf(raw)
  if (!draining || (await endsSoon(draining))) return
  if (!c.res.body) return draining
  const bytes = new Uint8Array(await c.res.arrayBuffer())
  const { readable, writable } = new FixedLengthStream(bytes.byteLength)
  c.executionCtx.waitUntil(sendAndWait(bytes, writable, draining))
  c.res = new Response(readable, c.res)
}

async function endsSoon(draining: Promise<void>): Promise<boolean> {
  let timer: number | null = null
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), MAX_WAIT_MS)
  })
  return Promise.race([draining.then(() => true), timeout]).finally(() => clearTimeout(timer))
}

/** Sends a response, and ends it with `draining`. */
async function sendAndWait(
  bytes: Uint8Array,
  writable: WritableStream<Uint8Array>,
  draining: Promise<void>,
): Promise<void> {
  const writer = writable.getWriter()
  try {
    await writer.write(bytes)
    await draining
    await writer.close()
  } catch {
    // The caller has disconnected.
  }
}
