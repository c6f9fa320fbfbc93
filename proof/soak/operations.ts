import openapi from '../../openapi.json' with { type: 'json' }

const METHODS = ['get', 'put', 'post', 'patch', 'delete']

/** The operations of openapi.json that were asked, and those that never were. */
export interface Operations {
  /** Notes what was asked: a method and a path. */
  heard: (asked: string) => void
  count: number
  /** Those that nobody asked. */
  left: () => string[]
}

/** All operations of openapi.json, none of them asked yet. */
export function newOperations(): Operations {
  const all = Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => METHODS.includes(key))
      .map((method) => `${method.toUpperCase()} ${path}`),
  )
  const left = new Map(all.map((name) => [name, patternOf(name)]))
  return {
    heard(asked) {
      for (const [name, pattern] of left) if (pattern.test(asked)) left.delete(name)
    },
    count: all.length,
    left: () => [...left.keys()],
  }
}

const patternOf = (name: string) =>
  new RegExp(`^${name.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`)
