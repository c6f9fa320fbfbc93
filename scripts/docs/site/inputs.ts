import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The files from which the site is built, and the code that builds it. */
const INPUTS = [
  'docs/**',
  'public/**',
  'schemas/**',
  'scripts/**',
  'src/**',
  'openapi.json',
  'package-lock.json',
]

/** Returns a digest of the paths and the contents of all files from which the site is built. */
export function inputsDigest(): string {
  const hash = createHash('sha256')
  const entries = globSync(INPUTS, { withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map(({ parentPath, name }) => relative('', join(parentPath, name))).sort()
  for (const path of paths) {
    const content = readFileSync(path)
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
