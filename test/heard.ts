import { createExecutionContext } from 'cloudflare:test'
import { app } from '../src/app.ts'
import { saidBy, WORLD } from './secrecy.ts'

/** A request, before it is sent. */
interface Asked extends Pick<RequestInit, 'headers' | 'body'> {
  method: string
  url: string
}

/**
 * What was answered, once it is known to be as openapi.json says, and to say back no secret: see
 * test-node/conformance.ts and test-node/secrecy.ts.
 */
export async function heard(
  { method, url, ...init }: Asked,
  answer: Promise<Response>,
): Promise<Response> {
  const response = await answer
  const said = {
    world: WORLD,
    asked: saidBy(init),
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
  if (flaw) throw new Error(flaw)
  return response
}

/** Asks the service in a world of the test's own making. */
export async function askIn(world: Env, request: Request, context = createExecutionContext()) {
  const { method, url, headers } = request
  const body = request.body && new TextDecoder().decode(await request.clone().arrayBuffer())
  return heard({ method, url, headers, body }, Promise.resolve(app.fetch(request, world, context)))
}
