// Types of the Workers runtime for files that are compiled with Node's types:
// `@cloudflare/workers-types` and `@types/node` cannot both be global in one program.

type D1DatabaseSession = import('@cloudflare/workers-types').D1DatabaseSession
type D1Database = import('@cloudflare/workers-types').D1Database
type D1PreparedStatement = import('@cloudflare/workers-types').D1PreparedStatement
type D1Result<T = unknown> = import('@cloudflare/workers-types').D1Result<T>

declare const scheduler: { wait(ms: number, options?: { signal: AbortSignal }): Promise<void> }

interface Env {
  BASE_URL: string
  SIGNING_KEYS: string
  TRACKING_KEYS: string
  DB: D1Database
}

/** The extension of Web Crypto that workerd has and Node does not. */
declare module 'crypto' {
  namespace webcrypto {
    interface SubtleCrypto {
      timingSafeEqual(a: BufferSource, b: BufferSource): boolean
    }
  }
}
