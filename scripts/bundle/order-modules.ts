import type { Metafile } from 'esbuild'

/** A file of a bundle. */
export interface Module {
  path: string
  /** The paths of the files that it imports. */
  imports: readonly string[]
  /** Its code before minification. */
  code: string
}

/** Returns the modules of a bundle that esbuild has not minified: it writes each path in a comment. */
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

/**
 * Returns the paths of modules, each after those that it imports and next to what it resembles: gzip
 * finds repetitions in the last 32 KiB only. Begins with the last module, and puts before it the one
 * that shares most with the modules already placed. `folderWeight` is what each folder in common with
 * its neighbour counts, beside the share of its text that they have. `window` is the number of characters
 * before minification among which gzip is assumed to find what it has seen.
 *
 * @throws Error if modules import each other in a circle.
 */
export function orderModules(
  modules: readonly Module[],
  { folderWeight, window }: { folderWeight: number; window: number },
): string[] {
  const numbers = new Map<string, number>()
  const left = new Map(
    modules.map((one) => [one.path, { ...one, pairs: wordPairs(one.code, numbers) }]),
  )
  const importers = new Map(modules.map(({ path }) => [path, 0]))
  const count = (path: string, by: number) => importers.set(path, (importers.get(path) ?? 0) + by)
  for (const { imports } of modules) for (const path of imports) count(path, 1)
  const placed: { path: string; code: string; pairs: number[] }[] = []
  while (left.size > 0) {
    const seen = pairsInWindow(placed, window, numbers.size)
    const last = placed[0]?.path ?? ''
    const [best] = [...left.values()]
      .filter(({ path }) => importers.get(path) === 0)
      .map((one) => ({
        one,
        score:
          one.pairs.filter((pair) => seen[pair]).length / (one.pairs.length || 1) +
          folderWeight * commonFolders(one.path, last),
      }))
      .sort((a, b) => b.score - a.score || (a.one.path < b.one.path ? -1 : 1))
    if (best === undefined) throw new Error(`Imports form a circle: ${[...left.keys()].join(', ')}`)
    placed.unshift(best.one)
    left.delete(best.one.path)
    for (const path of best.one.imports) count(path, -1)
  }
  return placed.map(({ path }) => path)
}

/**
 * Returns each two words that follow each other in a text, once: as the number that the pair has in
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

/** Returns whether the first modules, up to the size of the window, have each of `count` word pairs. */
function pairsInWindow(
  placed: readonly { code: string; pairs: number[] }[],
  window: number,
  count: number,
): Uint8Array {
  const seen = new Uint8Array(count)
  let size = 0
  for (const { code, pairs } of placed) {
    for (const pair of pairs) seen[pair] = 1
    size += code.length
    if (size >= window) break
  }
  return seen
}

/** Returns how many folders two paths have in common, from the root on. */
function commonFolders(a: string, b: string): number {
  const [folders, others] = [a.split('/').slice(0, -1), b.split('/').slice(0, -1)]
  const differs = folders.findIndex((name, index) => name !== others[index])
  return differs === -1 ? folders.length : differs
}
