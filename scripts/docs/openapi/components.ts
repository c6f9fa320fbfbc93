type Components = Readonly<Record<string, Readonly<Record<string, object>>>>

/** Returns the components to which a part of a document refers, directly or through others. */
export function referredTo<C extends Components>(all: C, part: object): C {
  const found = new Set<string>()
  const search = (value: unknown) => {
    const references = JSON.stringify(value).matchAll(/"#\/components\/([^/"]+)\/([^"]+)"/g)
    for (const [reference, kind = '', name = ''] of references) {
      if (found.has(reference)) continue
      found.add(reference)
      search(all[kind]?.[name] ?? null)
    }
  }
  search(part)
  const isUsed = (kind: string, name: string) => found.has(`"#/components/${kind}/${name}"`)
  return Object.fromEntries(
    Object.entries(all).map(([kind, components]) => [
      kind,
      Object.fromEntries(Object.entries(components).filter(([name]) => isUsed(kind, name))),
    ]),
  ) as C
}
