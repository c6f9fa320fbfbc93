import { setTimeout as wait } from 'node:timers/promises'

/** How often a request is sent at most, and the pause before it is sent again, in milliseconds. */
const ATTEMPTS = 5
const PAUSE_MS = 500

/**
 * Sends a request to the local service, and again if there is no answer or a status from 500 on: while a machine
 * is busy, workerd can lose a connection.
 */
export async function sendLocal(url: string | URL, init: RequestInit = {}): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(url, init)
      if (response.status < 500 || attempt === ATTEMPTS) return response
      await response.body?.cancel()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
    await wait(PAUSE_MS)
  }
}
