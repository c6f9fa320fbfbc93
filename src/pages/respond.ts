import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** Returns the text of an element. While a component waits for what it shows, it is a promise. */
export const textOf = async (element: JSX.Element | Promise<JSX.Element>): Promise<string> =>
  (await element).toString()

/** Responds with a document. */
export async function respond(
  c: Context,
  document: JSX.Element,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return c.html(`<!doctype html>${await textOf(document)}`, status)
}

/** Marks the place of the deferred part in a document. Text is escaped, so no text has these characters. */
export const DEFERRED_PART = raw('<!--deferred-->')

/**
 * Responds with a document that has a deferred part. Everything before `DEFERRED_PART` is sent at once, so
 * that the browser shows it. Then `compute` computes the deferred part, which is sent with the rest of the
 * document.
 */
export async function respondInParts(
  c: Context,
  document: JSX.Element,
  status: ContentfulStatusCode,
  compute: () => Promise<JSX.Element>,
): Promise<Response> {
  const [before = '', after = ''] = `<!doctype html>${await textOf(document)}`.split(
    String(DEFERRED_PART),
  )
  const parts = [() => before, async () => `${await textOf(compute())}${after}`]
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = parts.shift()
      if (part) controller.enqueue(new TextEncoder().encode(await part()))
      else controller.close()
    },
  })
  return c.body(body, status, { 'Content-Type': 'text/html; charset=UTF-8' })
}
