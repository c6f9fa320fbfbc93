import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as v from 'valibot'
import { buildOurs } from '../bench/build.ts'
import { customer } from '../src/trading/shared.ts'
import { parseCommand } from './command-line.ts'

/** The bound of the bundle: every cold start reads all of it. */
const LIMIT_KIB = 270

parseCommand(
  'node scripts/check-bundle.ts',
  `Exits with 1 if the Worker is larger than ${LIMIT_KIB} KiB, minified and compressed, if it has texts
that only the documentation needs, or if the bundle of the benchmarks differs from it.`,
)
const out = mkdtempSync(join(tmpdir(), 'tributary-'))
try {
  execFileSync(
    'node_modules/.bin/wrangler',
    ['deploy', '--dry-run', '--minify', '--env', 'production', '--outdir', out],
    { stdio: 'pipe', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
  const bundle = readFileSync(join(out, 'index.js'), 'utf8')
  const kib = gzipSync(bundle).byteLength / 1024
  console.log(`The bundle has ${kib.toFixed(1)} of ${LIMIT_KIB} KiB (gzip).`)
  if (kib > LIMIT_KIB) process.exitCode = 1
  const { description } = v.getMetadata(customer.customer_id as never)
  if (bundle.includes(String(description))) {
    console.error('The bundle has descriptions of fields: see src/validation/describe.ts.')
    process.exitCode = 1
  }
  if (bundle.replace(/\/\/# sourceMappingURL=.*\n$/, '') !== (await buildOurs())) {
    console.error(
      'bench/build.ts bundles the Worker differently from wrangler. Correct its options.',
    )
    process.exitCode = 1
  }
} finally {
  rmSync(out, { recursive: true })
}
