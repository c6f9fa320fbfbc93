// Finds a test in the source of its file by its title, as it is written there: `%s` and all.

const CALL = /\b(?:test|it|describe)(?:\.\w+)*\s*[(.]/

/** Returns every place in a source where a title is the first argument of a call. */
function placesOf(source: string, title: string): number[] {
  const escaped = title.replaceAll("'", "\\'")
  const literals = [`'${title}'`, `"${title}"`, `\`${title}\``, `'${escaped}'`]
  const places = literals.flatMap((literal) => {
    const found: number[] = []
    for (let at = source.indexOf(literal); at >= 0; at = source.indexOf(literal, at + 1))
      if (isTitle(source, at)) found.push(at)
    return found
  })
  return [...new Set(places)].sort((one, other) => one - other)
}

const lineAt = (source: string, at: number) =>
  source.slice(source.lastIndexOf('\n', at) + 1, source.indexOf('\n', at))

/** Whether a literal is the first argument of a call, outside comments. */
function isTitle(source: string, at: number): boolean {
  const line = lineAt(source, at).trim()
  if (line.startsWith('//') || line.startsWith('*')) return false
  return /\($|\(\s*$/.test(source.slice(0, at).trimEnd())
}

/**
 * Returns the place of a test, by its title and those of the groups around it; null if there is none,
 * `ambiguous` if there are several.
 */
export function findTest(source: string, titles: string[]): number | 'ambiguous' | null {
  const [group, title] = titles.length > 1 ? titles.slice(-2) : [undefined, titles[0]!]
  const places = placesOf(source, title!).filter(
    (at) => !group || groupsAround(source, at).some((own) => own.includes(group)),
  )
  if (places.length === 0) return null
  return places.length > 1 ? 'ambiguous' : places[0]!
}

/** Returns the `describe` calls around a place, which Biome indents less than what is in them. */
function groupsAround(source: string, at: number): string[] {
  const lines = source.slice(0, at).split('\n')
  let indent = startOfCall(source, at).indent
  const groups: string[] = []
  for (const [i, line] of [...lines.entries()].reverse()) {
    const own = line.search(/\S/)
    if (own < 0 || own >= indent || !/^\s*(describe\b|\]\)?.*\)\(|\)\()/.test(line)) continue
    const start = startOfCall(
      source,
      lines.slice(0, i).join('\n').length + own + 1 + 'describe'.length,
    )
    if (!start.text.startsWith('describe')) continue
    indent = own
    groups.push(start.text)
  }
  return groups
}

/** Returns the call of `test` or `describe` around a place, up to the function that it runs. */
function startOfCall(source: string, at: number): { text: string; indent: number } {
  const before = [...source.slice(0, at).matchAll(/^( *)(?:test|it|describe)\b/gm)].at(-1)
  const from = before ? before.index + before[1]!.length : 0
  const to = source.indexOf('=>', at)
  return { text: source.slice(from, to < 0 ? at + 200 : to), indent: before?.[1]?.length ?? 0 }
}

const SKIPS = /\.(?:skip|skipIf|runIf|only|todo|fails)\b|[{,]\s*(?:skip|todo|only)\b/

/** Whether a test, or a group around it, may be skipped or leaves out others. */
export function isSkippable(source: string, at: number): boolean {
  const own = startOfCall(source, at).text
  return [own, ...groupsAround(source, at)].some((call) => CALL.test(call) && SKIPS.test(call))
}
