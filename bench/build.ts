import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** Wrangler neither prompts nor uses the network. */
const ENV = {
  ...process.env,
  CI: '1',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  NO_UPDATE_NOTIFIER: '1',
}

/** The bundled service, as it is deployed. */
export async function buildOurs(outdir: string): Promise<string> {
  const args = ['deploy', '--env=', '--dry-run', '--minify', '--outdir', outdir]
  await promisify(execFile)('node_modules/.bin/wrangler', args, { env: ENV })
  return readFileSync(`${outdir}/index.js`, 'utf8')
}

/** Bundles a peer. `service`, if given, is the file behind its import of `tributary:service`. */
export async function buildPeer(path: string, service?: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    external: ['cloudflare:*', 'node:*'],
    ...(service && { alias: { 'tributary:service': service } }),
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
