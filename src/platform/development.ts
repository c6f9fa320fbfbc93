/** `BASE_URL` in wrangler.toml: port 0 means any port that `wrangler dev --port` chooses. */
const ANY_PORT = 'http://127.0.0.1:0'

/**
 * Returns the bindings with the origin of this request as `BASE_URL`, in development only. The request
 * decides the port, never the host; any other `BASE_URL` is returned as configured, because a forged
 * Host header must not choose the issuer of a token.
 */
export function withLocalPort(env: Env, url: string): Env {
  if (!isLocal(env)) return env
  return { ...env, BASE_URL: `http://127.0.0.1:${new URL(url).port || 80}` }
}

/**
 * Returns the address of the service for people who sign in with passkeys: those belong to a name of a host, and
 * `127.0.0.1` has none.
 */
export function passkeyOrigin({ BASE_URL }: Pick<Env, 'BASE_URL'>): URL {
  const url = new URL(BASE_URL)
  if (url.hostname === '127.0.0.1') url.hostname = 'localhost'
  return url
}

/** Returns whether the service runs on a developer's machine: a deployed `BASE_URL` is https. */
export const isDevelopment = ({ BASE_URL }: Pick<Env, 'BASE_URL'>) => !BASE_URL.startsWith('https:')

/** Returns whether `wrangler dev` runs the service: a deployed service has another `BASE_URL`. */
export const isLocal = ({ BASE_URL }: Env) => BASE_URL === ANY_PORT
