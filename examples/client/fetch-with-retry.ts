import { setTimeout as sleep } from 'node:timers/promises'

const MAX_RETRIES = 4

/**
 * Sends a request, and sends it again after `Retry-After` seconds while the answer is 429 or 503. A
 * record that is stored already answers `unchanged`, so repeating a request is safe.
 */
export async function fetchWithRetry(request: Request): Promise<Response> {
  for (let retry = 0; ; retry++) {
    const response = await fetch(request.clone())
    if (retry === MAX_RETRIES || (response.status !== 429 && response.status !== 503)) {
      return response
    }
    await sleep(1000 * Number(response.headers.get('Retry-After') ?? 1))
  }
}
