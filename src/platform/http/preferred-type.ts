import type { Context } from 'hono'

const WEIGHT = /;\s*q\s*=\s*"?([\d.]+)/i

/** The types of an `Accept` header with their weights, from 0 to 1. */
const parseAccept = (accept: string) =>
  accept.split(',').map((range) => ({
    type: range.split(';')[0]!.trim().toLowerCase(),
    weight: Math.min(Number(WEIGHT.exec(range)?.[1] ?? 1), 1),
  }))

/**
 * Returns which of `types` the `Accept` of a request prefers, by its weights (RFC 9110, 12.5.1). The
 * first is the default: any type (`*\/*`) is not a preference.
 */
export function preferredType<Type extends string>(
  c: Context,
  types: readonly [Type, ...Type[]],
): Type {
  const accepted = parseAccept(c.req.header('Accept') ?? '')
  const isNamed = (type: string) => accepted.some((range) => range.type === type)
  // A type that is named is not among those that `text/*` means.
  const accepts = (range: string, type: string) =>
    range === type || (range === type.replace(/\/.*/, '/*') && !isNamed(type))
  const ranges = accepted
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || Number(isWild(a.type)) - Number(isWild(b.type)))
  for (const { type } of ranges) {
    const found = types.find((one) => accepts(type, one))
    if (found) return found
  }
  return types[0]
}

const isWild = (type: string) => type.endsWith('/*')
