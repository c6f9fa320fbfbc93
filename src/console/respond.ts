import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** Responds with a document. */
export async function respond(
  c: Context,
  document: JSX.Element,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return c.html(`<!doctype html>${await document}`, status)
}
