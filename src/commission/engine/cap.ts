import { add, compare, type Decimal, isPositive, least, subtract, sum } from './decimal.ts'
import type { Line } from './line.ts'

/**
 * Applies `max` to the lines of one rule id, which are in order. What exceeds it is cut from the last
 * lines backwards; each line keeps at least 0. The limit of the last version with lines applies.
 */
export function applyMax(lines: readonly Line[]): Line[] {
  const [first] = lines
  const latest = lines.reduce<Line | undefined>(
    (a, b) => (a && a.version.effectiveFrom >= b.version.effectiveFrom ? a : b),
    first,
  )
  const most = latest?.rule.max ?? null
  if (most === null) return [...lines]
  let excess = subtract(totalOf(lines), most)
  const capped = lines.toReversed().map((line) => {
    if (!isPositive(excess) || !isPositive(line.amount)) return line
    const cut = least(excess, line.amount)
    excess = subtract(excess, cut)
    return cutLine(line, cut)
  })
  return capped.reverse()
}

/** Takes an amount from a line. */
export const cutLine = (line: Line, cut: Decimal): Line => ({
  ...line,
  amount: subtract(line.amount, cut),
  capped: add(line.capped, cut),
})

/** Applies `max_per_customer` to one line. */
export function limitLine(line: Line, most: Decimal | null): Line {
  if (most === null || compare(line.amount, most) <= 0) return line
  return cutLine(line, subtract(line.amount, most))
}

/** Sums the amounts of lines. */
export const totalOf = (lines: readonly Line[]): Decimal => sum(lines.map(({ amount }) => amount))
