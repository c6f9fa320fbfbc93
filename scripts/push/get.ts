import type { Authenticator } from './credentials.ts'
import type { Exchange } from './exchange.ts'
import { requestError } from './problem.ts'

/** How an address is read. */
interface Client {
  readonly authenticator: Authenticator
  readonly exchange: Exchange
}

/** Reads JSON from an address. Throws ExitError if it is refused. */
export async function readJson<T>(url: string, { authenticator, exchange }: Client): Promise<T> {
  const response = await exchange(url, { headers: await authenticator.headers() })
  if (response.status !== 200) throw requestError(authenticator.refusedMessage, response)
  return response.body as T
}
