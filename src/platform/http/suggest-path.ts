import { suggest } from '../validation/suggest.ts'

/**
 * Returns the route closest to a path that matches none, such as `/tracking/events/customers` for
 * `/tracking/events/customer`; null if none is close. Routes are patterns with parameters (`:id`),
 * which the result shows in braces. It never repeats a segment of the path that is not in a route.
 */
export function suggestPath(path: string, routes: readonly string[]): string | null {
  const segments = segmentsOf(path)
  const closest = routes.find((route) => {
    const patterns = segmentsOf(route)
    return (
      !route.includes('*') &&
      patterns.length === segments.length &&
      patterns.every((pattern, i) => segments[i] !== undefined && isClose(segments[i], pattern))
    )
  })
  return closest === undefined ? null : closest.replaceAll(/:(\w+)/g, '{$1}')
}

const segmentsOf = (path: string) => path.split('/').filter(Boolean)

const isClose = (segment: string, pattern: string) =>
  pattern.startsWith(':') ||
  segment === pattern ||
  suggest(toSingular(segment), [toSingular(pattern)]) !== null

/** Returns the singular of a resource name, because `activity` is three edits from `activities`. */
const toSingular = (name: string) => name.replace(/ies$/, 'y').replace(/s$/, '')
