import { type BuildOptions, build } from 'esbuild'

/** The options with which wrangler calls esbuild for every Worker. */
export const WORKER_OPTIONS = {
  bundle: true,
  write: false,
  minify: true,
  external: ['cloudflare:*', 'node:*'],
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  logLevel: 'error',
} as const satisfies BuildOptions

/** The values that wrangler puts into a Worker of the service's compatibility date. */
const DEFINE = {
  'navigator.userAgent': '"Cloudflare-Workers"',
  'process.env.NODE_ENV': '"production"',
}

/**
 * Returns the script that `wrangler deploy --minify` uploads. Tests and benchmarks run it without
 * starting wrangler, which takes seconds; a test compares it with the script of wrangler.
 */
export async function bundleService(): Promise<string> {
  const options = { ...WORKER_OPTIONS, define: DEFINE, entryPoints: ['src/index.ts'] }
  const { outputFiles } = await build(options)
  return outputFiles[0]!.text
}
