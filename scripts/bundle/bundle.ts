import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type OutputFile } from 'esbuild'
import { minify } from 'terser'
import { collapseBundle } from './collapse-bundle.ts'
import { type Module, modulesOf, orderModules } from './order-modules.ts'

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
const TERSER = { module: true, ecma: 2020, compress: { passes: 3, lhs_constants: false } } as const

/** What makes a bundle of the modules: these files, and the package of terser, which names its version. */
const TOOLS = [...globSync('scripts/bundle/*.ts').sort(), 'node_modules/terser/package.json']

/** The weights of folders among which the order of modules is chosen. */
const FOLDER_WEIGHTS = [0.2, 0.25, 0.3, 0.35, 0.4]

/** Bundles by the digest of what they were made of and how, which takes fifteen seconds. */
const CACHE = 'dist/minified'

/** A script, and its source map as JSON. */
export interface Bundle {
  code: string
  map: string
}

/** A bundle that nothing renames, with its source map. esbuild puts constants into SQL, as terser cannot. */
const MAPPED = {
  minifySyntax: true,
  sourcemap: 'external',
  outfile: `${FOLDER}/index.js`,
} as const satisfies BuildOptions

/**
 * Bundles the service as it is deployed: with modules in an order that compresses well and SQL without
 * line breaks, minified.
 */
export async function bundleService(): Promise<Bundle> {
  const { metafile, outputFiles } = await build({
    ...SERVICE_OPTIONS,
    ...MAPPED,
    entryPoints: [ENTRY],
    metafile: true,
  })
  const unordered = bundleOf(outputFiles)
  const path = `${CACHE}/${digestOf(unordered)}.json`
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const order = await smallestOrder(modulesOf(metafile, unordered.code))
  const { code, map } = bundleOf((await build({ ...inOrder(order), ...MAPPED })).outputFiles)
  const small = await minify(collapseBundle(code, 'src/db/'), {
    ...TERSER,
    sourceMap: { content: map },
  })
  const bundle = { code: small.code!, map: String(small.map) }
  mkdirSync(CACHE, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify(bundle))
  renameSync(unfinished, path)
  return bundle
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

const bundleOf = ([map, script]: readonly OutputFile[]): Bundle => ({
  code: script!.text,
  map: map!.text,
})

const digestOf = ({ code, map }: Bundle): string => {
  const tools = TOOLS.map((path) => readFileSync(path, 'utf8'))
  return createHash('sha256')
    .update(JSON.stringify([tools, code, map]))
    .digest('hex')
}

/** Returns the options of a bundle whose modules stand in an order. */
const inOrder = (order: readonly string[]) =>
  ({
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
  }) as const satisfies BuildOptions

/** Returns the order of modules that gzip compresses best. */
async function smallestOrder(modules: readonly Module[]): Promise<string[]> {
  const orders = FOLDER_WEIGHTS.map((weight) => orderModules(modules, weight))
  const sizes = await Promise.all(
    orders.map(async (order) => {
      const { outputFiles } = await build({ ...inOrder(order), minify: true })
      return gzipSync(outputFiles[0]!.contents).byteLength
    }),
  )
  return orders[sizes.indexOf(Math.min(...sizes))]!
}
