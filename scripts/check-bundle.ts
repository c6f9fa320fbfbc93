import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as v from 'valibot'
import { customer } from '../src/trading/shared.ts'
import { bundleService, writeUpload } from './bundle.ts'
import { parseCommand } from './command-line.ts'

/** The largest size of the script. Cloudflare allows 3 MB, and every cold start reads all of it. */
const LIMIT_KIB = 1000

parseCommand(
  'node scripts/check-bundle.ts',
  `Exits with 1 if the script that is deployed is larger than ${LIMIT_KIB} KiB (gzip), if it contains texts
that only the documentation needs, or if it is not the script that the tests run.`,
)

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

const out = mkdtempSync(join(tmpdir(), 'tributary-'))
try {
  const script = writeUpload(out).replace(/\/\/# source.*\n$/, '')
  const kib = gzipSync(script).byteLength / 1024
  console.log(`The script has ${kib.toFixed(1)} of ${LIMIT_KIB} KiB (gzip).`)
  if (kib > LIMIT_KIB) process.exitCode = 1
  const { description } = v.getMetadata(customer.customer_id as never)
  if (script.includes(String(description)))
    fail('The script has descriptions of fields: see src/validation/fields.ts.')
  if (script !== (await bundleService()))
    fail('wrangler bundles the Worker differently. Correct the options in scripts/bundle.ts.')
} finally {
  rmSync(out, { recursive: true })
}
