import { createExecutionContext } from 'cloudflare:test'
import { app } from '../src/app.ts'
import { reportResponse } from './secrecy.ts'

/** A request before it is sent. */
interface RequestParts extends Pick<RequestInit, 'headers' | 'body'> {
  method: string
  url: string
}

/**
 * Returns a response and reports it. The end of the test checks that openapi.json describes it and that
 * it repeats no secret: see test-node/conformance.ts and test-node/secrecy.ts.
 */
export async function checkResponse(
  { method, url, ...init }: RequestParts,
  answer: Promise<Response>,
): Promise<Response> {
  const response = await answer
  // The runtime runs timers only while it waits, and a test may send requests until a timer ends.
  await scheduler.wait(0)
  await reportResponse(init, {
    method,
    path: new URL(url).pathname,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: response.body ? await response.clone().text() : '',
  })
  return response
}

/** Sends a request to the service with an environment that the test provides. */
export async function fetchWith(world: Env, request: Request, context = createExecutionContext()) {
  const { method, url, headers } = request
  const body = request.body && new TextDecoder().decode(await request.clone().arrayBuffer())
  return checkResponse(
    { method, url, headers, body },
    Promise.resolve(app.fetch(request, world, context)),
  )
}
