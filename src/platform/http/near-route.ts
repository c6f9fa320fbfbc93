import { suggest } from '../validation/suggest.ts'

/** A route as Hono lists it, whose parameters begin with a colon. */
export interface Route {
  readonly path: string
}

const isParameter = (part: string | undefined): boolean => part?.startsWith(':') ?? false

/** Returns the parts of the route that a path is closest to; null if a part of it is close to none. */
function nearParts(path: string, routes: readonly Route[]): readonly string[] | null {
  const sent = path.replace(/\/+$/, '').split('/')
  const all = routes.map((one) => one.path.split('/'))
  const near = sent.reduce(
    (left, part, i) => {
      const names = left.map((route) => route[i] ?? '').filter((name) => !isParameter(name))
      const name = names.includes(part) ? part : suggest(part, names)
      return left.filter((route) => (name === null ? isParameter(route[i]) : route[i] === name))
    },
    all.filter(({ length }) => length === sent.length),
  )
  return near[0] ?? null
}

/** Returns the route that a wrong path probably means, as OpenAPI writes it; null if there is none. */
export const nearRoute = (path: string, routes: readonly Route[]): string | null =>
  nearParts(path, routes)
    ?.join('/')
    .replace(/:(\w+)/g, '{$1}') ?? null

/** Returns the path that a wrong path probably means; null if there is none, or if a route has it already. */
export function nearPath(path: string, routes: readonly Route[]): string | null {
  const sent = path.split('/')
  const parts = nearParts(path, routes)
  const near = parts?.map((part, i) => (isParameter(part) ? sent[i] : part)).join('/') ?? path
  return near === path ? null : near
}
