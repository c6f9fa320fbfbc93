import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** The variable with the path of the copy that `buildOnce` has built. */
export const BUILT_COPY = 'TRIBUTARY_BUILT_COPY'

/** Returns a text that the files of `npm test` make once: the first that needs it stores it in the copy of `buildOnce`. */
export async function madeOnce(name: string, make: () => Promise<string>): Promise<string> {
  const built = process.env[BUILT_COPY]
  if (!built) return make()
  const path = join(built, name)
  if (!existsSync(path)) {
    // Another file of tests must not read the half of it.
    writeFileSync(`${path}.${process.pid}`, await make())
    renameSync(`${path}.${process.pid}`, path)
  }
  return readFileSync(path, 'utf8')
}

/**
 * Writes a command of `scripts/` as one file into a folder, and returns its path. One file starts in a
 * tenth of the time, which counts where tests start a command a hundred times.
 */
export async function bundleCommand(name: string, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`)
  writeFileSync(outfile, await madeOnce(`${name}.mjs`, () => bundleOf(name)))
  return outfile
}

async function bundleOf(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, `../scripts/${name}.ts`)],
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { 'cloudflare:workers': join(import.meta.dirname, '../scripts/runtime.ts') },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  return outputFiles[0]!.text
}
