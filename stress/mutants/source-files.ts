import { globSync } from 'node:fs'

/** Files without decisions: a script writes them, or they hold data. */
const LEFT_OUT = [
  'src/db/schema.ts',
  'src/db/drizzle-tables.ts',
  'src/validation/iso-4217.ts',
  'src/validation/iso-3166.ts',
  'src/docs/**',
]

/** Returns the source files that have mutants. */
export function sourceFiles(): string[] {
  const leftOut = new Set(LEFT_OUT.flatMap((pattern) => globSync(pattern)))
  return globSync('src/**/*.ts')
    .filter((file) => !leftOut.has(file))
    .sort()
}

/** Returns the folder of a source file within `src`; `src` for a file that is in none. */
export const folderOf = (file: string) => file.split('/').slice(1, -1).join('/') || 'src'
