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
import remapping from '@jridgewell/remapping'
import { type JsMinifyOptions, minify as simplify } from '@swc/core'
import { type BuildOptions, build, type OutputFile } from 'esbuild'
import { minify as rename } from 'oxc-minify'
import { collapseBundle } from './collapse-bundle.ts'
import { modulesOf, orderModules } from './order-modules.ts'

/** The options with which wrangler calls esbuild for every Worker. */
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
 * The options with which wrangler calls esbuild for the service. `define` has the values that wrangler
 * puts in for the service's compatibility date. `npm run check` builds the service with these options
 * and with wrangler, and fails if the two bundles differ.
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
const OUTPUT_FOLDER = 'dist/worker'

/**
 * esbuild joins the modules and puts constants into SQL. It keeps names, line breaks and the comments
 * with the paths of modules: `modulesOf` and `collapseBundle` read these comments.
 */
const UNMINIFIED_OPTIONS = {
  minifySyntax: true,
  sourcemap: 'external',
  outfile: `${OUTPUT_FOLDER}/index.js`,
} as const satisfies BuildOptions

/**
 * swc simplifies code best, and shortens the names of private members, which oxc leaves as they are. oxc
 * then renames everything else again, because gzip compresses its names better.
 */
const SWC_OPTIONS: JsMinifyOptions = {
  module: true,
  sourceMap: true,
  mangle: true,
  compress: { passes: 3, ecma: 2022, toplevel: true },
}

/** oxc minifies what swc has simplified, and shortens the names. */
const OXC_OPTIONS = {
  module: true,
  sourcemap: true,
  compress: { target: WORKER_OPTIONS.target },
} as const

/**
 * Parameters of `orderModules`, found by trial. None is best for every version of the code, so the
 * build tries each pair and takes the smallest bundle. The largest is 2 KiB larger.
 */
const ORDER_PARAMETERS = [90_000, 100_000, 120_000].flatMap((windowLength) =>
  [0.26, 0.28, 0.32, 0.34, 0.37].map((folderWeight) => ({ folderWeight, windowLength })),
)

/** Trying every order takes seconds, so bundles are cached in this folder, by `cacheKeyOf`. */
const CACHE_FOLDER = 'dist/minified'

/** The files that decide how a bundle is made. The lock file pins the versions of the minifiers. */
const BUILD_FILES = [...globSync('scripts/bundle/*.ts').sort(), 'package-lock.json']

/** A script, and its source map as JSON. */
export interface Bundle {
  code: string
  map: string
}

/**
 * Bundles the service as it is deployed. Every cold start reads the whole script, so these steps make
 * it smaller (gzip) than `wrangler deploy --minify` does:
 *
 * 1. esbuild joins the modules into one script, without minifying it.
 * 2. `orderModules` puts modules next to those that they resemble, because gzip finds repetitions only
 *    if they are close to each other. It does so with several parameters.
 * 3. esbuild joins the modules again in each order, and the order whose script is smallest is kept.
 * 4. `collapseBundle` takes white space out of SQL, which is in strings that no minifier changes.
 * 5. swc simplifies the code and shortens the names of private members; oxc shortens all other names.
 *
 * The source maps of all steps are joined, so the source map of the result leads to lines of `src`.
 */
export async function bundleService(): Promise<Bundle> {
  const { metafile, outputFiles } = await build({
    ...SERVICE_OPTIONS,
    ...UNMINIFIED_OPTIONS,
    entryPoints: [ENTRY],
    metafile: true,
  })
  const unordered = bundleOf(outputFiles)
  const path = `${CACHE_FOLDER}/${cacheKeyOf(unordered)}.json`
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const modules = modulesOf(metafile, unordered.code)
  const orders = ORDER_PARAMETERS.map((parameters) => orderModules(modules, parameters))
  const order = await bestOrder(orders)
  const { outputFiles: ordered } = await build({
    ...optionsForOrder(order),
    ...UNMINIFIED_OPTIONS,
  })
  const bundle = await minify(bundleOf(ordered))
  // Written under another name first: a process that runs at the same time must not read half a file.
  mkdirSync(CACHE_FOLDER, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify(bundle))
  renameSync(unfinished, path)
  return bundle
}

/**
 * Writes the bundle and its source map for `wrangler deploy --no-bundle`, and returns the path of the
 * script.
 */
export async function writeService(): Promise<string> {
  const { code, map } = await bundleService()
  rmSync(OUTPUT_FOLDER, { recursive: true, force: true })
  mkdirSync(OUTPUT_FOLDER, { recursive: true })
  writeFileSync(`${OUTPUT_FOLDER}/index.js`, `${code}\n//# sourceMappingURL=index.js.map\n`)
  writeFileSync(`${OUTPUT_FOLDER}/index.js.map`, map)
  return `${OUTPUT_FOLDER}/index.js`
}

/** Returns the two files of a build with `UNMINIFIED_OPTIONS`. */
function bundleOf(files: readonly OutputFile[]): Bundle {
  const map = files.find(({ path }) => path.endsWith('.map'))!
  const script = files.find(({ path }) => path.endsWith('.js'))!
  return { code: script.text, map: map.text }
}

/**
 * Returns a digest of all that decides what `bundleService` returns: the script before its modules are
 * put in order, its source map, which contains the sources, and the files of the build.
 */
function cacheKeyOf({ code, map }: Bundle): string {
  const buildFiles = BUILD_FILES.map((path) => readFileSync(path, 'utf8'))
  return createHash('sha256')
    .update(JSON.stringify([buildFiles, code, map]))
    .digest('hex')
}

/**
 * Returns options of a bundle whose modules stand in an order. esbuild writes modules in the order in
 * which they are first imported, so the entry imports each of them.
 */
const optionsForOrder = (order: readonly string[]) =>
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

/**
 * Returns the order of modules whose bundle is smallest after gzip. esbuild minifies them, in a tenth of
 * the time that our minifiers take: the sizes differ, but not which is the smallest.
 */
async function bestOrder(orders: readonly string[][]): Promise<readonly string[]> {
  const sizes = await Promise.all(
    orders.map(async (order) => {
      const { outputFiles } = await build({ ...optionsForOrder(order), minify: true })
      return gzipSync(outputFiles[0]!.contents).byteLength
    }),
  )
  return orders[sizes.indexOf(Math.min(...sizes))]!
}

/** Minifies a bundle. Its source map leads from the minified script to the sources. */
async function minify({ code, map }: Bundle): Promise<Bundle> {
  const simplified = await simplify(collapseBundle(code, 'src/db/'), SWC_OPTIONS)
  const renamed = await rename('index.js', simplified.code, OXC_OPTIONS)
  // `collapseBundle` needs no map: it leaves everything else at its line and column.
  const maps = [JSON.stringify(renamed.map), simplified.map!, map]
  return { code: renamed.code, map: String(remapping(maps, () => null)) }
}
