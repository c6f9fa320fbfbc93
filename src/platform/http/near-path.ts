import { suggest } from '../validation/suggest.ts'

/** A route as Hono lists it, whose parameters begin with a colon. */
export interface Route {
  readonly path: string
}

const isParameter = (part = ''): boolean => part.startsWith(':')

/**
 * Returns the path that a wrong path probably means: that of a route of which each part is the same, or as close as
 * the name of a field that is suggested. Null if there is none, or if it is the path itself. `fill` returns what stands
 * for a parameter; by default what was sent.
 */
export function nearPath(
  path: string,
  routes: readonly Route[],
  fill = (_name: string, sent: string) => sent,
): string | null {
  const sent = path.replace(/\/+$/, '').split('/')
  let near = routes.map((one) => one.path.split('/')).filter(({ length }) => length === sent.length)
  for (const [i, part] of sent.entries()) {
    const names = near.map((route) => route[i] ?? '').filter((name) => !isParameter(name))
    const name = names.includes(part) ? part : suggest(part, names)
    near = near.filter((route) => (name === null ? isParameter(route[i]) : route[i] === name))
  }
  const parts = near[0]?.map((name, i) => (isParameter(name) ? fill(name, sent[i] ?? '') : name))
  const found = parts?.join('/') ?? path
  return found === path ? null : found
}
