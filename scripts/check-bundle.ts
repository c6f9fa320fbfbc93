import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import * as v from 'valibot'
import { customer } from '../src/trading/shared.ts'
import { SERVICE_OPTIONS, writeService } from './bundle/bundle.ts'
import { parseCommand } from './command-line.ts'

/** The largest size of the bundle, because every cold start reads all of it. */
const LIMIT_KIB = 1000

parseCommand(
  'node scripts/check-bundle.ts',
  `Exits with 1 if the bundled Worker is larger than ${LIMIT_KIB} KiB (gzip), if it contains texts that only
the documentation needs, or if wrangler would bundle it with other options.`,
)

/** Deploys without uploading, and returns the script that wrangler would upload. */
function scriptToUpload(folder: string, ...args: string[]): string {
  execFileSync(
    'node_modules/.bin/wrangler',
    ['deploy', ...args, '--dry-run', '--env', 'production', '--outdir', folder],
    { stdio: 'pipe', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
  return readFileSync(join(folder, 'index.js'), 'utf8').replace(/\/\/# sourceMappingURL=.*\n$/, '')
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

const out = mkdtempSync(join(tmpdir(), 'tributary-'))
try {
  const path = await writeService()
  const bundle = scriptToUpload(join(out, 'deployed'), path, '--no-bundle')
  const kib = gzipSync(bundle).byteLength / 1024
  console.log(`The bundle has ${kib.toFixed(1)} of ${LIMIT_KIB} KiB (gzip).`)
  if (kib > LIMIT_KIB) process.exitCode = 1
  const { description } = v.getMetadata(customer.customer_id as never)
  if (bundle.includes(String(description)))
    fail('The bundle has descriptions of fields: see src/validation/describe.ts.')
  const { outputFiles } = await build({
    ...SERVICE_OPTIONS,
    entryPoints: ['src/index.ts'],
    minify: true,
  })
  if (scriptToUpload(join(out, 'wrangler'), '--minify') !== outputFiles[0]?.text)
    fail(
      'wrangler bundles the Worker differently. Correct the options in scripts/bundle/bundle.ts.',
    )
} finally {
  rmSync(out, { recursive: true })
}
