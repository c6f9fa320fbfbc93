import type { Difference, PlanBooks } from './books.ts'
import {
  add,
  amountAt,
  type Decimal,
  greatest,
  isPositive,
  isZero,
  least,
  negate,
  subtract,
  ZERO,
} from './decimal.ts'
import { compareText } from './facts.ts'

// Under `negative: "zero"` a statement drops a negative balance (opening + total). A later correction
// first restores what was dropped (§16.3). A correction that raises the total of a period restores what
// that period dropped. A correction that takes back an earlier one restores what the statement with the
// earlier one dropped.

/** What statements dropped and is not restored yet, and what the corrections of each period restored. */
interface Pools {
  readonly left: Map<string, Decimal>
  /** By corrected period, then by the period of the statement that dropped. */
  readonly restored: Map<string, Map<string, Decimal>>
}

/** Returns corrections with the entries that restore what was dropped. */
export function withRestoring(books: PlanBooks, differences: readonly Difference[]): Difference[] {
  const byPeriod = Map.groupBy(differences, ({ period }) => period)
  const pools = openPools(books)
  const periods = [...byPeriod].sort(([a], [b]) => compareText(a, b))
  const entries = periods.flatMap(([period, ofPeriod]) => {
    const moved = ofPeriod.reduce((sum, one) => add(sum, one.amount), ZERO)
    return restoringOf(books, pools, period, moved)
  })
  return [...differences, ...entries]
}

function openPools({ statements, restored }: PlanBooks): Pools {
  const left = new Map([...statements].map(([period, { dropped }]) => [period, negate(dropped)]))
  for (const ofPeriod of restored.values()) {
    for (const [from, amount] of ofPeriod) {
      left.set(from, subtract(amountAt(left, from), amount))
    }
  }
  const copied = [...restored].map(([period, from]) => [period, new Map(from)] as const)
  return { left, restored: new Map(copied) }
}

/** Returns the entries for the corrections of one period; `moved` is their sum. */
function restoringOf(books: PlanBooks, pools: Pools, period: string, moved: Decimal): Difference[] {
  const before = amountAt(books.corrected, period)
  const after = add(before, moved)
  const gained = greatest(after, ZERO)
  const own = restoredFrom(pools, period, period)
  const most = add(own, greatest(amountAt(pools.left, period), ZERO))
  const entries = [restoringEntry(pools, period, period, subtract(least(gained, most), own))]
  const returned = subtract(least(after, ZERO), least(before, ZERO))
  const statements = [...books.corrections]
    .flatMap(([from, nets]) => (from === period ? [] : [[from, amountAt(nets, period)] as const]))
    .sort(([a], [b]) => compareText(a, b))
  let rest = isPositive(returned) ? returned : ZERO
  for (const [from, net] of statements) {
    const charged = subtract(negate(least(net, ZERO)), restoredFrom(pools, period, from))
    const available = greatest(least(charged, amountAt(pools.left, from)), ZERO)
    const amount = least(rest, available)
    entries.push(restoringEntry(pools, period, from, amount))
    rest = subtract(rest, amount)
  }
  // If the correction is made again, reverse the entries of its undoing.
  rest = isPositive(returned) ? ZERO : negate(returned)
  for (const [from] of statements.toReversed()) {
    const amount = least(rest, restoredFrom(pools, period, from))
    entries.push(restoringEntry(pools, period, from, negate(amount)))
    rest = subtract(rest, amount)
  }
  return entries.filter(({ amount }) => !isZero(amount))
}

const restoredFrom = ({ restored }: Pools, period: string, from: string): Decimal =>
  restored.get(period)?.get(from) ?? ZERO

/** Takes an amount from what a statement dropped (a negative one gives back), and returns the entry. */
function restoringEntry(pools: Pools, period: string, from: string, amount: Decimal): Difference {
  const ofPeriod = pools.restored.get(period) ?? new Map<string, Decimal>()
  pools.restored.set(period, ofPeriod)
  ofPeriod.set(from, add(amountAt(ofPeriod, from), amount))
  pools.left.set(from, subtract(amountAt(pools.left, from), amount))
  return { period, line: null, droppedIn: from, amount: negate(amount) }
}
