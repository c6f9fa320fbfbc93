import { createExecutionContext } from 'cloudflare:test'
import { app } from '../src/app.ts'

/** What was answered, once it is known to be as openapi.json says: see test-node/conformance.ts. */
export async function heard(
  { method, url }: Pick<Request, 'method' | 'url'>,
  answer: Promise<Response>,
): Promise<Response> {
  const response = await answer
  const said = {
    method,
    path: new URL(url).pathname,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: response.body ? await response.clone().text() : '',
  }
  const judged = await fetch('http://conformance.local/', {
    method: 'POST',
    body: JSON.stringify(said),
  })
  const flaw = await judged.text()
  if (flaw) throw new Error(`openapi.json does not say so: ${flaw}`)
  return response
}

/** Asks the service in a world of the test's own making. */
export const askIn = (world: Env, request: Request, context = createExecutionContext()) =>
  heard(request, Promise.resolve(app.fetch(request, world, context)))
