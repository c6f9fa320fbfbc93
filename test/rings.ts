/**
 * Returns the rings of an import graph: groups of files of which each leads back to itself. Each ring
 * and the list are sorted.
 */
export function findRings(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reachable = new Map([...graph.keys()].map((file) => [file, reachableFrom(graph, file)]))
  const isMutual = (a: string, b: string) =>
    (reachable.get(a)?.has(b) ?? false) && (reachable.get(b)?.has(a) ?? false)
  const rings: string[][] = []
  for (const file of [...graph.keys()].sort()) {
    if (!isMutual(file, file) || rings.some((ring) => ring.includes(file))) continue
    rings.push([...graph.keys()].filter((other) => isMutual(file, other)).sort())
  }
  return rings
}

/** Returns the files that a file imports, and those that they import, and so on. */
function reachableFrom(graph: ReadonlyMap<string, readonly string[]>, start: string): Set<string> {
  const found = new Set<string>()
  const waiting = [...(graph.get(start) ?? [])]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue
    found.add(file)
    waiting.push(...(graph.get(file) ?? []))
  }
  return found
}
