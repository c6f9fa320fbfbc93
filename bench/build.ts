import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** Wrangler asks nobody anything, and reaches for nothing outside. */
const ENV = {
  ...process.env,
  CI: '1',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  NO_UPDATE_NOTIFIER: '1',
}

/** The service as it is deployed, in one file. */
export async function buildOurs(outdir: string): Promise<string> {
  const args = ['deploy', '--env=', '--dry-run', '--minify', '--outdir', outdir]
  await promisify(execFile)('node_modules/.bin/wrangler', args, { env: ENV })
  return readFileSync(`${outdir}/index.js`, 'utf8')
}

/** A peer, in one file; what it names as `tributary:service` is the built service, if it is said. */
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

/** The compatibility date that the service is deployed with; all Workers get the same. */
export const COMPATIBILITY_DATE = /^compatibility_date = "(.+)"$/m.exec(
  readFileSync('wrangler.toml', 'utf8'),
)![1]!
