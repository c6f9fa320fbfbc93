import { readFileSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'

/** Values that wrangler writes into a bundle for the compatibility date of the service. */
const DEFINE = {
  'navigator.userAgent': '"Cloudflare-Workers"',
  'process.env.NODE_ENV': '"production"',
}

/**
 * Bundles the service as `wrangler deploy --minify` does, in a tenth of its time. `npm run check`
 * compares the two.
 */
export const buildOurs = (): Promise<string> =>
  bundle({ entryPoints: ['src/index.ts'], define: DEFINE })

/** Bundles a peer. `service`, if given, is the file behind its import of `tributary:service`. */
export const buildPeer = (path: string, service?: string): Promise<string> =>
  bundle({ entryPoints: [path], ...(service && { alias: { 'tributary:service': service } }) })

async function bundle(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    external: ['cloudflare:*', 'node:*'],
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
  })
  return outputFiles[0]!.text
}

/** The compatibility date of the service, which all Workers get. */
export const COMPATIBILITY_DATE = /^compatibility_date = "(.+)"$/m.exec(
  readFileSync('wrangler.toml', 'utf8'),
)![1]!
