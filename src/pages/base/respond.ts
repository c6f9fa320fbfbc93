import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** Returns the text of an element. While a component waits for what it shows, it is a promise. */
export const textOf = async (element: JSX.Element | Promise<JSX.Element>): Promise<string> =>
  (await element).toString()

/** Marks the place of a deferred part in a document. Text is escaped, so no text has these characters. */
export const DEFERRED_PART = raw('<!--deferred-->')

/** Renders a deferred part of a page. */
export type RenderPart = () => Promise<JSX.Element>

/** What is sent after a document. */
interface Later {
  /** The deferred part, which is known once the document is rendered. */
  readonly deferred: readonly RenderPart[]
  /** Renders why it could not be computed. */
  readonly renderFault: (thrown: unknown) => JSX.Element
}

/**
 * Responds with a document. What stands before the place of a deferred part is sent at once, so that the browser shows
 * it. Then the part is rendered, and sent with the rest of the document.
 */
export async function respond(
  c: Context,
  document: JSX.Element,
  status: ContentfulStatusCode = 200,
  later?: Later,
): Promise<Response> {
  const html = `<!doctype html>${await textOf(document)}`
  const render = later?.deferred[0]
  if (!render) return c.html(html, status)
  const [before = '', after = ''] = html.split(String(DEFERRED_PART))
  const parts = [
    () => before,
    async () => `${await textOf(render().catch(later.renderFault))}${after}`,
  ]
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = parts.shift()
      if (part) controller.enqueue(new TextEncoder().encode(await part()))
      else controller.close()
    },
  })
  return c.body(body, status, { 'Content-Type': 'text/html; charset=UTF-8' })
}
