import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'
import { minify } from 'terser'
import { collapseBundle } from './collapse-bundle.ts'
import { modulesOf, orderModules } from './order-modules.ts'

/** What wrangler tells esbuild about every Worker. */
export const WORKER_OPTIONS = {
  bundle: true,
  write: false,
  external: ['cloudflare:*', 'node:*'],
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  logLevel: 'error',
} as const satisfies BuildOptions

/**
 * What wrangler tells esbuild about the service, with the values that it writes into a bundle for the
 * service's compatibility date. `npm run check` compares a bundle of these options with wrangler's.
 */
export const SERVICE_OPTIONS = {
  ...WORKER_OPTIONS,
  define: {
    'navigator.userAgent': '"Cloudflare-Workers"',
    'process.env.NODE_ENV': '"production"',
  },
} as const satisfies BuildOptions

const ENTRY = './src/index.ts'

/** The folder of what is deployed. wrangler uploads every script in it. */
const FOLDER = 'dist/worker'

/** The options of terser: only those that keep the meaning of every program. */
const TERSER = { module: true, ecma: 2020, compress: { passes: 3 } } as const

/** The package of terser, which names its version. */
const MINIFIER = readFileSync('node_modules/terser/package.json', 'utf8')

/** Bundles by the digest of what was minified and how. Minifying takes ten seconds. */
const CACHE = 'dist/minified'

/** A script, and its source map as JSON. */
export interface Bundle {
  code: string
  map: string
}

/** Bundles the service as it is deployed: modules in order, SQL without line breaks, then minified. */
export async function bundleService(): Promise<Bundle> {
  const { code, map } = await bundleInOrder()
  return minifyOnce({ code: collapseBundle(code, 'src/db/'), map })
}

/** Writes the bundle and its source map for `wrangler deploy --no-bundle`. Returns the path of the script. */
export async function writeService(): Promise<string> {
  const { code, map } = await bundleService()
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(`${FOLDER}/index.js`, `${code}\n//# sourceMappingURL=index.js.map\n`)
  writeFileSync(`${FOLDER}/index.js.map`, map)
  return `${FOLDER}/index.js`
}

/** Bundles the service without renaming anything. esbuild replaces what terser cannot: constants in SQL. */
async function bundleInOrder(): Promise<Bundle> {
  const unordered = await build({ ...SERVICE_OPTIONS, entryPoints: [ENTRY], metafile: true })
  const order = orderModules(modulesOf(unordered.metafile, unordered.outputFiles[0]!.text))
  const { outputFiles } = await build({
    ...SERVICE_OPTIONS,
    stdin: {
      contents: [
        ...order.map((path) => `import './${path}'`),
        `export * from '${ENTRY}'`,
        `export { default } from '${ENTRY}'`,
      ].join('\n'),
      resolveDir: '.',
      sourcefile: 'modules-in-order.js',
    },
    minifySyntax: true,
    sourcemap: 'external',
    outfile: `${FOLDER}/index.js`,
  })
  const [map, script] = outputFiles
  return { code: script!.text, map: map!.text }
}

async function minifyOnce({ code, map }: Bundle): Promise<Bundle> {
  const digest = createHash('sha256').update(JSON.stringify([MINIFIER, TERSER, code, map]))
  const path = `${CACHE}/${digest.digest('hex')}.json`
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const small = await minify(code, { ...TERSER, sourceMap: { content: map } })
  const bundle = { code: small.code!, map: String(small.map) }
  mkdirSync(CACHE, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify(bundle))
  renameSync(unfinished, path)
  return bundle
}
