import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The files from which the site is built, and the code that builds it. */
const INPUTS = [
  'docs/**',
  'examples/plans/**',
  'public/**',
  'schemas/**',
  'scripts/**',
  'src/**',
  'openapi.json',
  'package-lock.json',
]

/** Returns a digest of the paths and the contents of all files of a clone that make the site. */
export function inputsDigest(root: string): string {
  const hash = createHash('sha256')
  const files = globSync(INPUTS, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  for (const file of files.sort()) {
    const content = readFileSync(file)
    hash.update(`${relative(root, file)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
