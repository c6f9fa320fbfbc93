import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

// The Worker as it is uploaded stays small: a cold start reads all of it.

const LIMIT_KIB = 100
const out = mkdtempSync(join(tmpdir(), 'tributary-'))
try {
  execFileSync(
    'node_modules/.bin/wrangler',
    ['deploy', '--dry-run', '--minify', '--env', 'production', '--outdir', out],
    { stdio: 'pipe', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
  const kib = gzipSync(readFileSync(join(out, 'index.js'))).byteLength / 1024
  console.log(`The bundle has ${kib.toFixed(1)} KiB gzip, of ${LIMIT_KIB}.`)
  if (kib > LIMIT_KIB) process.exitCode = 1
} finally {
  rmSync(out, { recursive: true })
}
