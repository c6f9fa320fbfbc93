import { join } from 'node:path'
import { buildSync } from 'esbuild'

/**
 * Writes a command of `scripts/` as one file into a folder, and returns its path. One file starts in a
 * tenth of the time, which counts where tests start a command a hundred times.
 */
export function bundleCommand(name: string, folder: string): string {
  const outfile = join(folder, `${name}.mjs`)
  buildSync({
    entryPoints: [join(import.meta.dirname, `../scripts/${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { 'cloudflare:workers': join(import.meta.dirname, '../scripts/runtime.ts') },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  return outfile
}
