import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { bundleService, WORKER_OPTIONS } from '../scripts/bundle.ts'

let ours: Promise<string> | undefined

/** Bundles the service as `npm run deploy` does, once for all parts of a program. */
export const buildOurs = (): Promise<string> => {
  ours ??= bundleService()
  return ours
}

/** Bundles a peer. `service`, if given, is the file behind its import of `tributary:service`. */
export async function buildPeer(path: string, service?: string): Promise<string> {
  const { outputFiles } = await build({
    ...WORKER_OPTIONS,
    entryPoints: [path],
    ...(service && { alias: { 'tributary:service': service } }),
  })
  return outputFiles[0]!.text
}

/** The compatibility date of the service, which all Workers get. */
export const COMPATIBILITY_DATE = /^compatibility_date = "(.+)"$/m.exec(
  readFileSync('wrangler.toml', 'utf8'),
)![1]!

/** The compatibility flags of the service. */
export const COMPATIBILITY_FLAGS: string[] = JSON.parse(
  /^compatibility_flags = (\[.+\])$/m.exec(readFileSync('wrangler.toml', 'utf8'))![1]!,
)
