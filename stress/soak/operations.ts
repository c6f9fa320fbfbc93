import openapi from '../../openapi.json' with { type: 'json' }

const METHODS = ['get', 'put', 'post', 'patch', 'delete']

/** Which operations of openapi.json were requested. */
export interface Operations {
  /** Records a request by method and path. */
  record: (request: string) => void
  count: number
  /** Returns the operations that were never requested. */
  unrequested: () => string[]
}

/** Starts with all operations of openapi.json, none of them requested. */
export function newOperations(): Operations {
  const all = Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => METHODS.includes(key))
      .map((method) => `${method.toUpperCase()} ${path}`),
  )
  const left = new Map(all.map((name) => [name, patternOf(name)]))
  return {
    record(request) {
      for (const [name, pattern] of left) if (pattern.test(request)) left.delete(name)
    },
    count: all.length,
    unrequested: () => [...left.keys()],
  }
}

const patternOf = (name: string) =>
  new RegExp(`^${name.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`)
