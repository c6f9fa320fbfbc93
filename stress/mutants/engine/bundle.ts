import { readFileSync } from 'node:fs'
import { build, type Plugin } from 'esbuild'

/** The tests of the engine that hunt mutants. It imports nothing but them. */
const ENTRY = 'stress/mutants/engine/entry.ts'

/** Bundles the tests of the engine with its instrumented source into one script. */
export async function bundleEngine(source: ReadonlyMap<string, string>): Promise<string> {
  const mutants: Plugin = {
    name: 'mutants',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => ({
        contents: source.get(path) ?? readFileSync(path, 'utf8'),
        loader: 'ts',
      }))
    },
  }
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'esnext',
    plugins: [mutants],
  })
  return outputFiles[0]!.text
}
