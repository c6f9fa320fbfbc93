import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'

/** The file with the digest of the pages of which the pictures were taken. */
export const DIGEST_FILE = 'docs/console/pages.sha256'

/** What the pages of the console are made of. */
const SOURCES = ['src/console/**/*.{ts,tsx}', 'public/assets/console*.{css,js}']

/** Returns a digest of the sources of the pages: SHA-256 in hexadecimal. */
export function pagesDigest(): string {
  const hash = createHash('sha256')
  for (const path of globSync(SOURCES).toSorted()) {
    hash.update(`${path}\0`)
    hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}
