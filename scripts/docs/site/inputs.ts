import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The files from which the site is built, and the code that builds it, except modules of `src`. */
const INPUTS = [
  'docs/**',
  'examples/plans/**',
  'public/**',
  'schemas/**',
  'scripts/docs/**',
  'scripts/site.ts',
  'openapi.json',
  'package-lock.json',
]

/** The module that builds the site. Of `src`, only what it imports counts, a tenth of all. */
const ENTRY = 'scripts/docs/site/build.ts'

/** An import or export of another module of the repository, unless it is of types only. */
const IMPORT = /^(?:import|export)\b(?!\s+type\b)(?:[^'"=(]*\bfrom)?\s*'(\.[^']+)'/gm

/** Returns the paths of all files of a clone that make the site. */
export function inputFiles(root: string): string[] {
  const files = globSync(INPUTS, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
  const all = new Set(files)
  addModules(root, ENTRY, new Set(), all)
  return [...all].sort()
}

/** Adds a module and all modules that it imports. */
function addModules(root: string, path: string, visited: Set<string>, all: Set<string>): void {
  if (visited.has(path)) return
  visited.add(path)
  all.add(path)
  for (const [, specifier = ''] of readFileSync(join(root, path), 'utf8').matchAll(IMPORT))
    addModules(root, join(dirname(path), specifier), visited, all)
}

/** Returns a digest of the paths and the contents of these files. */
export function inputsDigest(root: string): string {
  const hash = createHash('sha256')
  for (const path of inputFiles(root)) {
    const content = readFileSync(join(root, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
