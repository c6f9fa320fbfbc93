import type { Metafile } from 'esbuild'

/** A file of a bundle. */
export interface Module {
  path: string
  /** The paths of the files that it imports. */
  imports: readonly string[]
  /** Its code before minification. */
  code: string
}

/**
 * Returns the modules of a bundle that is not minified. esbuild writes the path of each module in a
 * comment before its code.
 */
export function modulesOf({ inputs }: Metafile, code: string): Module[] {
  const [, ...sections] = code.split(/^\/\/ ((?:src|node_modules)\/\S+)$/m)
  const codes = new Map(
    sections.flatMap((path, index) => (index % 2 ? [] : [[path, sections[index + 1] ?? '']])),
  )
  return Object.entries(inputs).map(([path, { imports }]) => ({
    path,
    imports: [...new Set(imports.map((to) => to.path).filter((to) => to in inputs))],
    code: codes.get(path) ?? '',
  }))
}

/** Parameters of `orderModules`. */
export interface OrderParameters {
  /** What each folder that a module shares with its neighbour adds to its score. */
  folderWeight: number
  /** How many characters before minification are assumed to fit into gzip's window of 32 KiB. */
  windowLength: number
}

/**
 * Returns the paths of modules, each after the modules that it imports and next to modules that it
 * resembles: gzip replaces a repetition by a reference only if it is within the last 32 KiB.
 *
 * The order is built from its end. Of the modules whose importers are all placed, the one with the
 * highest score comes next: the share of its word pairs that occur in the window after it, plus
 * `folderWeight` for each folder that it shares with the module after it.
 *
 * @throws Error if modules import each other in a circle.
 */
export function orderModules(
  modules: readonly Module[],
  { folderWeight, windowLength }: OrderParameters,
): string[] {
  const numbers = new Map<string, number>()
  const left = new Map(
    modules.map((one) => [one.path, { ...one, pairs: wordPairs(one.code, numbers) }]),
  )
  /** How many modules that are not placed import each module. */
  const importers = new Map(modules.map(({ path }) => [path, 0]))
  const addImporters = (path: string, by: number) =>
    importers.set(path, (importers.get(path) ?? 0) + by)
  for (const { imports } of modules) for (const path of imports) addImporters(path, 1)
  const placed: { path: string; code: string; pairs: number[] }[] = []
  while (left.size > 0) {
    const isNearby = pairsInWindow(placed, windowLength, numbers.size)
    const neighbour = placed[0]?.path ?? ''
    const [best] = [...left.values()]
      .filter(({ path }) => importers.get(path) === 0)
      .map((module) => ({
        module,
        score:
          module.pairs.filter((pair) => isNearby[pair]).length / (module.pairs.length || 1) +
          folderWeight * commonFolders(module.path, neighbour),
      }))
      .sort((a, b) => b.score - a.score || (a.module.path < b.module.path ? -1 : 1))
    if (best === undefined) throw new Error(`Imports form a circle: ${[...left.keys()].join(', ')}`)
    placed.unshift(best.module)
    left.delete(best.module.path)
    for (const path of best.module.imports) addImporters(path, -1)
  }
  return placed.map(({ path }) => path)
}

/**
 * Returns the pairs of neighbouring words in a text, each once: as the number that the pair has in
 * `numbers`, which gets the new ones.
 */
function wordPairs(text: string, numbers: Map<string, number>): number[] {
  const words = text.match(/\w+/g) ?? []
  const pairs = new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`))
  return [...pairs].map((pair) => {
    const number = numbers.get(pair) ?? numbers.size
    numbers.set(pair, number)
    return number
  })
}

/** Returns for each of `count` word pairs whether the first modules, up to the one that fills the window, have it. */
function pairsInWindow(
  placed: readonly { code: string; pairs: number[] }[],
  windowLength: number,
  count: number,
): Uint8Array {
  const found = new Uint8Array(count)
  let length = 0
  for (const { code, pairs } of placed) {
    for (const pair of pairs) found[pair] = 1
    length += code.length
    if (length >= windowLength) break
  }
  return found
}

/** Returns how many folders two paths share, counted from the root. */
function commonFolders(a: string, b: string): number {
  const [folders, others] = [a.split('/').slice(0, -1), b.split('/').slice(0, -1)]
  const differs = folders.findIndex((name, index) => name !== others[index])
  return differs === -1 ? folders.length : differs
}
