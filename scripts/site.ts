import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { inputsDigest } from './docs/site/inputs.ts'
import './openapi.ts'

// Builds the documentation site, unless it is built from the same files already. Wrangler and Vitest
// run this before the Worker needs the site.

/** The digest of the files from which the site in `dist/site` is built. */
const DIGEST = 'dist/site.digest'

const digest = inputsDigest('.')
const isCurrent =
  existsSync('dist/site/index.html') &&
  existsSync(DIGEST) &&
  readFileSync(DIGEST, 'utf8') === digest

if (!isCurrent) {
  // A build that fails may leave files of both builds.
  rmSync(DIGEST, { force: true })
  const { buildSite } = await import('./docs/site/build.ts')
  buildSite()
  writeFileSync(DIGEST, digest)
}
