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
import { minify as compress, type JsMinifyOptions } from '@swc/core'
import { type BuildOptions, build, type OutputFile } from 'esbuild'
import { minify as rename } from 'oxc-minify'
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

/** The options of swc, which renames nothing: oxc chooses names that gzip compresses better. */
const SWC: JsMinifyOptions = {
  ...{ module: true, sourceMap: true, mangle: false },
  compress: { passes: 3, ecma: 2022, toplevel: true },
}

/** The options of oxc. */
const OXC = { module: true, sourcemap: true, compress: { target: WORKER_OPTIONS.target } } as const

/** What makes a bundle of the modules: these files, and the lock file, which names the minifiers' versions. */
const TOOLS = [...globSync('scripts/bundle/*.ts').sort(), 'package-lock.json']

/** The parameters among which the order of modules is chosen: the bundles differ by 2 KiB. */
const ORDERS = [60_000, 100_000].flatMap((window) =>
  [0.2, 0.24, 0.27, 0.3, 0.4].map((folderWeight) => ({ folderWeight, window })),
)

/** Bundles by the digest of what they were made of and how, which takes some seconds. */
const CACHE = 'dist/minified'

/** A script, and its source map as JSON. */
export interface Bundle {
  code: string
  map: string
}

/** A bundle that nothing renames, with its source map. esbuild puts constants into SQL. */
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
  const modules = modulesOf(metafile, unordered.code)
  const order = await bestOrder(ORDERS.map((one) => orderModules(modules, one)))
  const { outputFiles: ordered } = await build({ ...inOrder(order), ...MAPPED })
  const bundle = await minify(bundleOf(ordered))
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

/**
 * Returns the order of modules whose bundle gzip compresses best. esbuild minifies them, in a tenth of
 * the time that our minifiers take: the sizes differ, but not which is the smallest.
 */
async function bestOrder(orders: readonly string[][]): Promise<readonly string[]> {
  const sizes = await Promise.all(
    orders.map(async (order) => {
      const { outputFiles } = await build({ ...inOrder(order), minify: true })
      return gzipSync(outputFiles[0]!.contents).byteLength
    }),
  )
  return orders[sizes.indexOf(Math.min(...sizes))]!
}

/** Minifies a bundle, with a source map from the result to the sources. */
async function minify({ code, map }: Bundle): Promise<Bundle> {
  const compressed = await compress(collapseBundle(code, 'src/db/'), SWC)
  const renamed = await rename('index.js', compressed.code, OXC)
  const maps = [JSON.stringify(renamed.map), compressed.map!, map]
  return { code: renamed.code, map: String(remapping(maps, () => null)) }
}
